"""The claim of a response about each mention of an option: chosen, favoured, denied, or none.

A claim has a rank, by how clearly it commits the response. Only the text close to a mention is
read (`_LEFT` characters before it, `_RIGHT` after it), so reading is linear in the mentions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from keju.scoring.letter_mentions import Mention
from keju.scoring.wordings import fold
from keju.text import HAN_RUN

_LEFT, _RIGHT = 90, 160
_SENTENCE_BEFORE = re.compile(
    r"[。.!?][ \t(\"“「]*(?:(?:option|choice|选项|most likely|probably|likely"
    r"|hence|so|therefore|i think|dating:)[,:]?\s?)?(?:the\s)?\Z",
    re.IGNORECASE,
)
_TEXT_END = re.compile(
    r"[\s)\"”」]*(?:,? (?:i think|i believe|most likely|probably))?(?:[。!]|\.(?=\s|\Z)|\n|\Z)",
    re.IGNORECASE,
)
_LIST_GAP, _SEVERAL = 4, 2
_EXPLAINED = re.compile(r"\s?[:,(—]")
_GAP = re.compile(r"[\s,;、|。-]*\Z")


class Rank(IntEnum):
    """How clearly a mention commits the response to an option."""

    DENIED = -1
    IGNORED = 0
    NAMED = 1
    STATED = 2
    FAVOURED = 3
    CHOSEN = 4
    ANSWER = 5
    FINAL = 6


class Claim(NamedTuple):
    """A mention with what is said of it, and the rule that shows it."""

    mention: Mention
    rank: Rank
    rule: str

    @property
    def letter(self) -> str | None:
        """The one letter that is claimed; None for several, or one with another option's text."""
        if self.mention.clash or len(self.mention.letters) != 1:
            return None
        return next(iter(self.mention.letters))


_OPENERS = r"[\s\"'“”‘’「『(\[【《<:{*|→>=—–-]{0,10}"
_NOUN = r"(?:选项|選項|答案|option\b|choice\b|answer\b|the\b|letter\b)?"
_AUX = (
    r"(?:应该|應該|应当|應當|应|應|该|該|可能|会|會|能够|能|可以|可|要|宜|太|太可能|大可能|一定|必|需"
    r"|适合|適合|建议|建議|推荐|考虑|考慮)"
)
_VERB = (
    r"(?:选择|選擇|选取|选|選|是|为|為|填|考虑|考慮|支持|属于|屬於|成立|认为是|認為是|认同|指|取"
    r"|出自|作)"
)
_ZH_BEFORE = re.compile(
    r"(?:"
    rf"(?:(?<![要差毫分特莫])(?<!无一)[不勿莫别別]|并非|並非|而非|绝非|決非|决非|并不|並不|绝不|从未|未必|难以|无法|無法|没有|不见得"
    rf"|谈不上){_AUX}{{0,3}}{_VERB}{{1,2}}"
    r"|(?<!除)并非|並非|而非|绝非|决非|(?<![是除])非|不等于|有别于|不同于|不选择?"
    r"|排除(?:掉|了|选项|選項)?|排[除斥]|剔除|淘汰|划掉|去掉|否定|否决|放弃|误选|誤選|错选|錯選|除了?|除去|除开"
    r"|(?:错误|錯誤|不正确|不正確|不对|不符合?|不合适|不恰当|无关|干扰)(?:的(?:选项|選項|答案|项)?|选项|選項|答案|项|:)(?:是|为|為|有|:)?"
    r")[\s(\"“'「《:]{0,3}(?:选项|選項|答案|是|为|為|出自)?[\s(\"“'「《:]{0,3}\Z"
)
_EN_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|except(?: for)?|exclud\w+|eliminat\w+|rul(?:e|ed"
    r"|ing)s?\sout|rejects?|rejecting|rejected"
    r"|discard\w*|dismiss\w*|rather\sthan|instead\sof|other\sthan|unlike|isn['’]?t|wasn['’]?t"
    r"|aren['’]?t|don['’]?t|can['’]?t|won['’]?t|wouldn['’]?t|shouldn['’]?t|couldn['’]?t"
    r"|doesn['’]?t"
    r"|(?:incorrect|wrong|false)\s(?:option|choice|answer)s?)\b)"
    r"(?:\s{1,2}(?:be|been|choose|pick|select|chosen|option|choice|answer|is|are|was|the|a"
    r"|possibly|necessarily|likely|really|think|believe|it|it['’]s|that|from|by|to|out|for|go"
    r"|with|correct))"
    r"{0,5}[\s(\"“':]{0,3}\Z",
    re.IGNORECASE,
)
_DOUBLE_NEGATION = re.compile(r"(?:不得不|不能不|只能|无不)(?:选择|選擇|选|選|是)?\s{0,2}\Z")
_NON_B = re.compile(r"\s{0,2}(?:莫属|莫屬|不可)")
_IGNORED_BEFORE = re.compile(
    r"(?:(?:如果|假如|若|倘若|要是)[^。;\n]{0,24},(?:那么?|则|就|便)+[^,。;\n]{0,8}?(?:就)?(?:应该?|可能)?(?:是|为|選|选)"
    r"|(?:如果|假如|假设|若|倘若|要是|否则|不然|既然有)[^,。;\n]{0,12}|是否(?:应该|应)?(?:选|選|是|为)?|是不是|到底是|究竟是|还是选?"
    r"|(?:有人|人们|有些人|一些人|很多人|许多人|不少人|大家|常有人|某些|传统上?|旧说|有的?学者|初看|乍看|乍一看|起初|原本|容易|一开始"
    r"|可能有人|或谓|或曰|(?:或|有|遂有)以为)[^。;\n!?]{0,16}"
    r"|(?:最初|起初|原先|先前|之前|原来|刚才)[^。;\n,]{0,10}"
    r"|\bmy\s(?:first|initial|earlier|previous|original)\s[a-z]+[^,.;\n]{0,12}"
    r"|\bif\b(?!\s(?:i|we)\s(?:had|have|were|must)\b)[^.;\n]{3,60},\s(?:then\s)?"
    r"(?:(?:the answer|it)\s(?:would|could|might)\sbe\s?)?"
    r"|也有?可能(?:是|为|选)?|或许也|另一(?:个|种)可能(?:是|为)?|可能会误|其次(?:是|为|考虑)?|次优(?:是|为)?"
    r"|\b(?:if|otherwise|whether|suppose|assuming|were it|unless)\b[^,.;\n]{0,24}|\b(?:some|many"
    r"|others|most people|one|people|students)\s(?:people\s|scholars\s|students\s)?(?:may|might"
    r"|could|would|will|say|think|believe|choose|argue)\b[^.;\n]{0,24}"
    r"|\b(?:tempt\w+|or maybe|or possibly|or perhaps|could also be|might also be"
    r"|might be mistaken for|second choice(?: is)?|runner-up(?: is)?"
    r"|at first(?: glance)?[^.;\n]{0,30}|initially[^.;\n]{0,30}|between|among|compared (?:with"
    r"|to)|similar to|vs\.?|versus|than)"
    r"|(?:比起?|相比|相较于|较之|从|從|在|介于|类似于?|似)|\b(?:grade|vitamin|plan|type|figure|fig\.?|part|section"
    r"|step|exhibit|table|image|level|group|class|category|point|appendix|side|panel)"
    r")[\s(\"“':《「]{0,3}(?:选项|選項|option\s)?\Z",
    re.IGNORECASE,
)
_IGNORED_AFTER = re.compile(
    r"\)\s{0,2}(?::|是)|[\s)\"”'」》]{0,3}(?:选项|項|项)?\s{0,2}(?:[?？]|吗|嗎|呢\?|还是|還是|相比(?!之下)|比较(?![合好恰符接准贴稳可吻一正对像])|比起|之间|之間|之中"
    r"|中(?:选|選|,|的(?=[一哪某]))|里选"
    r"|(?:is|as)\s(?:tempting|possible too)|也(?:有)?(?:一定)?可能)"
)
_WALK_BEFORE = re.compile(
    r"(?:先看|来看|再看|看看|看|分析|考虑|考察|比较|首先(?:是|看)?|其次(?:是|看)?|然后(?:是|看)?|再次|接着|最后(?:是|看)?|至于|对于|关于|针对"
    r"|检查|逐一|对照|说到"
    r"|\b(?:consider|considering|examine|regarding|look(?:ing)? at|check(?:ing)?|as for|for"
    r"|evaluate|analy[sz]e|first|second|third|finally|next|then|now|lastly"
    r"|start(?:ing)? with)),?\s{0,2}(?:选项|選項|option\s)?[\s(\"“'「《:]{0,3}\Z",
    re.IGNORECASE,
)
_WALK_AFTER = re.compile(
    r"[\s)]{0,2}(?:选项|選項|项|項)?\s{0,2}(?::|是|为|指|讲|写|的意思|说的|提到|mentions|refers|means|describes)"
)

_DEGREE = (
    r"(?:完全|明显|明顯|显然|顯然|都|均|皆|也|全|是|则|則|就|最|更|较|比较|更为|更加|很|非常|十分|确实|應|应|可能|才|就是|的说法|的描述|项|項|选项"
    r"|選項|这个|答案)"
)
_NEGATIVE = (
    r"(?:不太?(?:正确|正確|对|對|符合?|成立|合适|合適|合|准确|準確|恰当|可能|匹配|相符|吻合|一致|行|妥|适用|适合|可取|可选|相关|贴切|能选|应选|该选|可选"
    r"|选|選|予|会(?:是|有|出现|使用)|在|够|是)"
    r"|错误|錯誤|有误|有誤|错|錯(?!综)|误(?!解为)|(?:可以|可|应|應|应该|应当|能|需|首先|直接)?(?:被)?排除|可排除|与文意不|无关|無關|不选|矛盾|相悖"
    r"|对不上|说不通|合不上|不搭|不沾边|挨不上"
    r"|不[像似]|(?<=[:：—–-])\s?(?:无(?![误疑])|没有|不是|否|no\b)|\b(?:do|did|can) ?not see\b"
    r"|太绝对|过于绝对|以偏概全|张冠李戴|说反了?|不足|没有(?:依据|根据|体现|提到|出现)|未(?:提及|提到|见|出现|体现)|偏离|干扰项|非本题"
    r"|\|\s?(?:no|否)\b|✗|✘|❌|❎|×|✖|☒|\bfalse\b|\b(?:incorrect|wrong|inaccurate|irrelevant"
    r"|unlikely|impossible|implausible|excluded|eliminated|ruled\sout|discarded|rejected"
    r"|unrelated|mismatch)\b"
    r"|\b(?:is|are|was|were|does|do|did|can|could|would|has|have)(?:n['’]?t|\snot|not)\b"
    r"(?:\s(?:really|quite|seem to|appear to|at all))?"
    r"(?:\s(?:fit|match|correct|right|best|accurate|appropriate|consistent)\b)?"
    r"|\btoo\s(?:early|late|small|large|simple|plain|modern)\b|\bdiffers?\b"
    r"|\bless\s(?:likely|suitable|fitting)\b"
    r"|\bcannot\b|\bdoesn['’]t|\bno\s(?:match|evidence|mention)|\bis\sout\b|\bfails?\b"
    r"|\bnot\s(?:fit|match|correct|right|the|a|supported|consistent|likely)\b)"
)
_POSITIVE = (
    r"(?:正确|正確|(?<![不反应])对(?![不应于照比面称立角望联话着象岸坐弈饮待])|符合|成立|合适|合適|准确|準確|恰当|匹配|相符|吻合|契合|(?<=[:：—–-])\s?(?:有(?![误])|yes\b|是(?=[,。;]))|为是(?=[。,;]|$)|可能性(?:最|更|较|很)?(?:大|高|在)|最佳|better\s(?:answer|choice|option|fit|match)|贴切|最优|当选|入选|应选|即为所求|合理|可取|无误|為佳|为佳|一致"
    r"|\|\s?(?:yes|是)\b|✓|✔|✅|☑|√|⭕|🟢|\btrue\b|\b(?:correct|right|best|fits?|match(?:es)?"
    r"|accurate|appropriate|most\slikely|consistent)\b)"
)
_NEG_RIGHT = re.compile(_NEGATIVE, re.IGNORECASE)
_POS_RIGHT = re.compile(_POSITIVE, re.IGNORECASE)
_ADJACENT = re.compile(
    rf"[\s)\]\"”'」》,:|(（=-]{{0,4}}(?:选项|選項|项|項|这一|答案|option"
    rf"|choice)?\s{{0,2}}{_DEGREE}{{0,3}}\s{{0,2}}"
    rf"(?P<negative>{_NEGATIVE}|不是(?![\sA-Z]{{0,2}}[A-Z])|[\s]?(?:is|are|was|were)\s(?:not|out"
    rf"|wrong|incorrect|false|eliminated|excluded|ruled out|impossible|unlikely)\b|(?:isn|aren"
    rf"|wasn)['’]t\b)",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"其他|其它|其余|其餘|别的|另外|余下|他项|\bothers?\b|\brest\b|\bremaining\b|但|而(?!非)|\bbut\b|\bwhile\b"
    r"|\bwhereas\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[。!?;\n]|\.(?=\s|$)")
_FINAL_WORDS = (
    r"(?:最终|最終|综上(?:所述)?|綜上(?:所述)?|因此|所以|故(?!事|宫|乡)|总之|總之|由此|可见|可知|因而|于是|∴|结论|結論|更正|修正|改选|改為"
    r"|改为|最后|\bfinal(?:ly)?|\btherefore|\bthus|\bhence|\bso\b|\bconclusion|\bcorrection"
    r"|\boverall)"
)
_IS = (
    r"(?:应该|應該|应当|應當|应|應|该|該)?(?:就)?(?:很|最|极)?(?:大)?(?:可能)?(?:会)?(?:是|为|為|选|選|選擇|选择|在于|:|=|→"
    r"|->|即)"
)
_ANSWER = re.compile(
    rf"(?:(?:答案|正解|结论|結論|結果|结果|回答|判断|我的选择|最佳选择|正确选择|(?:正确|正確|最佳|对应|對應|最合适|符合|合适|相应|恰当|最准确|最符合"
    rf"|成立)的?(?:选项|選項|项|是|为|答案)|(?<![各个些列下有])(?:选项|選項)|选择|選擇|输出|出处|解答|本题|此题|该题|应选|答(?=[是为:]))"
    rf"(?:\([^()\n]{{1,12}}\)|[\s\"”'」|】)\]]){{0,4}}(?:{_IS}\s{{0,2}}){{1,3}}"
    rf"|(?<!请回)(?:答案|正解)(?:\([^()\n]{{1,12}}\))?[\s\"”'」|】)\]]{{0,4}}"
    rf"|(?:^|(?<=[\s\"'{{,.(]))(?:(?:the|my|our|correct|best|right|final|most likely"
    rf"|chosen)\s){{0,3}}(?:answers?|ans|ответ|antwort|respuesta|choice|option|response|result|output|selected|selection"
    rf"|letter|match|fit|conclusion|verdict|réponse|final_answer|prediction|pick)"
    rf"(?:\s(?:option|choice|letter|here|to (?:this"
    rf"|the) question))?(?:\([^()\n]{{1,12}}\))?[\s\"'”|)\]]{{0,4}}(?:\s?(?:is|was|should\sbe"
    rf"|would\sbe|must\sbe|has\sto\sbe|will\sbe|=|:|->|→|—|-|seems to be|appears to be"
    rf"|is most likely|is likely|is probably|is clearly|est(?: la)?)\s?){{1,2}}"
    rf"|\b(?:final answer|answer)[\s\"'”|)\]]{{0,4}}|正解は)"
    rf"(?:\s{{0,2}}(?:选择|選擇|选|選|是|为|為|应为|应选|项|option\b|choice\b|letter\b|clearly\b|definitely\b"
    rf"|likely\b|probably\b|therefore\b)){{0,2}}\s{{0,2}}{_NOUN}{_OPENERS}\Z",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"(?:(?<![可多单待备挑筛])(?:选择|選擇|选取|选定|选出|勾选|圈选|填写|填入|填|选|選)(?:的是|了|出|定)?|应该?是|應該?是|应当是|应为|應為|只能是"
    r"|只有|就是|便是|而是|则是|那么是|锁定|倾向于?(?:选择?|是|认为是)?|更像是?|最可能(?:的)?(?:是|为)|最接近(?:的)?(?:是|为)|最像(?:的)?是"
    r"|对应(?:的)?(?:选项|选择)?(?:是|为|:)?|(?<!不)符合的(?:是|有)?|最\w{1,4}的(?:一[项個个位])?(?:是|为|為)|剩下的?(?:(?:就|便|也就|则)?(?:只?有|只?能?是)(?:[^,。;\nA-Z]{0,16}的)?)?|锁定为?|判断为|判定为|确定为|认定为|归为|即(?:为"
    r"|是)?(?=选项|\s?\Z)"
    r"|\b(?:i|i['’]d|i['’]ll|we|would|will|must|shall|should)\s(?:would\s|will\s|therefore\s"
    r"|then\s)?(?:choose|select|pick|say|go\s(?:with|for)|opt\sfor|answer|take|guess"
    r"|lean\stowards?|settle\son|vote\sfor|prefer)|\b(?:choose|select|pick|choosing|selecting"
    r"|picking|go\swith|going\swith|opt\sfor|opting\sfor|leaning\stowards?)"
    r"|\b(?:must|should|has\sto|has\sgot\sto|can\sonly)\sbe|\bit['’]s|\bit\sis|\bthat['’]s"
    r"|\bcorresponds\sto|\bcorresponding\sto|\bmatches|\bactually,?|\bevidence\s(?:favou?rs|suggests|supports)"
    r"|\bwhich\sis|\b(?:this|it)\sis\s(?:most\slikely|probably|clearly)|\b(?:this|that|these|all|everything)\spoints?\sto(?:wards?)?|指向|\bindicates?"
    r"|\bleaves(?:\sus\swith)?|\bleaving|\bmy\s(?:best\s|educated\s|first\s)?guess\s(?:is|would\sbe)|(?:correct|right|best"
    r"|better)\s(?:one\s)?is|\brather|\binstead,?)"
    rf"(?:\s{{0,2}}(?:选择|选|選|是|为|為|the)){{0,2}}\s{{0,2}}{_NOUN}{_OPENERS}\Z",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    rf"(?!最后|final){_FINAL_WORDS}[,:\s]{{0,3}}(?:我?(?:选|選|是|为|it['’]s|it is|the"
    rf"|it must be))?\s{{0,2}}{_NOUN}{_OPENERS}\Z",
    re.IGNORECASE,
)
_CONCLUDING = re.compile(rf"{_FINAL_WORDS}[^。!?\n;A-Z]{{0,40}}\Z", re.IGNORECASE)
_FINAL_LABEL = re.compile(
    r"(?:最终|最終|\bfinal|更正|修正|correction)[^。\n;]{0,16}\Z", re.IGNORECASE
)
_LINKED = re.compile(
    r"(?:是(?:典型的|一种|标准的)?|为|為|:|→|->|=>|—|出自|属于|屬於|来自|取自|选自|源自|见于|名为|叫做|题为|描绘的?是?|作者|即|乃|称为|作品|出于"
    r"|像|似|原文|意思|解释为|译为|理解为|解作|当作|写于|创作于|藏于|收藏于|位于|采用了?|使用了?|运用了?|\bis|\bfrom|\bby|\bwas|\bof"
    r"|\bmeans?|\bbe|\bin|\bto|\bcalled|\bas|\bdepicts|\bshows|\bc['’]est|\bes)\s{0,2}(?:the\s"
    r"|a\s|an\s)?[\s(\"“'「《【\[]{0,4}\Z",
    re.IGNORECASE,
)
_MARKED = r"(?:\A|[\n,;。、\s])[ \t|•*-]{0,6}"
_TICKED = re.compile(rf"{_MARKED}(?:✓|✔|✅|☑|√|👉|➡|→|\[x\])[ \t|]{{0,3}}\Z", re.IGNORECASE)
_CROSSED = re.compile(rf"{_MARKED}(?:✗|✘|❌|❎|×|✖|☒|□|☐|\[ \])[ \t|]{{0,3}}\Z")
_CLOSES = re.compile(
    r"[\s)\]\"”'」》】}|*]{0,4}(?:选项|選項|项|項|option|choice)?(?:の|です|了|吧|呢|啊"
    r"|哦)?[\s)\]\"”'」》】}|(]{0,4}(?:[。.,;!\n]|\Z|因为|因為|理由|because|since|as\b|解析|解释|说明)",
    re.IGNORECASE,
)
_LINE_START = re.compile(
    r"(?:\A|\n)[\s>\-•#\"“'「(\[【{|]{0,6}(?:(?:选项|選項|option|choice)\s{0,2})?\Z", re.IGNORECASE
)
_LINE_END = re.compile(
    r"[\s)\]\"”'」】}|*.。,;!]{0,6}(?:选项|選項|项|項)?[)\]\"”'」】}|.。,;!]{0,3}[ \t]*(?:\n|\Z)"
)
_OPENS_BODY = re.compile(
    r"[)\]\"”'」】}|*]{0,3}\s?(?:项|項|选项)?\s?(?:[。;]|\.\s|,\s?(?:因|理由|because|since|as\b|原因)"
    r"|\s?[(—–-]|\s{0,2}(?:because|since|is\b(?!\s(?:an?\s)?(?:common|tempting|possible|plausible|similar|often))|正确|正確)|\n)",
    re.IGNORECASE,
)


_in_a_loop = lru_cache(maxsize=32)
"""Decorator of a function that gets the same words again and again where a response loops."""


def claims_of(flat: str, mentions: Sequence[Mention]) -> list[Claim]:
    """The claim that each mention makes, in order."""
    flat = HAN_RUN.sub(lambda found: fold(found[0]), flat)
    labelled_lines = _labelled_lines(flat, mentions)
    found = []
    for place, mention in enumerate(mentions):
        after = mentions[place + 1].start if place + 1 < len(mentions) else len(flat)
        before = mentions[place - 1].end if place else 0
        if _listed(flat, mentions, place):
            found.append(Claim(mention, Rank.IGNORED, "listed"))
        else:
            found.append(_claim(flat, mention, before, after, labelled_lines))
    return found


def _listed(flat: str, mentions: Sequence[Mention], place: int) -> bool:
    """Whether a mention is one of several options with their texts, one after the other."""
    mention = mentions[place]
    for other in (place - 1, place + 1):
        if not mention.labelled or not 0 <= other < len(mentions) or not mentions[other].labelled:
            continue
        first, second = sorted((mention, mentions[other]), key=lambda each: each.start)
        between = flat[first.end : second.start]
        if "\n\n" in between:
            continue
        if first.letters != second.letters and len(between) <= _LIST_GAP and _GAP.match(between):
            return True
    return False


def _claim(  # noqa: PLR0911
    flat: str, mention: Mention, before: int, after: int, labelled: frozenset[int]
) -> Claim:
    left = flat[
        max(0, mention.start - _LEFT, before if before < mention.start else 0) : mention.start
    ]
    wide = flat[max(0, mention.start - _LEFT) : mention.start]
    right = flat[mention.end : mention.end + _RIGHT]
    region = right[: max(0, after - mention.end)]
    if after < len(flat):
        # What denies the next option says nothing of this one.
        region = _EN_BEFORE.sub("", _ZH_BEFORE.sub("", region))
    if rank := _set_aside(wide, left, right):
        return Claim(mention, *rank)
    if (rank := _committed(left, wide, right)) and not _ADJACENT.match(region):
        return Claim(mention, *rank)
    line = _LINE_START.search(wide) and _LINE_END.match(right)
    if line and not (mention.labelled and mention.start in labelled):
        return Claim(mention, Rank.ANSWER, "line of its own")
    if (
        mention.start <= _LIST_GAP
        and not flat[: mention.start].strip(" \n(\"'[{“「《【")
        and len(mention.letters) == 1
        and (_OPENS_BODY.match(right) or (len(labelled) < _SEVERAL and _EXPLAINED.match(right)))
        and _judged(region) is not Rank.DENIED
    ):
        return Claim(mention, Rank.ANSWER, "opening")
    if _SENTENCE_BEFORE.search(wide) and _TEXT_END.match(right) and len(labelled) < _SEVERAL:
        return Claim(mention, Rank.ANSWER, "last word")
    if judged := _judged(region):
        return Claim(mention, judged, "predicate")
    return Claim(mention, *_weak(left, right, mention))


@_in_a_loop
def _set_aside(wide: str, left: str, right: str) -> tuple[Rank, str] | None:
    """Mentions that are denied, or said of others, asked, or supposed."""
    if _NON_B.match(right) and left.rstrip().endswith("非"):
        return Rank.CHOSEN, "choice"
    denied = _ZH_BEFORE.search(left) or _EN_BEFORE.search(left) or _CROSSED.search(wide)
    if denied and not _DOUBLE_NEGATION.search(left):
        return Rank.DENIED, "denied"
    if _IGNORED_AFTER.match(right) or _IGNORED_BEFORE.search(left):
        adjacent = _ADJACENT.match(right)
        return (Rank.DENIED, "denied") if adjacent else (Rank.IGNORED, "not asserted")
    return None


@_in_a_loop
def _committed(left: str, wide: str, right: str) -> tuple[Rank, str] | None:
    if _ANSWER.search(wide):
        final = _FINAL_LABEL.search(wide[-60:])
        return (Rank.FINAL if final else Rank.ANSWER), (
            "final answer" if final else "answer phrase"
        )
    if _CHOICE.search(left):
        return (Rank.ANSWER if _CONCLUDING.search(left) else Rank.CHOSEN), "choice"
    if _CONCLUDED.search(left) and _CLOSES.match(right):
        return Rank.ANSWER, "conclusion"
    if _TICKED.search(wide):
        return Rank.FAVOURED, "tick"
    return None


@_in_a_loop
def _judged(region: str) -> Rank | None:
    """The claim that the words after a mention make of it, up to the end of the sentence."""
    region = region.lstrip(" .)]、")
    stop = _STOP.search(region)
    if stop:
        region = region[: stop.start()]
    if others := _OTHERS.search(region):
        region = region[: others.start()]
    negative = _NEG_RIGHT.search(region)
    positive = _POS_RIGHT.search(_NEG_RIGHT.sub(" ", region))
    if negative and positive:
        return None
    if negative:
        return Rank.DENIED
    return Rank.FAVOURED if positive else None


def _weak(left: str, right: str, mention: Mention) -> tuple[Rank, str]:
    if _WALK_BEFORE.search(left):
        return Rank.IGNORED, "gone through"
    linked = _LINKED.search(left)
    if linked and (mention.by_text or mention.labelled or _CLOSES.match(right)):
        return Rank.STATED, "statement"
    if not mention.by_text and _WALK_AFTER.match(right):
        return Rank.IGNORED, "gone through"
    return Rank.NAMED, "only option named"


def _labelled_lines(flat: str, mentions: Sequence[Mention]) -> frozenset[int]:
    """The starts of options with their own texts that begin lines, several in one paragraph."""
    starts = [
        each.start
        for each in mentions
        if each.labelled and _LINE_START.search(flat[max(0, each.start - 12) : each.start])
    ]
    blocks = [flat.count("\n\n", 0, start) for start in starts]
    alone = {block for block in blocks if blocks.count(block) == 1}
    return frozenset(
        start for start, block in zip(starts, blocks, strict=True) if block not in alone
    )

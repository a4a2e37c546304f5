"""The frame of a question: the words around its interrogative, which a statement repeats."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from keju.scoring.asked_phrases import find_asked_phrase
from keju.scoring.clause_claims import grams_of
from keju.scoring.remarks import is_mostly_latin
from keju.scoring.wordings import fold, wording
from keju.text import has_han, is_han

_INTERROGATIVE = re.compile(
    r"哪(?:一|几)?[个位种座件部本处项类幅首篇张方尊家条匹只段款]?|什么|怎样|何(?=[人物时地处种])|谁"
    r"|多少|几(?=[个条位只])"
)
_NOUN = re.compile(r"((?!的)[一-鿿]{1,6}?)(?:的|呢|\?|,|。|$)")
_RELATION = re.compile(r"(?:的|了|着|著|过)?(?:应该?)?(?:是|为|叫做?|在)?的?$")
_LITTLE = frozenset("的了着著是为在有一个这那该此其中上下里图片幅张件位种和与及把对从哪什么谁用")
_COMMON_WORDS = frozenset(
    [
        "the",
        "this",
        "that",
        "image",
        "picture",
        "photo",
        "shown",
        "depicted",
        "name",
        "kind",
        "type",
    ]
)
IN = "在"
"""The link of a place, which is too common to be a verb of the question."""
_NAMED_BY = {
    "who": ["artist", "painter", "author", "calligrapher", "poet", "maker", "creator", "owner"],
    "where": ["location", "place", "home"],
    "when": ["date", "year", "period"],
}
_SYNONYMS = (
    "of_time",
    "of_source",
    "of_material",
    "of_name",
    "of_place",
    "of_meaning",
    "of_maker",
    "of_writing",
    "of_use",
    "of_subject",
)
_ALIKE = (
    ("使用", "采用", "运用", "用了", "用的是"),
    ("出自", "来自", "选自", "引自", "取自", "源自", "见于"),
    ("描绘", "表现", "画的是", "刻画", "反映的是", "展现"),
    ("收藏于", "藏于", "收藏在", "保存在", "现藏", "保存于", "存放在"),
    ("担任", "任职", "出任", "被任命为", "官至"),
    ("属于", "归为", "归入"),
    ("表达", "抒发", "流露"),
    ("show", "depict", "portray", "illustrat"),
    ("quot", "cit"),
)
"""Verbs that a question and its answer may exchange."""
_LONGEST_NOUN = 6
_AT_END = re.compile(r"[于了着著]?(?:$|的[一-鿿]{1,6}$)")
_MEASURE = re.compile(r"^[条个只种座件部本匹头张](?=[一-鿿])|^[里儿]$")


class AskedFrame(NamedTuple):
    """The words that a statement has in common with the question that it answers.

    Attributes:
        nouns: the folded nouns that are asked for (朝代 in 哪个朝代, 主人 in 主人是谁).
        verbs: the folded words that link the subject with the answer (出自, painted).
        chars: the characters, or words of other scripts, of nouns and verbs.
        grams: pairs of characters and words of the whole question.
    """

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    chars: frozenset[str]
    grams: frozenset[str]


@lru_cache(maxsize=1 << 10)
def frame_of(question: str) -> AskedFrame:
    """The frame of a question."""
    asked = wording("short", "instruction").sub("", fold(question)).strip()
    chinese = is_chinese(asked)
    nouns, verbs = _in_chinese(asked) if chinese else _in_english(asked)
    words = "".join((*nouns, *verbs))
    chars = (
        frozenset(filter(is_han, words)) - _LITTLE
        if chinese
        else frozenset(word for each in (*nouns, *verbs) for word in each.split())
    )
    return AskedFrame(nouns, verbs, chars, _contents(asked))


def is_chinese(question: str) -> bool:
    """Whether a question is in Chinese, not one in English that quotes Chinese words."""
    return has_han(question) and not is_mostly_latin(question)


def names_alike(label: str, frame: AskedFrame) -> bool:
    """Whether a label names what is asked for in another word (质地 for 材质)."""
    asked = " ".join((*frame.nouns, *frame.verbs))
    return any(
        wording("statements", name).search(label) and wording("statements", name).search(asked)
        for name in _SYNONYMS
    )


def _contents(asked: str) -> frozenset[str]:
    """The words of a question that say what it is about."""
    said = grams_of(asked) - _COMMON_WORDS
    return frozenset(each for each in said if each.isascii() or not set(each) & _LITTLE)


def _in_chinese(asked: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The nouns and verbs around a Chinese interrogative."""
    found = _INTERROGATIVE.search(asked)
    if not found:
        return (), tuple(each[0] for each in wording("statements", "relation").finditer(asked))
    before, after = asked[: found.start()], _MEASURE.sub("", asked[found.end() :])
    after = after[: _start_of(wording("statements", "relation").search(after), len(after))]
    noun = _NOUN.match(after)
    core = _RELATION.sub("", before)
    nouns = [noun[1]] if noun else []
    verbs = [
        each[0] for each in wording("statements", "relation").finditer(core)
        if _AT_END.match(core, each.end())
    ]  # fmt: skip
    verbs += [core[-2:]] if core.endswith("于") and len(core) > 2 and not verbs else []
    verbs += [other for group in _ALIKE if {*group} & {*verbs} for other in group]
    if found[0] == "谁" and noun:
        nouns, verbs = [], [*verbs, *(each for each in nouns if "的" not in each)]
    if "purpose" in find_asked_phrase(asked).kinds:
        nouns, verbs = [], [*verbs, "用来", "用于", "用以", "在于"]
    if not nouns and (before != core or not verbs):
        last = re.search(r"[一-鿿]{1,8}$", core)
        head = last[0].rpartition("的")[2] if last else ""
        nouns = [head] if 0 < len(head) <= _LONGEST_NOUN else []
    if core.endswith("通"):
        verbs.append("通")
    if wording("statements", "asks_where").search(asked):
        verbs.append(IN)
        nouns.append("地点")
    return tuple(filter(None, nouns)), tuple(dict.fromkeys(filter(None, verbs)))


def _start_of(found: re.Match[str] | None, default: int) -> int:
    return found.start() if found and found.start() else default


def _in_english(asked: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The nouns and verbs around an English interrogative."""
    nouns = [
        next(filter(None, each.groups()))
        for each in wording("statements", "asked_noun_in_english").finditer(asked)
    ]
    verbs = [
        re.sub(r"(?:e?d|e|ing|s|(?<=w)n)$", "", each["verb"])
        for name in ("asked_doer", "asked_done", "asked_doing")
        for each in wording("statements", name).finditer(asked)
    ]
    verbs += [other for group in _ALIKE if {*group} & {*verbs} for other in group]
    for word, named in _NAMED_BY.items():
        nouns += named if re.search(rf"\b{word}\b", asked) else []
    nouns = [each for each in nouns if each != "of"]
    return tuple(dict.fromkeys(nouns)), tuple(dict.fromkeys(verbs))

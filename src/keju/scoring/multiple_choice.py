"""The one option that a response chooses, or none: never a guess."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keju.scoring.extraction import Extracted, json_answer, strict_body, without_fence
from keju.scoring.letter_claims import Claim, Rank, claims_of
from keju.scoring.letter_mentions import FINAL, flatten, mentions_in
from keju.scoring.remarks import is_mostly_latin, speaks_of_the_page
from keju.scoring.wordings import fold, wording
from keju.text import counted, has_han, is_han

LONGEST = 200_000
"""Longer responses are not searched for a letter: no answer is so long."""

_DEFAULT = tuple("ABCDEF")
_EDGE = " \t\r\n\u3000*_`#>-–—.。，,、:：;；!！?？'\"‘’“”「」『』()（）[]【】《》{}$\\|/→➡✅✓✔👉️"
_MOST = 4_000
_NEAR = 40
_SHORT, _LONGEST_PART = 300, 8
_NEGATED = re.compile(r"(?:不|没有?|未)[\u4e00-\u9fff]{2,3}|不是")
_NEXT = re.compile(r"[;；。\n]")
_MATCHES = frozenset("→:：-—=出是属在见")
_TERM = re.compile(r"《[^《》]{1,20}》|[“「『][^”」』]{2,20}[”」』]")
_TURNED = {Rank.FAVOURED: Rank.DENIED, Rank.DENIED: Rank.FAVOURED}
_SENTENCE_END = re.compile(r"[。！!]|\.\s")
_SENTENCE_START = re.compile(r"[。!?;；\n]|[.]\s|,\s?(?=但|but\b)")
_NEXT_STOP = re.compile(r"[。!?;；\n]|(?<=[a-z)])[.](?:\s|$)|,\s?(?=但|but\b)")
_AROUND = 120
_LONG_LINE = 15
_LONG, _SOME, _SHORTEST_READING, _TWO = 240, 40, 24, 2
_REVERSAL = re.compile(
    r"不对|不對|不,|不。|等等|等一下|更正|修正|纠正|改选|改為|改为|其实|實際|实际上|重新|再想|仔细|准确地说|应该是|應該是|而是|才是|但|然而|不过|最终|综上|因此"
    r"|所以|故|错了|有误"
    r"|\b(?:no|wait|actually|sorry|correction|rather|instead|but|however|reconsider\w*"
    r"|on second thought|therefore|thus|hence|so|finally|oops|rethink\w*|hmm|final)\b",
    re.IGNORECASE,
)
_RETRACTS = re.compile(
    r"不对|不對|不,|等等|等一下|更正|修正|纠正|改选|改為|改为|重新|再想|错了|有误|应该是|應該是|其实|实际上"
    r"|\b(?:no|wait|actually|sorry|correction|reconsider\w*|on second thought|oops|rethink\w*|hmm"
    r"|instead|rather)\b",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(r"更正|纠正|不对[,。]|错了|\b(?:correction|scratch that|my mistake)\b")
_HEDGED = re.compile(
    r"也有?可能|\b(?:could|might|may) also be|\bor (?:maybe|perhaps|possibly)\b", re.IGNORECASE
)
_UNFINISHED = re.compile(
    r"(?:[,、:(\-]|\.\.\.|…|因为|由于|那么|如果|而|和|与|但|\b(?:because|the|and|is|of))\s*\Z",
    re.IGNORECASE,
)


def extract_letter(
    text: str, choices: Sequence[str] = (), options: Sequence[str] = (), question: str = ""
) -> Extracted:
    r"""The letter of the option that a response chooses.

    First all mentions of options are found (`letter_mentions`), each with what is said of it
    (`letter_claims`). Then the mentions of the highest rank decide: a final answer (``\boxed{B}``,
    最终答案：B), an answer (答案：B, a line of its own, "so I choose B"), a choice (选B, B fits
    best), a tick or predicate (B正确), a statement (出自《韩非子》), the only option named. Of
    those of one rank the last one decides, but two that contradict each other side by side decide
    nothing. A later choice that takes an answer back ("不对，应该是B", "Wait, actually B") comes
    before it. What is denied, asked, supposed or reported of others never counts; neither does a
    group of letters (A或B), a letter beyond the options, or a letter with another option's text.

    Args:
        text: the response.
        choices: the letters on offer; A to F where the item does not say.
        options: the texts of the options, in order of their letters, where they are known.
        question: the question; where it asks for the wrong option, "A is right" denies A.
    """
    offered = tuple(choices) or _DEFAULT
    body = strict_body(text)
    if not body.strip():
        return Extracted(None, "no answer after the reasoning" if text.strip() else "empty")
    if len(body) > LONGEST:
        return Extracted(None, f"{len(body):,} characters, which is too long")
    found = _lone(body, offered) or _from_json(body, offered, options)
    if found := found or _whole_text(body, options):
        return found
    flat, mentions = mentions_in(flatten(body), offered, options)
    claims = claims_of(flat, mentions[-_MOST:])
    claims = _without_asides(flat, claims)
    if wording("letters", "asks_for_wrong").search(fold(question)):
        claims = [_turned(flat, each, question) for each in claims]
    if wording("letters", "other_one").search(fold(flat)) and len(offered) == _TWO:
        claims = [*claims, *_other_of_two(claims, offered)]
    claims = _matched(flat, _concluded(flat, claims), question)
    return _decided(flat, claims, offered)


def _without_asides(flat: str, claims: Sequence[Claim]) -> list[Claim]:
    """The claims without weak ones in sentences about first guesses, other cases, comparisons."""
    folded = fold(flat)
    return [
        each._replace(rank=Rank.IGNORED, rule="aside")
        if Rank.NAMED <= each.rank <= Rank.FAVOURED and _is_aside(folded, each.mention.start)
        else each
        for each in claims
    ]


def _is_aside(folded: str, start: int) -> bool:
    """Whether the sentence around a place speaks of options that are not the answer."""
    before = _SENTENCE_START.split(folded[max(0, start - _AROUND) : start])[-1]
    after = _NEXT_STOP.split(folded[start : start + _AROUND])[0]
    return wording("letters", "aside").search((before + after).lstrip(" \t>*-")) is not None


def _turned(flat: str, claim: Claim, question: str) -> Claim:
    """A claim where the wrong option is asked for: what is called wrong is the answer."""
    before = fold(flat[max(0, claim.mention.start - _NEAR) : claim.mention.start])
    if any(before.rstrip(" :是为").endswith(each) for each in _NEGATED.findall(fold(question))):
        return claim._replace(rank=Rank.CHOSEN, rule="choice")
    if wording("letters", "left_over").search(before):
        return claim._replace(rank=Rank.CHOSEN, rule="choice")
    chosen = before.endswith(("选", "选择", "choose ", "choosing "))
    after = fold(flat[claim.mention.end : claim.mention.end + _NEAR])
    for name, rank in (("is_right", Rank.DENIED), ("is_wrong", Rank.FAVOURED)):
        if wording("letters", name).match(after):
            return claim._replace(rank=Rank.DENIED if chosen else rank, rule="predicate")
    if claim.rule == "predicate" and claim.rank in _TURNED:
        return claim._replace(rank=_TURNED[claim.rank])
    return claim


def _other_of_two(claims: Sequence[Claim], offered: Sequence[str]) -> list[Claim]:
    """The option that is left where one of two is denied and "the other one" chosen."""
    denied = {
        letter for each in claims if each.rank == Rank.DENIED for letter in each.mention.letters
    }
    left = set(offered) - denied
    if len(left) != 1 or not claims:
        return []
    mention = claims[-1].mention._replace(letters=frozenset(left), by_text=False, clash=False)
    return [Claim(mention, Rank.CHOSEN, "the other of two")]


def _concluded(flat: str, claims: Sequence[Claim]) -> list[Claim]:
    """The claims; the one option named in a last sentence that concludes is an answer."""
    start = max(flat.rstrip(" .。!\n").rfind(mark) for mark in ("\n", "。", ". ", "！"))
    last = [each for each in claims if each.mention.start > start]
    if len(last) != 1 or not wording("letters", "concluding").match(
        fold(flat[start + 1 :]).strip()
    ):
        return list(claims)
    (only,) = last
    if only.rank in {Rank.DENIED, Rank.IGNORED, Rank.FINAL}:
        return list(claims)
    return [each._replace(rank=Rank.ANSWER) if each is only else each for each in claims]


def _matched(flat: str, claims: list[Claim], question: str) -> list[Claim]:
    """The claims; of options matched with terms (守株待兔→韩非子) the asked term decides."""
    terms = {fold(each).strip("《》“”「」『』") for each in _TERM.findall(question)}
    named = [each for each in claims if each.mention.by_text or each.mention.labelled]
    if len(terms) != 1 or any(each.rank >= Rank.CHOSEN for each in claims) or len(named) < _TWO:
        return claims
    (term,) = terms
    right = [fold(_NEXT.split(flat[each.mention.end :][:_NEAR], maxsplit=1)[0]) for each in named]
    found = [
        each
        for each, said in zip(named, right, strict=True)
        if said[:1] in _MATCHES and term in said
    ]
    if len({each.mention.letters for each in found}) != 1:
        return claims
    return [each._replace(rank=Rank.CHOSEN) if each is found[0] else each for each in claims]


def _lone(body: str, offered: Sequence[str]) -> Extracted | None:
    core = flatten(body).replace(FINAL, "").strip(_EDGE)
    core = re.sub(r"^(?:选项|選項|选|選|option|choice)\s*", "", core, flags=re.IGNORECASE)
    core = re.sub(r"\s*(?:选项|選項|项|項)$", "", core)
    if len(core) == 1 and core.upper() in offered:
        return Extracted(core.upper(), "one letter", body)
    return None


def _from_json(body: str, offered: Sequence[str], options: Sequence[str]) -> Extracted | None:
    found = json_answer(body)
    if found is None or found.answer is None:
        return None
    inner = extract_letter(found.answer, offered, options)
    return found._replace(answer=inner.answer)


def _whole_text(body: str, options: Sequence[str]) -> Extracted | None:
    said = counted(without_fence(body)).casefold()
    whole = [
        place for place, text in enumerate(options) if said and counted(text).casefold() == said
    ]
    if not whole and 0 < len(said) <= _LONGEST_PART:
        whole = [place for place, text in enumerate(options) if said in counted(text).casefold()]
        whole = whole if has_han(said) else []
    return (
        Extracted(chr(ord("A") + whole[0]), "text of one option", body) if len(whole) == 1 else None
    )


def _decided(flat: str, claims: Sequence[Claim], offered: Sequence[str]) -> Extracted:
    if not claims:
        return Extracted(None, "no option named")
    strong = [each for each in claims if each.rank >= Rank.CHOSEN]
    if strong:
        return _of_strong(flat, strong, claims, offered)
    favoured = [each for each in claims if each.rank == Rank.FAVOURED]
    found = _favoured(flat, favoured) if favoured else None
    if found is not None and found.mention.by_text and _is_cut(flat):
        return Extracted(None, "unfinished")
    if found is not None:
        return _extracted_letter(flat, found, offered)
    if favoured:
        return Extracted(None, "several options favoured")
    return _of_weak(flat, claims, offered)


def _of_strong(
    flat: str, strong: Sequence[Claim], claims: Sequence[Claim], offered: Sequence[str]
) -> Extracted:
    top = max(each.rank for each in strong)
    if top == Rank.FINAL:
        chosen = [each for each in strong if each.rank == Rank.FINAL]
    else:
        chosen = [each for each in strong if each.rank == top]
    last = chosen[-1]
    for each in strong:
        between = (
            flat[last.mention.end : each.mention.start]
            if each.mention.start > last.mention.end
            else ""
        )
        if between and _RETRACTS.search(between):
            last = each
    last = _restated(flat, last, claims) or last
    if _contradicted(flat, last, strong):
        return Extracted(None, "phrases that disagree", _quote(flat, last))
    if _taken_back(flat, last, claims):
        return Extracted(None, "an answer that is taken back", _quote(flat, last))
    return _extracted_letter(flat, last, offered)


def _restated(flat: str, last: Claim, claims: Sequence[Claim]) -> Claim | None:
    """The one option that is named after an answer is taken back (B。更正一下：…江西奉新)."""
    back = list(_TAKES_BACK.finditer(flat, last.mention.end))
    later = [
        each for each in claims
        if back and each.mention.start >= back[-1].end() and each.rank > Rank.IGNORED
    ]  # fmt: skip
    return later[-1] if len({each.mention.letters for each in later}) == 1 else None


def _contradicted(flat: str, last: Claim, strong: Sequence[Claim]) -> bool:
    """Whether another choice is next to the last one, with nothing that prefers either."""
    for each in strong:
        if each.mention.letters == last.mention.letters or each.rank < min(last.rank, Rank.ANSWER):
            continue
        left, right = sorted((each, last), key=lambda claim: claim.mention.start)
        between = flat[left.mention.end : right.mention.start]
        if len(between) <= _NEAR and not _REVERSAL.search(between):
            return True
    return False


def _taken_back(flat: str, last: Claim, claims: Sequence[Claim]) -> bool:
    """Whether a later sentence denies the letter by a predicate (A错误) after a reversal."""
    return any(
        each.rank == Rank.DENIED
        and each.mention.start > last.mention.end
        and each.mention.letters == last.mention.letters
        and not each.mention.by_text
        and (
            each.rule == "predicate"
            or _RETRACTS.search(flat[last.mention.end : each.mention.start])
        )
        for each in claims
    )


def _favoured(flat: str, favoured: Sequence[Claim]) -> Claim | None:
    if len({each.mention.letters for each in favoured}) == 1:
        return favoured[-1]
    best = [
        each
        for each in favoured
        if re.match(
            r".{0,24}?(?:更|最|\bbest|\bbetter|\bmost)",
            flat[each.mention.end : each.mention.end + 40],
            re.IGNORECASE,
        )
    ]
    return best[-1] if len({each.mention.letters for each in best}) == 1 else None


def _of_weak(  # noqa: PLR0911
    flat: str, claims: Sequence[Claim], offered: Sequence[str]
) -> Extracted:
    if _HEDGED.search(flat):
        return Extracted(None, "several options named")
    last = re.split(r"[。\n!?]", fold(flat).rstrip("。.! \n"))[-1]
    opens = any(wording("short", name).search(last) for name in ("open_sentence", "open"))
    if opens and not _REVERSAL.search(last):
        return Extracted(None, "leaves the choice open", last)
    denied = {
        letter for each in claims if each.rank == Rank.DENIED for letter in each.mention.letters
    }
    for rank in (Rank.STATED, Rank.NAMED):
        left = [
            each for each in claims
            if each.rank == rank and not each.mention.letters <= denied
            and (each.mention.letters & set(offered) or each.mention.clash)
        ]  # fmt: skip
        names = {letter for each in left for letter in each.mention.letters - denied}
        if not left:
            continue
        if len(names) > 1 and rank == Rank.STATED and (head := _in_first_line(flat, left)):
            return _extracted_letter(flat, head, offered)
        if len(names) > 1:
            return Extracted(None, "several options named", " ".join(sorted(names)))
        stated = rank == Rank.STATED and _ended(flat, left[0])
        if (
            (_is_cut(flat) and not stated)
            or _is_read_out(flat, left)
            or (rank == Rank.NAMED and len(flat) > _SHORT)
        ):
            return Extracted(None, "unfinished")
        return _extracted_letter(
            flat,
            left[-1]._replace(mention=left[-1].mention._replace(letters=frozenset(names))),
            offered,
        )
    return _not_denied(flat, denied, offered)


def _not_denied(flat: str, denied: set[str], offered: Sequence[str]) -> Extracted:
    """The one option that is left where a response denies all others."""
    left_over = sorted(set(offered) - denied)
    if len(left_over) == 1 and len(offered) > _TWO and not _is_cut(flat):
        return Extracted(left_over[0], "the only option not denied", flat[:60])
    return Extracted(None, "only denies" if denied else "no option chosen")


def _in_first_line(flat: str, stated: Sequence[Claim]) -> Claim | None:
    """The one option that the first line states, where only reasons follow."""
    line, _, rest = flat.partition("\n")
    found = [each for each in stated if each.mention.start < len(line)]
    if not rest.strip() or len({each.mention.letters for each in found}) != 1:
        return None
    finished = line.rstrip().endswith(("。", ".", "!")) and not _RETRACTS.search(rest)
    return found[-1] if finished else None


def _ended(flat: str, claim: Claim) -> bool:
    """Whether a statement is in a finished first sentence: a later cut is harmless."""
    ends = [each.start() for each in _SENTENCE_END.finditer(flat)]
    return bool(ends) and claim.mention.end <= ends[0]


def _is_cut(flat: str) -> bool:
    """Whether a response ends within a sentence."""
    last_line = flat.rstrip().rpartition("\n")[2]
    long = len(flat) > _LONG and last_line[-1:].isalnum()
    # A line of finished sentences, the last of which has no end.
    ends_in_han = len(flat) > _SOME and is_han(last_line[-1:] or " ")
    long = long or (ends_in_han and "。" in (flat if len(last_line) > _LONG_LINE else last_line))
    return long or _UNFINISHED.search(flat) is not None


def _is_read_out(flat: str, left: Sequence[Claim]) -> bool:
    """Whether an option's text occurs only in a transcription of the page, without modern words."""
    plain = fold(flat)
    return (
        len(flat) > (_SHORTEST_READING if "\n" not in flat else _SHORTEST_READING // 2)
        and not is_mostly_latin(flat)
        and all(each.mention.by_text and each.rank == Rank.NAMED for each in left)
        and has_han(flat)
        and not speaks_of_the_page(plain)
        and not wording("passages", "modern").search(plain)
    )


def _extracted_letter(flat: str, claim: Claim, offered: Sequence[str]) -> Extracted:
    if claim.mention.clash:
        return Extracted(None, "a letter with another option's text", _quote(flat, claim))
    if claim.letter is None:
        return Extracted(None, "several letters", _quote(flat, claim))
    if claim.letter not in offered:
        return Extracted(None, "a letter that is not on offer", _quote(flat, claim))
    rule = "text of one option" if claim.mention.by_text else claim.rule
    return Extracted(claim.letter, rule, _quote(flat, claim))


def _quote(flat: str, claim: Claim) -> str:
    start = max(0, claim.mention.start - 20, flat.rfind("\n", 0, claim.mention.start - 3) + 1)
    return flat[start : claim.mention.end].strip()

"""The meaning of a sign that an English response gives in quotation marks."""

from __future__ import annotations

import re
from typing import NamedTuple

from keju.scoring.clause_claims import leaves_open
from keju.scoring.clause_parts import sentences_of
from keju.scoring.phrase_marks import OUTSIDE
from keju.scoring.wordings import fold, wording

_QUOTED = re.compile(
    r"(?<![A-Za-z])[\"“‘'](?P<value>[A-Za-z][A-Za-z ,;/()-]{0,40}?)[,.;]?[\"”’'](?![A-Za-z])"
)
_OWN = re.compile(r"\b(?:i|my)\b")
_CLAUSE = re.compile(r"[,.;:—–]")
_GLOSS = r"[(（][^()（）\n]{0,20}[)）]"
_HEADED = re.compile(
    r"\W*(?P<value>[A-Za-z][A-Za-z ]{0,24}?)\s?(?=[^)）]*[\u3400-\u9fff])"
    + _GLOSS
    + r"\s?(?:[:：—–,.-]|\Z)"
)
_APPOSED = re.compile(
    r"\b(?:is|['’]s|as|of|character) [\u3400-\u9fff](?:\s?"
    + _GLOSS
    + r")?\s?(?:[,;:–—-]? (?:an? |the )|[,;:–—-] (?=[a-z]+[.;]?(?:\s|$)))"
    r"(?P<value>(?!(?:character|sign|graph|form|word|variant|modern|early|ancient|meaning|which|so|or|and|as|also|in|it)\b)[a-z]+"
    r"(?: [a-z]+)?)"
    r"(?= (?:seen|shown|drawn|depicted|viewed|with|in|on|that|which)\b|[,.;]|$)"
)
_MOST_WORDS = 3


class _Meaning(NamedTuple):
    """A quoted meaning.

    Attributes:
        value: the words.
        start: its place in the response.
        stated: whether the words around it say that it is the meaning.
        concluded: whether its sentence concludes, or the model speaks of its own reading.
    """

    value: str
    start: int
    stated: bool
    concluded: bool


def quoted_meaning(core: str) -> str:
    """The one meaning in quotation marks to which an English response commits itself; or nothing.

    After a correction what follows it decides; of several the last conclusion, else the first. A
    meaning that no words introduce counts where it is the only one and no other is stated.
    """
    if (headed := _HEADED.match(core)) and len(headed["value"].split()) <= _MOST_WORDS:
        return headed["value"]
    found: list[_Meaning] = []
    left_open, at = False, 0
    for sentence in sentences_of(core):
        start = core.index(sentence, at)
        at = start + len(sentence)
        if leaves_open(fold(sentence).strip(OUTSIDE)) or _is_open(sentence):
            left_open = True
            found = [each for each in found if each.concluded]
            continue
        found += _in_sentence(sentence, start)
    back = [each.end() for each in wording("discourse", "correction").finditer(fold(core))]
    later = [each for each in found if each.stated and back and each.start > back[-1]]
    stated = later or [each for each in found if each.stated]
    if stated:
        concluded = [each for each in stated if each.concluded]
        return concluded[-1].value if concluded else stated[0].value
    if not found and not left_open and (apposed := _APPOSED.search(core)):
        return apposed["value"]
    if left_open or wording("short", "states_meaning").search(fold(core)):
        return ""
    values = {fold(each.value): each.value for each in found}
    return values.popitem()[1] if len(values) == 1 else ""


def _is_open(sentence: str) -> bool:
    return wording("short", "open_sentence").search(fold(sentence)) is not None


def _in_sentence(sentence: str, offset: int) -> list[_Meaning]:
    """The quoted meanings of a sentence that are not denied, derived or of a part of the sign."""
    flat = fold(sentence)
    concludes = bool(
        wording("discourse", "conclusion").search(flat)
        or wording("discourse", "correction").search(flat)
    )
    found = []
    for each in _QUOTED.finditer(sentence):
        before, after = flat[: each.start()], flat[each.end() :]
        clause = _CLAUSE.split(before)[-1]
        if wording("short", "not_its_meaning").search(clause):
            continue
        if wording("short", "part_of_sign").search(clause):
            continue
        stated = bool(
            wording("short", "commits_meaning", r"{}[\s(:,*—–-]*$").search(before)
            or wording("short", "is_the_meaning").match(after)
        )
        chosen = concludes or _OWN.search(clause) is not None
        found.append(_Meaning(each["value"].strip(), offset + each.start(), stated, chosen))
    return found

"""The sentences of a response, and the clauses of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keju.scoring.phrase_marks import CLOSE, OPEN
from keju.scoring.wordings import fold, wording

_ABBREVIATED = ("i.e", "e.g", " ca", " cf", " vol", " no", " st", " dr", " mr")
_AFTER_QUOTATION = re.compile(r"[.!?][\"”]\s+[A-Z]")
_NAMES_NEXT = re.compile(r"(?:\bi\.e\.?|\bnamely|\bthat is|\bhence|\bviz\.?)$", re.IGNORECASE)
_STOPS = frozenset("。！？!?；;\n")


def sentences_of(core: str) -> Iterator[str]:
    """The sentences of a text; marks in quotation marks and brackets do not end one."""
    start = 0
    for place, char, outside in _outside(core):
        if (outside and (char in _STOPS or _is_period(core, place))) or _ends_quotation(
            core, place
        ):
            if core[start:place].strip():
                yield core[start : place + 1]
            start = place + 1
    if core[start:].strip():
        yield core[start:]


def parts_of(sentence: str) -> Iterator[str]:
    """The clauses of a sentence; what is contrasted (而不是, rather than) is one of its own."""
    start = 0
    contrasts = {each.start() for each in wording("short", "contrasted").finditer(fold(sentence))}
    for place, char, outside in _outside(sentence):
        if outside and place in contrasts and sentence[start:place].strip():
            yield sentence[start:place]
            start = place
        if outside and (char == "，" or _is_comma(sentence, place) or char in "—→⇒…"):
            yield sentence[start:place]
            start = place if char in "→⇒" else place + 1
    yield sentence[start:]


def _outside(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each place with its character, and whether it is outside of quotation marks and brackets.

    Marks that are not closed on their line count as closed at its end.
    """
    depth = 0
    for place, char in enumerate(text):
        if char in OPEN:
            depth += 1
        elif char in CLOSE:
            depth = max(0, depth - 1)
        elif char == "\n":
            depth = 0
        yield place, char, not depth and char not in CLOSE


def _is_period(core: str, place: int) -> bool:
    after, before = core[place + 1 : place + 2], core[max(0, place - 2) : place]
    return (
        core[place] == "."
        and (not after or after.isspace())
        and not core[max(0, place - 4) : place].lower().endswith(_ABBREVIATED)
        and not (before[-1:].isupper() and (len(before) < 2 or not before[0].isalnum()))
    )


def _ends_quotation(core: str, place: int) -> bool:
    """Whether a quotation ends an English sentence (means "tiger." The jaws are open)."""
    return core[place] in '"”' and _AFTER_QUOTATION.match(core, place - 1) is not None


def _is_comma(sentence: str, place: int) -> bool:
    after = sentence[place + 1 : place + 2]
    if sentence[place] == "-":
        return sentence[place - 1 : place + 2] == " - "
    if sentence[place] == "," and _NAMES_NEXT.search(sentence, max(0, place - 16), place):
        return False
    return sentence[place] == "," and not after.isdigit()

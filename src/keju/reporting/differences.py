"""The aligned difference between a truth and an answer, as the report shows it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from keju.metrics.alignment import align
from keju.text import counted, normalise

Kind = Literal["eq", "var", "sub", "del", "ins", "brk"]

_LONGEST = 6000
_KINDS: dict[str, Kind] = {"substitute": "sub", "delete": "del", "insert": "ins"}


class Difference(NamedTuple):
    """One stretch of a difference; the two sides are of one length unless one of them is empty.

    ``eq`` is the same character, ``var`` a variant or the other script's form of it, ``sub``
    another one, ``del`` missing and ``ins`` added; ``brk`` is a line break of the truth.
    """

    kind: Kind
    truth: str
    answer: str


class _Text(NamedTuple):
    shown: str
    compared: str
    breaks: frozenset[int]


def differences(truth: str, answer: str) -> list[Difference]:
    """How an answer differs from the truth, over the characters that OCR scoring counts.

    Both are aligned as they stand at the last layer of normalisation and shown as they were
    written. An answer of more than 6,000 characters (a loop) is shown up to there.
    """
    left, right = _prepared(truth[:_LONGEST]), _prepared(answer[:_LONGEST])
    return _joined(_single(left, right))


@lru_cache(maxsize=32)  # the same truth stands beside many answers, one after the other
def _prepared(text: str) -> _Text:
    shown: list[str] = []
    compared: list[str] = []
    breaks = set()
    for char in text:
        if char == "\n" and shown:
            breaks.add(len(shown))
        elif counted(char, "exact"):
            shown.append(char)
            folded = normalise(char)
            compared.append(folded if len(folded) == 1 else char)
    return _Text("".join(shown), "".join(compared), frozenset(breaks))


def _single(left: _Text, right: _Text) -> Iterator[Difference]:
    """One difference a character, with the breaks of the truth between them."""
    broken = set(left.breaks)
    for span in align(left.compared, right.compared):
        above = left.shown[span.reference_start : span.reference_end]
        below = right.shown[span.hypothesis_start : span.hypothesis_end]
        for step in range(max(len(above), len(below))):
            if above and (place := span.reference_start + step) in broken:
                broken.remove(place)
                yield Difference("brk", "", "")
            a, b = above[step : step + 1], below[step : step + 1]
            yield Difference(_kind(span.kind, same=a == b), a, b)


def _kind(kind: str, *, same: bool) -> Kind:
    if kind == "equal":
        return "eq" if same else "var"
    return _KINDS[kind]


def _joined(singles: Iterator[Difference]) -> list[Difference]:
    stretches: list[Difference] = []
    for single in singles:
        last = stretches[-1] if stretches else None
        if last is not None and last.kind == single.kind != "brk":
            stretches[-1] = Difference(
                last.kind, last.truth + single.truth, last.answer + single.answer
            )
        else:
            stretches.append(single)
    return stretches

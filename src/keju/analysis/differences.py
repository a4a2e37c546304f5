"""Aligned differences between a reference and an answer, for the report."""

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
    """One segment of a difference; the two sides have the same length unless one of them is empty.

    ``eq`` is the same character, ``var`` a variant or the other script's form of it, ``sub``
    another one, ``del`` missing and ``ins`` added; ``brk`` is a line break of the reference.
    """

    kind: Kind
    truth: str
    answer: str


class _Text(NamedTuple):
    shown: str
    compared: str
    breaks: frozenset[int]


def differences(truth: str, answer: str) -> list[Difference]:
    """The differences of an answer from the reference, over the characters that OCR scoring counts.

    Both are aligned at the last layer of normalisation and shown as they were written. An answer of
    more than 6,000 characters (a repetition loop) is truncated.
    """
    left, right = _prepare_text(truth[:_LONGEST]), _prepare_text(answer[:_LONGEST])
    return _merge_neighbours(_single(left, right))


@lru_cache(maxsize=32)  # the same reference is compared with many answers, one after the other
def _prepare_text(text: str) -> _Text:
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
    """One difference per character, with the line breaks of the reference between them."""
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


def _merge_neighbours(singles: Iterator[Difference]) -> list[Difference]:
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

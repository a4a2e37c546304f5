"""Runs of characters that two texts have in common, and that stand nowhere else."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple


class SharedRun(NamedTuple):
    """A run of the first text that stands in the other too, as long as can be."""

    start: int
    text: str


def shared_runs(text: str, other: str, *, least: int) -> Iterator[SharedRun]:
    """The runs of `least` characters or more that stand in both, from left to right.

    A run is as long as can be, and the next one begins after it: where runs overlap, the one that
    begins first is kept.

    Raises:
        ValueError: `least` is below 1.
    """
    if least < 1:
        raise ValueError("a run has one character or more")
    places: dict[str, list[int]] = {}
    for at in range(len(other) - least + 1):
        places.setdefault(other[at : at + least], []).append(at)
    start = 0
    while start <= len(text) - least:
        length = max(
            (_alike(text, start, other, at) for at in places.get(text[start : start + least], ())),
            default=0,
        )
        if length:
            yield SharedRun(start, text[start : start + length])
        start += max(1, length)


def longest_shared(text: str, other: str, *, least: int = 1) -> str:
    """The longest run that stands in both; empty where none has `least` characters."""
    best = ""
    for start in range(len(text) - least + 1):
        size = max(least, len(best) + 1)
        while start + size <= len(text) and text[start : start + size] in other:
            best = text[start : start + size]
            size += 1
    return best


def stands_in(run: str, texts: Collection[str]) -> bool:
    """Whether a run stands in one of these texts."""
    return any(run in text for text in texts)


def _alike(text: str, start: int, other: str, at: int) -> int:
    length = 0
    while (
        start + length < len(text)
        and at + length < len(other)
        and text[start + length] == other[at + length]
    ):
        length += 1
    return length

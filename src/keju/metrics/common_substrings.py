"""Common substrings of two texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple


class CommonSubstring(NamedTuple):
    """A substring of the first text that the other text contains too, and where it starts."""

    start: int
    text: str


def find_common_substrings(text: str, other: str, *, least: int) -> Iterator[CommonSubstring]:
    """Yield the substrings of `least` characters or more that both texts contain, left to right.

    Each is as long as possible, and the next one begins after it: of overlapping ones, the first is
    kept.

    Raises:
        ValueError: `least` is below 1.
    """
    if least < 1:
        raise ValueError("`least` must be 1 or more")
    places: dict[str, list[int]] = {}
    for at in range(len(other) - least + 1):
        places.setdefault(other[at : at + least], []).append(at)
    start = 0
    while start <= len(text) - least:
        length = max(
            (
                _common_length(text, start, other, at)
                for at in places.get(text[start : start + least], ())
            ),
            default=0,
        )
        if length:
            yield CommonSubstring(start, text[start : start + length])
        start += max(1, length)


def find_longest_common(text: str, other: str, *, least: int = 1) -> str:
    """The longest substring that both texts contain; "" if none has `least` characters."""
    best = ""
    for start in range(len(text) - least + 1):
        size = max(least, len(best) + 1)
        while start + size <= len(text) and text[start : start + size] in other:
            best = text[start : start + size]
            size += 1
    return best


def occurs_in(part: str, texts: Collection[str]) -> bool:
    """Whether one of the texts contains a string."""
    return any(part in text for text in texts)


def _common_length(text: str, start: int, other: str, at: int) -> int:
    length = 0
    while (
        start + length < len(text)
        and at + length < len(other)
        and text[start + length] == other[at + length]
    ):
        length += 1
    return length

"""Anchors: characters of a reference matched with characters of a transcription.

A character that occurs once in both texts is an anchor by itself. A repeated character is an anchor
as part of a run: consecutive characters of the reference that have the same distance from each
other in the transcription, 1 where the order is kept, the number of columns where the page was read
in rows (our reading).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

_FURTHEST = 60
"""The greatest distance; pages have fewer columns."""

_MOST_STEPS = 6
"""The number of distances that are tried: those at which most neighbours of the reference are
found."""

_MOST_PAIRS = 30_000
"""The maximum number of pairs of equal characters; longer texts use only characters that occur
once."""

_BY_CHANCE = 0.05
"""The share of pages on which a run may occur by chance; less significant runs are ignored."""

_Place = tuple[int, int]
"""A position in the reference, and one in the transcription."""


class Anchor(NamedTuple):
    """A matched character: its positions in reference and hypothesis."""

    true: int
    read: int


class _Run(NamedTuple):
    """Equal characters at one distance; `weight` is how unlikely they are by chance (nats)."""

    weight: float
    places: tuple[_Place, ...]


def find_anchors(reference: str, hypothesis: str, *, repeated: bool = True) -> list[Anchor]:
    """The anchors in the order of the reference, each position of either text at most once.

    Anchors of `repeated` characters take about 10 ms per page.
    """
    said, there = Counter(hypothesis), Counter(reference)
    places: dict[str, list[int]] = defaultdict(list)
    for place, char in enumerate(hypothesis):
        places[char].append(place)
    found: dict[int, int] = {}
    taken: set[int] = set()
    pairs = sum(there[char] * said[char] for char in there)
    if repeated and 0 < pairs <= _MOST_PAIRS:
        for run in _runs(reference, hypothesis, places):
            _take(run.places, found, taken)
    once = (
        (place, places[char][0])
        for place, char in enumerate(reference)
        if there[char] == said[char] == 1
    )
    _take(once, found, taken)
    return [Anchor(*each) for each in sorted(found.items())]


def _take(pairs: Iterable[_Place], found: dict[int, int], taken: set[int]) -> None:
    for true, read in pairs:
        if true not in found and read not in taken:
            found[true] = read
            taken.add(read)


def _runs(reference: str, hypothesis: str, places: Mapping[str, Sequence[int]]) -> list[_Run]:
    """The runs that chance does not explain, the least likely first."""
    rarity = {char: log(len(hypothesis) / len(there)) for char, there in places.items()}
    steps = _steps(reference, places)
    needed = log(len(reference) * len(hypothesis) * len(steps) / _BY_CHANCE)
    runs = [run for step in steps for run in _runs_at(step, reference, places, rarity, needed)]
    return sorted(runs, key=lambda run: (-run.weight, run.places))


def _steps(reference: str, places: Mapping[str, Sequence[int]]) -> list[int]:
    """The distances at which most neighbours of the reference are found; rare ones count more."""
    hits: dict[int, float] = defaultdict(float)
    for pair, times in Counter(pairwise(reference)).items():
        first, second = (places.get(char, ()) for char in pair)
        apart = {b - a for a in first for b in second if 0 < b - a <= _FURTHEST}
        for step in apart:
            hits[step] += times / (len(first) * len(second))
    common = sorted(hits, key=lambda step: -hits[step])[:_MOST_STEPS]
    return sorted({1, 2, *common})


def _runs_at(
    step: int,
    reference: str,
    places: Mapping[str, Sequence[int]],
    rarity: Mapping[str, float],
    needed: float,
) -> list[_Run]:
    """The longest runs at a distance whose weight exceeds `needed`.

    One character of a run may be wrong between two right ones.
    """
    weights: dict[_Place, float] = {}
    before: dict[_Place, _Place] = {}
    inner: set[_Place] = set()
    for true, char in enumerate(reference):
        for read in places.get(char, ()):
            here = (true, read)
            weights[here] = rarity[char]
            for gap in (1, 2):
                last = (true - gap, read - gap * step)
                if last in weights:
                    weights[here] += weights[last]
                    before[here] = last
                    inner.add(last)
                    break
    ends = [end for end, weight in weights.items() if weight > needed and end not in inner]
    return [_Run(weights[end], _back(end, before)) for end in ends]


def _back(end: _Place, before: Mapping[_Place, _Place]) -> tuple[_Place, ...]:
    found = [end]
    while found[-1] in before:
        found.append(before[found[-1]])
    return tuple(reversed(found))

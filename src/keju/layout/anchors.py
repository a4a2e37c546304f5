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

import numpy as np
import numpy.typing as npt

_FURTHEST = 60
"""The greatest distance; pages have fewer columns."""

_WITHIN = (1 << _FURTHEST) - 1
"""A bit for each distance."""

_MOST_STEPS = 6
"""The number of distances that are tried: those at which most neighbours of the reference are
found."""

_MOST_PAIRS = 30_000
"""The maximum number of pairs of equal characters; longer texts use only characters that occur
once."""

_LARGEST_GAP = 2
"""The greatest distance in the reference between two characters of a run."""

_ROUNDING = 1e-6

_BY_CHANCE = 0.05
"""The share of pages on which a run may occur by chance; less significant runs are ignored."""

_Places = npt.NDArray[np.intp]

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
    rarity = {char: log(len(hypothesis) / len(matches)) for char, matches in places.items()}
    steps = _steps(reference, places)
    needed = log(len(reference) * len(hypothesis) * len(steps) / _BY_CHANCE)
    weights = [rarity.get(char, 0.0) for char in reference]
    matches = [places.get(char, ()) for char in reference]
    true = np.repeat(np.arange(len(reference)), [len(each) for each in matches])
    targets = np.array([place for each in matches for place in each])
    runs = [run for step in steps for run in _runs_at(step, true, targets, weights, needed)]
    return sorted(runs, key=lambda run: (-run.weight, run.places))


def _steps(reference: str, places: Mapping[str, Sequence[int]]) -> list[int]:
    """The distances at which most neighbours of the reference are found; rare ones count more."""
    hits: dict[int, float] = defaultdict(float)
    # One bit for each position, so that all distances from one position are found by one shift.
    bits = {char: sum(1 << place for place in there) for char, there in places.items()}
    for (char, following), times in Counter(pairwise(reference)).items():
        first, second = places.get(char, ()), bits.get(following, 0)
        apart = 0
        for place in first:
            apart |= second >> place + 1 & _WITHIN
        share = times / (len(first) * second.bit_count()) if apart else 0.0
        while apart:
            nearest = apart & -apart
            hits[nearest.bit_length()] += share
            apart ^= nearest
    common = sorted(hits, key=lambda step: -hits[step])[:_MOST_STEPS]
    return sorted({1, 2, *common})


def _runs_at(
    step: int, true: _Places, hypothesis: _Places, weights: Sequence[float], needed: float
) -> list[_Run]:
    """The longest runs at a distance whose weight exceeds `needed`.

    One character of a run may be wrong between two right ones.

    Args:
        step: the distance.
        true: positions in the reference of all pairs of equal characters.
        hypothesis: their positions in the hypothesis.
        weights: of each position of the reference.
        needed: the weight that chance reaches on few pages.
    """
    # All pairs of a run are on one line; along it a run ends where two characters are missing.
    line = hypothesis - step * true
    order = np.lexsort((true, line))
    line, true, hypothesis = line[order], true[order], hypothesis[order]
    starts = np.flatnonzero(
        np.concatenate([[True], (np.diff(line) != 0) | (np.diff(true) > _LARGEST_GAP)])
    )
    # These sums are rounded in another order than the exact ones below.
    sums = np.add.reduceat(np.take(weights, true), starts)
    ends = np.append(starts[1:], len(true))
    runs = []
    for run in np.flatnonzero(sums > needed - _ROUNDING).tolist():
        span = slice(starts[run], ends[run])
        places = tuple(zip(true[span].tolist(), hypothesis[span].tolist(), strict=True))
        weight = 0.0
        for place, _ in places:
            weight += weights[place]
        if weight > needed:
            runs.append(_Run(weight, places))
    return runs

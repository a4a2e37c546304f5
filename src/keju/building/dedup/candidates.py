"""Pictures that may be one: pairs that hashes or CLIP bring up, and those that hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.building.dedup.components import Indices, Joined

_BLOCK = 2048


class Candidate(NamedTuple):
    """Two pictures by index, the first below the second, and what brought them up.

    `distances` are those of the three hashes; `cosine` is CLIP's, NaN where it was not asked.
    """

    one: int
    other: int
    distances: tuple[int, int, int]
    cosine: float = float("nan")

    @property
    def pair(self) -> tuple[int, int]:
        """The two pictures."""
        return self.one, self.other


def near_vectors(
    vectors: NDArray[np.float32], least: float
) -> Iterator[tuple[Indices, NDArray[np.float32]]]:
    """Pairs of vectors of length 1 whose cosine is at least `least`, a block at a time.

    Yields:
        Pairs [2, n], the first below the second, and their cosines.
    """
    for top in range(0, len(vectors), _BLOCK):
        for left in range(0, top + 1, _BLOCK):
            cosines = vectors[left : left + _BLOCK] @ vectors[top : top + _BLOCK].T
            first, second = np.nonzero(cosines >= least)
            kept = first + left < second + top
            first, second = first[kept], second[kept]
            yield np.stack((first + left, second + top)), cosines[first, second]


def holding(
    candidates: Iterable[Candidate],
    size: int,
    compare: Callable[[list[Candidate]], list[float]],
    least: float,
) -> list[tuple[Candidate, float]]:
    """The candidates by which groups hang together, each with its likeness.

    What is joined already is not compared again: each round takes for every picture a few of its
    candidates, twice as many each time, so that a hundred copies cost a hundred comparisons.

    Args:
        candidates: pairs of pictures 0..size-1.
        size: how many pictures there are.
        compare: gives each pair its likeness.
        least: likeness from which a pair holds.
    """
    joined = Joined(size)
    held = []
    waiting = sorted(candidates, key=lambda each: (each.other, each.one))
    width = 1
    while waiting:
        now, later = _first_of_each(waiting, width)
        for each, found in zip(now, compare(now), strict=True):
            if found >= least and joined.join(*each.pair):
                held.append((each, found))
        if later:
            pairs = np.array([each.pair for each in later], np.int64).T
            apart = joined.apart(*pairs)
            waiting = [each for each, open_ in zip(later, apart, strict=True) if open_]
        else:
            waiting = []
        width *= 2
    return held


def _first_of_each(waiting: list[Candidate], width: int) -> tuple[list[Candidate], list[Candidate]]:
    now: list[Candidate] = []
    later: list[Candidate] = []
    taken: dict[int, int] = {}
    for each in waiting:
        taken[each.other] = taken.get(each.other, 0) + 1
        (now if taken[each.other] <= width else later).append(each)
    return now, later

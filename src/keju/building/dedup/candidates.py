"""Candidate pairs of duplicate images, found by hashes or CLIP, and those that are confirmed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.building.dedup.union_find import Indices, UnionFind

_BLOCK = 2048


class Candidate(NamedTuple):
    """Two images by index, the smaller index first, and how the pair was found.

    `distances` are those of the three hashes; `cosine` is CLIP's, NaN where it was not computed.
    """

    one: int
    other: int
    distances: tuple[int, int, int]
    cosine: float = float("nan")

    @property
    def pair(self) -> tuple[int, int]:
        """The two images."""
        return self.one, self.other


def find_near_vectors(
    vectors: NDArray[np.float32], least: float
) -> Iterator[tuple[Indices, NDArray[np.float32]]]:
    """Find the pairs of unit vectors whose cosine is at least `least`, one block at a time.

    Yields:
        Pairs [2, n], the smaller index first, and their cosines.
    """
    for top in range(0, len(vectors), _BLOCK):
        for left in range(0, top + 1, _BLOCK):
            cosines = vectors[left : left + _BLOCK] @ vectors[top : top + _BLOCK].T
            first, second = np.nonzero(cosines >= least)
            kept = first + left < second + top
            first, second = first[kept], second[kept]
            yield np.stack((first + left, second + top)), cosines[first, second]


def verify_candidates(
    candidates: Iterable[Candidate],
    size: int,
    compare: Callable[[list[Candidate]], list[float]],
    least: float,
) -> list[tuple[Candidate, float]]:
    """Verify candidates, and return those that connect groups, each with its similarity.

    Images that are already connected are not compared again: each round takes a few candidates of
    every image, twice as many each time, so that a hundred copies need a hundred comparisons.
    """
    joined = UnionFind(size)
    verified = []
    waiting = sorted(candidates, key=lambda each: (each.other, each.one))
    width = 1
    while waiting:
        now, later = _split_first(waiting, width)
        for each, found in zip(now, compare(now), strict=True):
            if found >= least and joined.join(*each.pair):
                verified.append((each, found))
        if later:
            pairs = np.array([each.pair for each in later], np.int64).T
            apart = joined.are_apart(*pairs)
            waiting = [each for each, open_ in zip(later, apart, strict=True) if open_]
        else:
            waiting = []
        width *= 2
    return verified


def _split_first(waiting: list[Candidate], width: int) -> tuple[list[Candidate], list[Candidate]]:
    now: list[Candidate] = []
    later: list[Candidate] = []
    taken: dict[int, int] = {}
    for each in waiting:
        taken[each.other] = taken.get(each.other, 0) + 1
        (now if taken[each.other] <= width else later).append(each)
    return now, later

"""Near-duplicate texts: candidates share a MinHash band, and are confirmed by exact Jaccard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.building.dedup.shingles import Keys, compute_band_keys, jaccard, make_shingles
from keju.building.dedup.union_find import Indices, UnionFind

THRESHOLD = 0.95
"""Jaccard of three-character shingles from which two texts are near duplicates."""

ANCHORS = 64
"""Members of a bucket that are compared with all later ones. A bucket of up to 65 is thereby
compared completely; a single anchor would lose the pairs that do not include it."""

Agree = Callable[[int, int], bool]


class NearPair(NamedTuple):
    """Two texts of one group, by index, and their exact Jaccard."""

    left: int
    right: int
    similarity: float


class NearPairs(NamedTuple):
    """The result of a search.

    Attributes:
        pairs: a spanning forest of the groups; each pair was compared and reached the threshold.
        compared: pairs that shared a band and were compared.
        capped: buckets with more members than anchors could compare completely.
    """

    pairs: list[NearPair]
    compared: int
    capped: int


def find_near_pairs(
    texts: Sequence[str],
    *,
    keys: Keys | None = None,
    scopes: NDArray[np.int64] | None = None,
    threshold: float = THRESHOLD,
    agree: Agree | None = None,
) -> NearPairs:
    """Find the pairs that join texts into groups of near duplicates.

    Args:
        texts: in canonical form.
        keys: their `compute_band_keys`, if already computed.
        scopes: a number per text, 0 or more and below 2^31; only texts of one scope are compared.
        threshold: minimum Jaccard of a pair.
        agree: an additional condition on a pair, by index.
    """
    keys = compute_band_keys(texts) if keys is None else keys
    wide = np.zeros(len(texts), np.uint64) if scopes is None else scopes.astype(np.uint64)
    search = _Search(texts, keys, threshold, agree)
    for band in range(len(keys)):
        search.compare_band(band, (wide << np.uint64(32)) | keys[band])
    return NearPairs(search.pairs, search.compared, search.capped)


class _Search:
    """The state of one search: texts that are already joined are not compared again."""

    def __init__(
        self, texts: Sequence[str], keys: Keys, threshold: float, agree: Agree | None
    ) -> None:
        self.pairs: list[NearPair] = []
        self.compared = self.capped = 0
        self._keys = keys
        self._threshold = threshold
        self._agree = agree
        self._joined = UnionFind(len(texts))
        self._in_capped = np.zeros(len(texts), bool)
        self._shingles = lru_cache(maxsize=256)(lambda at: make_shingles(texts[at]))

    def compare_band(self, band: int, buckets: NDArray[np.uint64]) -> None:
        """Compare the texts that share a bucket of one band."""
        members, starts, sizes = _find_shared_buckets(buckets)
        large = sizes > ANCHORS + 1
        self.capped += int(large.sum())
        for pairs in _iter_pairs(members, starts, sizes):
            left, right = pairs[:, self._joined.are_apart(*pairs)]
            before = (self._keys[:band, left] == self._keys[:band, right]).any(axis=0)
            new = ~before | self._in_capped[left]
            self._compare(left[new].tolist(), right[new].tolist())
        for start, size in zip(starts[large], sizes[large], strict=True):
            self._in_capped[members[start : start + size]] = True

    def _compare(self, left: list[int], right: list[int]) -> None:
        for one, other in zip(left, right, strict=True):
            self.compared += 1
            similarity = jaccard(self._shingles(one), self._shingles(other))
            if similarity < self._threshold or (self._agree and not self._agree(one, other)):
                continue
            if self._joined.join(one, other):
                self.pairs.append(NearPair(one, other, similarity))


def _find_shared_buckets(buckets: NDArray[np.uint64]) -> tuple[Indices, Indices, Indices]:
    """Find the buckets of two or more: all members in order, and each one's start and size."""
    order = np.argsort(buckets, kind="stable")
    ordered = buckets[order]
    edges = np.flatnonzero(np.diff(ordered)) + 1
    starts = np.concatenate(([0], edges)).astype(np.int64)
    sizes = np.diff(np.concatenate((starts, [len(buckets)])))
    shared = sizes > 1
    return order, starts[shared], sizes[shared]


def _iter_pairs(members: Indices, starts: Indices, sizes: Indices) -> Iterator[Indices]:
    """Yield pairs [2, n]: each bucket's first member with the later ones, then its second, etc."""
    for anchor in range(ANCHORS):
        open_ = sizes > anchor + 1
        starts, sizes = starts[open_], sizes[open_]
        if not len(starts):
            return
        later = sizes - anchor - 1
        left = np.repeat(members[starts + anchor], later)
        within = np.arange(later.sum()) - np.repeat(np.cumsum(later) - later, later)
        yield np.stack((left, members[np.repeat(starts + anchor + 1, later) + within]))

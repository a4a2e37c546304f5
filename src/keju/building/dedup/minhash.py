"""Near-duplicate texts: candidates share a MinHash band, and are confirmed by exact Jaccard.

Texts are sets of three-character shingles. A pair whose sets have Jaccard J agrees in one of 16
bands of 8 rows with probability 1 - (1 - J^8)^16: 1 - 3e-8 at .95, .94 at .8, .24 at .6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.building.dedup.union_find import Indices, UnionFind

SHINGLE = 3
"""Characters of a shingle; a shorter text is one shingle, padded with NUL."""
BANDS = 16
ROWS = 8

Keys = NDArray[np.uint32]

_CHUNK = 1000
"""Texts hashed at a time: their shingles stay in a processor's cache."""
_SEED = 20261121
_MIX = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_HALF = np.uint64(33)
_ROLL = np.uint64(0x9E3779B97F4A7C15)


def make_shingles(text: str) -> frozenset[str]:
    """Return the set of a text's shingles, never empty."""
    text = text.ljust(SHINGLE, "\0")
    return frozenset(text[at : at + SHINGLE] for at in range(len(text) - SHINGLE + 1))


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Compute the Jaccard similarity of two sets that are not empty, 0..1."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared)


def compute_band_keys(texts: Sequence[str]) -> Keys:
    """Compute MinHash of 128 permutations, folded into one key per band.

    Args:
        texts: any; characters are code points, so that Chinese needs no word segmentation.

    Returns:
        Keys [bands, texts]. Two equal sets of shingles have equal keys; the same texts have the
            same keys on every machine.
    """
    out = np.empty((BANDS, len(texts)), np.uint32)
    for start in range(0, len(texts), _CHUNK):
        few = texts[start : start + _CHUNK]
        out[:, start : start + len(few)] = _fold_rows(_compute_minima(few))
    return out


def _compute_minima(texts: Sequence[str]) -> Keys:
    """Compute each text's minimum hash under each permutation [bands * rows, texts]."""
    hashes, starts = _hash_shingles(texts)
    least = np.empty((BANDS * ROWS, len(texts)), np.uint32)
    permuted = np.empty_like(hashes)
    for row, factor in enumerate(_draw_factors()):
        # An odd factor permutes the 32-bit numbers; the hashes are already mixed.
        np.multiply(hashes, factor, out=permuted)
        np.minimum.reduceat(permuted, starts, out=least[row])
    return least


def _hash_shingles(texts: Sequence[str]) -> tuple[Keys, NDArray[np.int64]]:
    """Hash every shingle, text after text; return the hashes and the start of each text."""
    padded = [text.ljust(SHINGLE, "\0") for text in texts]
    # Three code points of 21 bits make one number of 63 without loss.
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), np.uint32)
    wide = codes.astype(np.uint64)
    packed = (wide[:-2] << np.uint64(42)) | (wide[1:-1] << np.uint64(21)) | wide[2:]
    ends = np.cumsum(np.fromiter(map(len, padded), np.int64, len(padded)))
    inside = np.ones(len(wide), bool)
    inside[ends - 1] = inside[ends - 2] = False
    starts = np.concatenate(([0], ends[:-1] - (SHINGLE - 1) * np.arange(1, len(ends))))
    return (_mix(packed[inside[:-2]]) >> np.uint64(32)).astype(np.uint32), starts


def _fold_rows(least: Keys) -> Keys:
    """Fold the rows of each band into one key [bands, texts]."""
    rows = least.reshape(BANDS, ROWS, -1).astype(np.uint64)
    key = np.zeros_like(rows[:, 0])
    for row in range(ROWS):
        key = _mix(key * _ROLL + rows[:, row])
    return (key >> np.uint64(32)).astype(np.uint32)


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply MurmurHash3's last step: every bit of a number affects every bit of its hash."""
    mixed = numbers ^ (numbers >> _HALF)
    for factor in _MIX:
        mixed *= factor
        mixed ^= mixed >> _HALF
    return mixed


@cache
def _draw_factors() -> Keys:
    odd = np.random.default_rng(_SEED).integers(0, 2**31, BANDS * ROWS, dtype=np.uint64) * 2 + 1
    return odd.astype(np.uint32)


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

"""Texts as sets of three-character shingles: exact Jaccard, and MinHash band keys by numpy.

A pair whose sets have Jaccard J agrees in one of 16 bands of 8 rows with probability 1 - (1 -
J^8)^16: 1 - 3e-8 at .95, .94 at .8, .24 at .6. Pairs that agree are candidates and must be
compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

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

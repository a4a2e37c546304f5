"""Similarity of meaning: the cosine of vectors, and the scales of BERTScore and cosines."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from keju.metrics.base import PRF


def cosine(first: ArrayLike, second: ArrayLike) -> float:
    """Cosine of two vectors of one length, in [-1, 1]; 0 where either is all zero."""
    left = np.asarray(first, dtype=np.float64)
    right = np.asarray(second, dtype=np.float64)
    lengths = float(np.linalg.norm(left) * np.linalg.norm(right))
    if lengths == 0.0:
        return 0.0
    return min(1.0, max(-1.0, float(left @ right) / lengths))


def rescale(score: PRF, baseline: PRF) -> PRF:
    """Each of the three on the scale where `baseline` is 0 and identity 1; may be negative.

    Zhang et al. 2020, section 3, "baseline rescaling", (x - b) / (1 - b).
    """
    return PRF(*((x - b) / (1 - b) for x, b in zip(score, baseline, strict=True)))


def above_floor(value: float, floor: float) -> float:
    """`value` on the scale where `floor` is 0 and identity 1, cut to [0, 1] (our reading).

    If the floor itself is 1, the encoder does not distinguish the references, and the result is 0.
    """
    if floor >= 1.0:
        return 0.0
    return min(1.0, max(0.0, (value - floor) / (1 - floor)))

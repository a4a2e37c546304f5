"""Named entities: precision and recall of the names that a model lists."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from keju.metrics.base import PRF, prf


def entities_prf(reference: AbstractSet[str], hypothesis: AbstractSet[str]) -> PRF:
    """P, R, F1 over sets of names."""
    return prf(len(reference & hypothesis), len(hypothesis), len(reference))

"""Named entities: the list that a model gives, against the true one."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from keju.metrics.base import PRF, prf


def official_entities_prf(reference: str, hypothesis: str) -> PRF:
    """P, R, F1 over sets, both texts split at 、 alone, the hypothesis stripped at its ends.

    MCS-Bench's script: an empty text is the set of one empty name, so two empty texts agree.
    """
    wanted = set(reference.split("、"))
    return entities_prf(wanted, set(hypothesis.strip().split("、")))


def entities_prf(reference: AbstractSet[str], hypothesis: AbstractSet[str]) -> PRF:
    """P, R, F1 over sets of names."""
    return prf(len(reference & hypothesis), len(hypothesis), len(reference))

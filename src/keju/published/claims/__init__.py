"""Claims of the papers' texts as data, each decided by the printed tables.

`quantities` has what can be computed, `statements` what can be true of it, `claim` the format of
claims.toml and the verdicts.
"""

from keju.published.claims.claim import (
    Claim,
    ClaimDecision,
    Verdict,
    decide,
    declared_claims,
)

__all__ = [
    "Claim",
    "ClaimDecision",
    "Verdict",
    "decide",
    "declared_claims",
]

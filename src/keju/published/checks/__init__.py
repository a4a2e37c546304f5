"""The few general checks that the declarations in data/checks apply to printed tables."""

from keju.published.checks.base import Check, Mismatch, Outcome, Severity
from keju.published.checks.bounds import Below, Between, Bound, Ceiling, Harmonic
from keju.published.checks.claims import Beside, Best, Covers, Names, Orders, Rank
from keju.published.checks.grids import BelowChance, Counts, Rounds
from keju.published.checks.marks import Marks
from keju.published.checks.sums import Differ, Linear, Mean, RowMean, Same, Total

AnyCheck = (
    Mean | RowMean | Linear | Same | Differ | Total
    | Counts | Rounds | BelowChance
    | Bound | Harmonic | Between | Ceiling | Below
    | Marks | Rank | Best | Beside | Orders | Covers | Names
)  # fmt: skip

__all__ = ["AnyCheck", "Check", "Mismatch", "Outcome", "Severity"]

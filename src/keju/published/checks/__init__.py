"""The few general checks that the declarations in checks.toml apply to printed tables."""

from keju.published.checks.base import Certainty, Check, Mismatch, Outcome, Severity, Size, size_of
from keju.published.checks.bounds import Below, Between, Bound, Ceiling, Harmonic
from keju.published.checks.grids import BelowChance, Counts, Rounds
from keju.published.checks.marks import Marks
from keju.published.checks.repeats import RepeatedColumns
from keju.published.checks.rows import Best, Covers, Names, Orders, Rank, Releases
from keju.published.checks.sums import Linear, Mean, RowMean, Same, Total

AnyCheck = (
    Mean | RowMean | Linear | Same | RepeatedColumns | Total
    | Counts | Rounds | BelowChance
    | Bound | Harmonic | Between | Ceiling | Below
    | Marks | Rank | Best | Orders | Covers | Names | Releases
)  # fmt: skip

__all__ = [
    "AnyCheck",
    "Certainty",
    "Check",
    "Mismatch",
    "Outcome",
    "Severity",
    "Size",
    "size_of",
]

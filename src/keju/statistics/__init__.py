"""How sure a number is, and how far raters agree."""

from keju.statistics.agreement import Alpha, Measure, krippendorff_alpha
from keju.statistics.bootstrap import Interval, group_bootstrap
from keju.statistics.correlation import (
    Deviation,
    PairCounts,
    deviation,
    kendall,
    kendall_paper,
    pair_counts,
    pearson,
    spearman,
    spearman_paper,
)

__all__ = [
    "Alpha",
    "Deviation",
    "Interval",
    "Measure",
    "PairCounts",
    "deviation",
    "group_bootstrap",
    "kendall",
    "kendall_paper",
    "krippendorff_alpha",
    "pair_counts",
    "pearson",
    "spearman",
    "spearman_paper",
]

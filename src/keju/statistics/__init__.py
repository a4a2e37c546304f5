"""Statistics: confidence intervals, tests, correlation, and agreement of raters."""

from keju.statistics.agreement import Alpha, Measure, krippendorff_alpha
from keju.statistics.association import (
    MEASURES,
    Association,
    AssociationMeasure,
    Correlation,
    associate,
)
from keju.statistics.bootstrap import (
    FEWEST_GROUPS,
    GroupSums,
    Interval,
    group_bootstrap,
    group_sums,
    interval_of,
    interval_of_values,
    resample,
)
from keju.statistics.comparison import (
    Difference,
    compare,
    detectable_difference,
    groups_needed,
    holm,
    pairwise_p,
    randomisation_p,
    rank_sets,
    spread_of_differences,
)
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
from keju.statistics.risk import RiskCoverage, RiskIntervals, risk_coverage, risk_intervals
from keju.statistics.spread import Spread, spread
from keju.statistics.suite import TaskSums, resample_suite
from keju.statistics.variants import VariantSpread, macro_variant_spread, variant_spread

__all__ = [
    "FEWEST_GROUPS",
    "MEASURES",
    "Alpha",
    "Association",
    "AssociationMeasure",
    "Correlation",
    "Deviation",
    "Difference",
    "GroupSums",
    "Interval",
    "Measure",
    "PairCounts",
    "RiskCoverage",
    "RiskIntervals",
    "Spread",
    "TaskSums",
    "VariantSpread",
    "associate",
    "compare",
    "detectable_difference",
    "deviation",
    "group_bootstrap",
    "group_sums",
    "groups_needed",
    "holm",
    "interval_of",
    "interval_of_values",
    "kendall",
    "kendall_paper",
    "krippendorff_alpha",
    "macro_variant_spread",
    "pair_counts",
    "pairwise_p",
    "pearson",
    "randomisation_p",
    "rank_sets",
    "resample",
    "resample_suite",
    "risk_coverage",
    "risk_intervals",
    "spearman",
    "spearman_paper",
    "spread",
    "spread_of_differences",
    "variant_spread",
]

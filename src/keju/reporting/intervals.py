"""Confidence intervals of task values, from the sufficient statistics of their scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from keju.items import Protocol, Score
from keju.scoring import is_ratio_of_sums
from keju.statistics import Interval, group_bootstrap

Measured = tuple[str, str, str, Protocol, str]
"""Model, task, query, protocol and metric."""


def intervals(scores: Iterable[Score], *, metrics: set[Measured]) -> dict[Measured, Interval]:
    """The 95 % interval by group of each requested value.

    A value that is not a ratio of sums (a median, a harmonic mean) and one from a single group have
    none.
    """
    grouped: dict[Measured, list[Score]] = defaultdict(list)
    for score in scores:
        key = (score.model, score.task, score.query, score.protocol, score.metric)
        if key in metrics and score.value is not None and is_ratio_of_sums(score):
            grouped[key].append(score)
    found = {key: interval_of_scores(of_metric) for key, of_metric in grouped.items()}
    return {key: interval for key, interval in found.items() if interval is not None}


def interval_of_scores(scores: Sequence[Score]) -> Interval | None:
    """The interval of the value of one model's scores of one metric, a ratio of sums.

    All tables use this function, so that a value has the same interval everywhere.
    """
    return group_bootstrap(
        [score.stats["numerator"] for score in scores],
        [score.stats["denominator"] for score in scores],
        [score.group or score.item for score in scores],
    )

"""Confidence intervals of task values, from the sufficient statistics of their scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from keju.items import Protocol, Score
from keju.scoring import is_ratio_of_sums
from keju.statistics import (
    Interval,
    TaskSums,
    group_bootstrap,
    interval_of_values,
    resample_suite,
)

MetricValue = tuple[str, str, str, Protocol, str]
"""Model, task, query, protocol and metric."""


def intervals(scores: Iterable[Score], *, metrics: set[MetricValue]) -> dict[MetricValue, Interval]:
    """The 95 % interval by group of each requested value.

    A value that is not a ratio of sums or a mean of such ratios (a median, a harmonic mean) and one
    from a single group have none.
    """
    grouped: dict[MetricValue, list[Score]] = defaultdict(list)
    for score in scores:
        key = (score.model, score.task, score.query, score.protocol, score.metric)
        if key in metrics and score.value is not None and has_interval(score):
            grouped[key].append(score)
    found = {key: interval_of_scores(of_metric) for key, of_metric in grouped.items()}
    return {key: interval for key, interval in found.items() if interval is not None}


def intervals_of_mains(
    mains: Iterable[Mapping[tuple[str, str], Iterable[Score]]], *, metrics: set[MetricValue]
) -> dict[MetricValue, Interval]:
    """`intervals` of scores by task and query; the scores of one task at a time are in memory."""
    found: dict[MetricValue, Interval] = {}
    for by_query in mains:
        for scores in by_query.values():
            found |= intervals(scores, metrics=metrics)
    return found


def has_interval(score: Score) -> bool:
    """Whether a value over scores like this one is a ratio of sums or a mean of such ratios."""
    return is_ratio_of_sums(score) or "positive" in score.stats


def ratios_of(scores: Sequence[Score]) -> Iterator[list[Score]]:
    """Parts whose plain mean is the value, each a ratio of sums: for most metrics one.

    Balanced accuracy has one for each class.
    """
    if is_ratio_of_sums(scores[0]):
        yield list(scores)
    elif "positive" in scores[0].stats:
        for side in sorted({score.stats["positive"] for score in scores}):
            yield [score for score in scores if score.stats["positive"] == side]


def interval_of_scores(scores: Sequence[Score]) -> Interval | None:
    """The interval of the value of one model's scores of one metric (see `has_interval`).

    All tables use this function, so that a value has the same interval everywhere.
    """
    if not is_ratio_of_sums(scores[0]):
        return _interval_of_mean(list(ratios_of(scores)))
    return group_bootstrap(
        [score.stats["numerator"] for score in scores],
        [score.stats["denominator"] for score in scores],
        [score.group or score.item for score in scores],
    )


def _interval_of_mean(parts: Sequence[Sequence[Score]]) -> Interval | None:
    """The interval of the plain mean of ratios whose groups are drawn together."""
    names = sorted({score.group or score.item for part in parts for score in part})
    rows = {name: row for row, name in enumerate(names)}
    sums = []
    for part in parts:
        top, bottom = np.zeros((2, len(rows), 1))
        where = [rows[score.group or score.item] for score in part]
        np.add.at(top[:, 0], where, [score.stats["numerator"] for score in part])
        np.add.at(bottom[:, 0], where, [score.stats["denominator"] for score in part])
        sums.append(TaskSums(np.arange(len(rows)), top, bottom))
    values = resample_suite(sums, groups=len(rows))[:, :, 0]
    # A draw without a class keeps the value of all its answers.
    whole = np.array([each.top.sum() / each.bottom.sum() for each in sums])
    values = np.where(np.isnan(values), whole, values)
    return interval_of_values(np.asarray(values.mean(axis=1)), len(rows))

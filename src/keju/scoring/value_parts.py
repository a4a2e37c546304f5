"""The parts of a value that is resampled or tested: ratios of sums by group, with weights.

A task's value is one ratio of sums, or the plain mean of some (balanced accuracy has one for each
class). A domain and a benchmark are weighted sums of those of their tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from keju.items import Score
from keju.scoring.aggregate import Columns, columns_of, metric_of_score
from keju.scoring.metric import Metric
from keju.statistics import Ratio, number_names

_CLASS = "positive"
"""The statistic with the class of an item, of metrics that are means over classes."""


def number_units(scores: Iterable[Score]) -> dict[str, int]:
    """The numbers of the units of some scores, for all parts of one value."""
    return number_names(score.unit for score in scores)


def task_parts(
    scores: Sequence[Score],
    models: Sequence[str],
    numbers: Mapping[str, int],
    *,
    weight: float = 1.0,
) -> list[Ratio]:
    """The parts of one task's value, with a column for each model.

    Args:
        scores: scores of one metric of a task with a value; those of other models are ignored. All
            `models` should have scores of the same items.
        models: the models, in the order of the columns.
        numbers: the number of each unit (`number_units`).
        weight: the weight of the task in the value.

    Returns:
        The parts; empty without scores of the models, or where the metric has no parts.
    """
    columns = {model: column for column, model in enumerate(models)}
    chosen = [score for score in scores if score.model in columns and score.value is not None]
    if not chosen:
        return []
    return sum_parts(
        metric_of_score(chosen[0]),
        columns_of([score.stats for score in chosen]),
        [numbers[score.unit] for score in chosen],
        [columns[score.model] for score in chosen],
        weight=weight,
    )


def sum_parts(
    metric: Metric | None,
    parts: Columns,
    units: Sequence[int],
    columns: Sequence[int],
    *,
    weight: float = 1.0,
) -> list[Ratio]:
    """The parts of one task's value, from the statistics of its scores.

    Args:
        metric: the metric; None for one without a declaration, which is a ratio of sums.
        parts: the statistics of the scores.
        units: the number of each score's unit.
        columns: the column of each score: 0 for the first model or side, and so on.
        weight: the weight of the task in the value.

    Returns:
        The parts; empty where the value is neither a ratio of sums nor a mean of such ratios (a
        median, a harmonic mean), and so has no interval and no test.
    """
    classes = np.zeros(len(units))
    if metric and metric.over.value:
        if _CLASS not in parts:
            return []
        classes = parts[_CLASS]
    labels, ratios = np.unique(classes), []
    for label in labels:
        own = classes == label
        groups, rows = np.unique(np.asarray(units, dtype=np.intp)[own], return_inverse=True)
        cells = rows, np.asarray(columns, dtype=np.intp)[own]
        top, bottom = np.zeros((2, len(groups), max(columns) + 1))
        np.add.at(top, cells, parts["numerator"][own])
        np.add.at(bottom, cells, parts["denominator"][own])
        ratios.append(Ratio(groups, top, bottom, weight / len(labels)))
    return ratios


def mean_weights(domains: Mapping[str, Collection[str]]) -> dict[str, float]:
    """The weight of each task in the plain mean over domains of plain means over tasks."""
    return {name: 1 / (len(domains) * len(names)) for names in domains.values() for name in names}

"""The parts of a value that is resampled or tested: ratios of sums by group, with weights.

A task's value is one ratio of sums, or the plain mean of some (balanced accuracy has one for each
class). A domain and a benchmark are weighted sums of those of their tasks.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from keju.items import Score
from keju.scoring.aggregate import is_ratio_of_sums
from keju.scoring.metric import Stats
from keju.statistics import Ratio, number_names

_CLASS = "positive"
"""The statistic with the class of an item, of metrics that are means over classes."""


def has_parts(score: Score) -> bool:
    """Whether a value over scores like this one is a ratio of sums or a mean of such ratios.

    Others (a median, a harmonic mean) have no interval and no test.
    """
    return is_ratio_of_sums(score) or _CLASS in score.stats


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
    if not chosen or not has_parts(chosen[0]):
        return []
    classes = classes_of(chosen[0], (score.stats for score in chosen))
    return [
        _sum([chosen[place] for place in places], columns, numbers, weight / len(classes))
        for places in classes
    ]


def mean_weights(domains: Mapping[str, Collection[str]]) -> dict[str, float]:
    """The weight of each task in the plain mean over domains of plain means over tasks."""
    return {name: 1 / (len(domains) * len(names)) for names in domains.values() for name in names}


def classes_of(score: Score, stats: Iterable[Stats]) -> list[list[int]]:
    """The indices of the items of each part of a value with parts, `score` being one of them."""
    ratio = is_ratio_of_sums(score)
    classes: dict[float, list[int]] = {}
    for place, of_item in enumerate(stats):
        classes.setdefault(0.0 if ratio else of_item[_CLASS], []).append(place)
    return [classes[label] for label in sorted(classes)]


def _sum(
    scores: Sequence[Score], columns: Mapping[str, int], numbers: Mapping[str, int], weight: float
) -> Ratio:
    unit_of, column_of, above, below = array("q"), array("q"), array("d"), array("d")
    for score in scores:
        unit_of.append(numbers[score.unit])
        column_of.append(columns[score.model])
        above.append(score.stats["numerator"])
        below.append(score.stats["denominator"])
    groups, rows = np.unique(np.asarray(unit_of, dtype=np.intp), return_inverse=True)
    top, bottom = np.zeros((2, len(groups), len(columns)))
    cells = rows, np.asarray(column_of, dtype=np.intp)
    np.add.at(top, cells, above)
    np.add.at(bottom, cells, below)
    return Ratio(groups, top, bottom, weight)

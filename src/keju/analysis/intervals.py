"""`ScoredTask`: the items of a task that models answered, and the intervals of their values."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from keju.items import Score, better_end
from keju.scoring.value_parts import number_units, task_parts
from keju.statistics import Interval, Ratio, intervals, widest

Flags = npt.NDArray[np.bool_]
Rounds = npt.NDArray[np.int_]


class ItemsOfModel(NamedTuple):
    """The items of a task that a model answered, failures included, and those with a value.

    Two models have the same items if their digests are equal. `rounds` is the number of answers to
    each item; a model with more answers to some items than to others has 1, and other items than a
    model with equally many.
    """

    digest: bytes
    rounds: int
    answered: Flags
    valued: Flags

    @property
    def answers(self) -> int:
        """The number of answered items."""
        return int(self.answered.sum())

    @property
    def values(self) -> int:
        """The number of items with a value."""
        return int(self.valued.sum())

    def count_lacking(self, items: ItemsOfModel | None) -> int:
        """How many of these items another model of the task lacks (None: it answered none).

        Items with a value or, if it has all of them, items that were answered.
        """
        if items is None:
            return self.values
        without_value = int((self.valued & ~items.valued).sum())
        return without_value or int((self.answered & ~items.answered).sum())


class TaskColumns(NamedTuple):
    """The parts of a task's value for models with the same items, a column for each model.

    Without parts the value has no interval and no test. `parts_if_right` are those if every unclear
    answer were right: `parts` itself where no answer is unclear.
    """

    models: list[str]
    parts: list[Ratio]
    parts_if_right: list[Ratio]


class ScoredTask(NamedTuple):
    """The scores of one metric of a task, as sums by unit.

    `items` are those of each model with scores, `units` the names of the units of independence in
    the order of the numbers in `columns`. `read_by` counts the answers of each model by who read
    them, as `keju.scoring.TaskResult.read_by`.
    """

    metric: str
    items: Mapping[str, ItemsOfModel]
    columns: Sequence[TaskColumns]
    units: Sequence[str]
    read_by: Mapping[str, Counter[str]]

    def parts_of(self, models: Sequence[str], *, if_right: bool = False) -> list[Ratio]:
        """The parts of the value of models with the same items, in the order of the models."""
        for columns in self.columns:
            if models[0] in columns.models:
                places = [columns.models.index(model) for model in models]
                return [
                    part._replace(top=part.top[:, places], bottom=part.bottom[:, places])
                    for part in (columns.parts_if_right if if_right else columns.parts)
                ]
        return []

    def renumbered(self, numbers: Mapping[str, int]) -> ScoredTask:
        """The same with another numbering of the units, of all tasks of a mean."""
        of_unit = np.array([numbers[name] for name in self.units], dtype=np.intp)

        def renumber(parts: Sequence[Ratio]) -> list[Ratio]:
            return [part._replace(groups=of_unit[part.groups]) for part in parts]

        columns = []
        for of_models in self.columns:
            parts = if_right = renumber(of_models.parts)
            if of_models.parts_if_right is not of_models.parts:
                if_right = renumber(of_models.parts_if_right)
            columns.append(TaskColumns(of_models.models, parts, if_right))
        return self._replace(columns=columns)

    def intervals(self) -> dict[str, Interval]:
        """The 95 % interval of the value of each model that has one (see `range_intervals`)."""
        return {
            model: interval
            for columns in self.columns
            if columns.parts
            for model, interval in zip(
                columns.models,
                range_intervals(columns.parts, columns.parts_if_right),
                strict=True,
            )
            if interval
        }

    def most_items(self, models: Iterable[str]) -> set[str]:
        """Those of some models that have the same items as the one with the most of them."""
        items = {model: self.items[model] for model in models if model in self.items}
        if not items:
            return set()
        fullest = max(sorted(items), key=lambda model: items[model].values)
        digest = items[fullest].digest
        return {model for model, of_model in items.items() if of_model.digest == digest}


def range_intervals(parts: list[Ratio], parts_if_right: list[Ratio]) -> Sequence[Interval | None]:
    """The interval of each column, from the lower end's low to the upper end's high.

    Args:
        parts: the parts of the value with unclear answers as wrong.
        parts_if_right: those if they were right; the same list where none is unclear.
    """
    lower_ends = intervals(parts)
    if parts_if_right is parts:
        return lower_ends
    return [widest(*ends) for ends in zip(lower_ends, intervals(parts_if_right), strict=True)]


def read_task(scores: Iterable[Score], models: Collection[str] | None = None) -> ScoredTask:
    """Sum the scores of one metric of a task by unit.

    All intervals, tests and ranks use this function, so that a value has the same interval
    everywhere and in whatever order its scores are.

    Args:
        scores: the scores, those without a value included.
        models: the models that count; by default all.
    """
    chosen = [score for score in scores if models is None or score.model in models]
    items = _items_by_model(chosen)
    valued: dict[str, list[Score]] = {model: [] for model in items}
    for score in chosen:
        if score.value is not None:
            valued[score.model].append(score)
    numbers = number_units(score for of_model in valued.values() for score in of_model)
    alike: dict[bytes, list[str]] = {}
    for model, of_model in items.items():
        alike.setdefault(of_model.digest, []).append(model)
    columns = []
    for names in alike.values():
        of_names = [score for model in names for score in valued[model]]
        # Rounds count as one: the models of a test must have equal sums of weights.
        rounds = np.array([items[model].rounds for model in names])
        parts = if_right = _parts(of_names, names, numbers, rounds)
        if any(score.if_right for score in of_names):
            if_right = _parts(list(map(better_end, of_names)), names, numbers, rounds)
        columns.append(TaskColumns(names, parts, if_right))
    read_by: dict[str, Counter[str]] = {
        model: Counter(score.read_by for score in of_model if score.read_by)
        for model, of_model in valued.items()
    }
    metric = chosen[0].metric if chosen else ""
    return ScoredTask(metric, items, columns, list(numbers), read_by)


def _parts(
    scores: Sequence[Score], models: Sequence[str], numbers: Mapping[str, int], rounds: Rounds
) -> list[Ratio]:
    return [
        part._replace(top=part.top / rounds, bottom=part.bottom / rounds)
        for part in task_parts(scores, models, numbers)
    ]


def task_intervals(scores: Iterable[Score]) -> dict[str, Interval]:
    """The 95 % interval of a task's value by model, from the scores of one metric.

    A value that is not a ratio of sums or a mean of such ratios (a median, a harmonic mean) has
    none, and one from fewer than six units neither.
    """
    return read_task(scores).intervals()


def _items_by_model(scores: Sequence[Score]) -> dict[str, ItemsOfModel]:
    rows: dict[str, int] = {}
    columns: dict[str, int] = {}
    row_of, column_of, has_value = array("q"), array("q"), array("b")
    for score in scores:
        row_of.append(rows.setdefault(score.model, len(rows)))
        column_of.append(columns.setdefault(score.item, len(columns)))
        has_value.append(score.value is not None)
    answered, valued = np.zeros((2, len(rows), len(columns)), dtype=np.int32)
    np.add.at(answered, (row_of, column_of), 1)
    np.add.at(valued, (row_of, column_of), np.asarray(has_value, dtype=np.int32))
    items = {}
    for model, row in rows.items():
        rounds = int(np.gcd.reduce(np.concatenate([answered[row], valued[row]])))
        digest = sha256((answered[row] // rounds).tobytes() + (valued[row] // rounds).tobytes())
        items[model] = ItemsOfModel(digest.digest(), rounds, answered[row] > 0, valued[row] > 0)
    return items

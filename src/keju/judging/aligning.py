"""Alignment of judges with people: correlation of their grades, and the best judge.

The measures are Pearson, Spearman, Kendall, MSE, MAE and bias (human - model). The formulas of
Spearman and Kendall that papers print do not handle ties, which are frequent in grades, so the
corrected forms are computed too; by them the best judge is selected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from keju.items import Record
from keju.judging.answers import AnswerId
from keju.judging.ratings import RatedAnswer, Ratings
from keju.metrics.base import UndefinedMetricError
from keju.statistics import (
    MEASURES,
    Association,
    AssociationMeasure,
    associate,
    krippendorff_alpha,
)
from keju.statistics.resampling import Floats, interval_of_values

Grades = Mapping[str, Mapping[AnswerId, float]]
"""Grades by judge and answer."""

PERSON = "a person"
"""In place of a judge's name: this row compares one rater with the mean of the other raters."""

BEST_JUDGE_MEASURES: tuple[AssociationMeasure, ...] = (
    "pearson",
    "spearman",
    "kendall",
    "mse",
    "mae",
    "bias",
)
"""The measures by which the best judge is selected; a bias is better if it is nearer to 0."""


class Estimate(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A measure with its 95 % interval by group; None where it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None


class TaskAlignment(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The alignment of one judge with people on one task; an empty task means all together.

    `measures` are named as in `keju.statistics`; those in ``_paper`` are the papers' formulas.
    """

    judge: str
    task: str
    answers: int
    groups: int
    measures: dict[str, Estimate]


class BestJudge(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The best judge by one measure, over the answers that every judge graded.

    `difference` is its advantage over `runner_up`, with its interval by a paired bootstrap. It
    `is_significant` if the interval of its difference to every other judge is above 0; JSON files
    call this ``sure``.
    """

    measure: str
    judge: str
    runner_up: str
    answers: int
    difference: float
    low: float | None
    high: float | None
    is_significant: bool = msgspec.field(name="sure")


class RaterAgreement(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Agreement among people: Krippendorff's alpha; an empty task means all together."""

    task: str
    raters: int
    answers: int
    ratings: int
    alpha_interval: float | None
    alpha_ordinal: float | None


class Point(Record, frozen=True, kw_only=True):
    """One answer in a scatter plot: the grade of people, and of a judge."""

    judge: str
    task: str
    model: str
    item: str
    human: float
    grade: float


class Alignment(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The whole result. `ungraded` counts, by judge, rated answers without a grade."""

    answers: int
    ratings: int
    blank: int
    raters: tuple[RaterAgreement, ...]
    tasks: tuple[TaskAlignment, ...]
    best: tuple[BestJudge, ...]
    ungraded: dict[str, int]
    points: tuple[Point, ...] = ()


def align(ratings: Ratings, grades: Grades) -> Alignment:
    """Compare judges with people.

    Args:
        ratings: people's grades; several raters of one answer count as their mean.
        grades: judges' grades, in addition to those in the ratings.
    """
    rated = ratings.rated
    merged = _merged(rated, grades)
    rows = [
        _alignment(judge, task, chosen, merged[judge])
        for judge in merged
        for task, chosen in _scopes(rated)
    ]
    people = [row for task, chosen in _scopes(rated) for row in _people(task, chosen)]
    return Alignment(
        answers=len(rated),
        ratings=sum(len(each.raters) for each in rated),
        blank=ratings.blank,
        raters=tuple(_agreement(task, chosen) for task, chosen in _scopes(rated)),
        tasks=tuple(row for row in (*rows, *people) if row.answers),
        best=tuple(_best(rated, merged)),
        ungraded={
            judge: missing
            for judge, given in merged.items()
            if (missing := sum(each.which not in given for each in rated))
        },
        points=tuple(
            Point(
                judge=judge,
                task=each.which.task,
                model=each.which.model,
                item=each.which.item,
                human=each.human,
                grade=grade,
            )
            for judge, given in merged.items()
            for each in rated
            if (grade := given.get(each.which)) is not None
        ),
    )


def _merged(rated: Sequence[RatedAnswer], grades: Grades) -> dict[str, dict[AnswerId, float]]:
    """All judges' grades of the rated answers; those of a sheet have priority over a run's."""
    found: dict[str, dict[AnswerId, float]] = defaultdict(dict)
    for judge, given in grades.items():
        for each in rated:
            if each.which in given:
                found[judge][each.which] = given[each.which]
    for each in rated:
        for judge, grade in each.judges.items():
            found[judge][each.which] = grade
    return dict(found)


def _scopes(rated: Sequence[RatedAnswer]) -> Iterator[tuple[str, list[RatedAnswer]]]:
    """Each task's answers, then all together where there is more than one task."""
    tasks: dict[str, list[RatedAnswer]] = defaultdict(list)
    for each in rated:
        tasks[each.which.task].append(each)
    yield from tasks.items()
    if len(tasks) > 1:
        yield "", list(rated)


def _alignment(
    judge: str,
    task: str,
    chosen: Sequence[RatedAnswer],
    given: Mapping[AnswerId, float],
) -> TaskAlignment:
    both = [each for each in chosen if each.which in given]
    return _row(
        judge,
        task,
        [each.human for each in both],
        [given[each.which] for each in both],
        [each.group for each in both],
    )


def _people(task: str, chosen: Sequence[RatedAnswer]) -> Iterator[TaskAlignment]:
    """Each rating against the mean of the answer's other raters: a ceiling for judges.

    The bias is 0 by construction, so it is not reported.
    """
    human, person, groups = [], [], []
    for each in chosen:
        total, count = sum(each.raters.values()), len(each.raters)
        for score in each.raters.values() if count > 1 else ():
            human.append((total - score) / (count - 1))
            person.append(score)
            groups.append(each.group)
    if human:
        row = _row(PERSON, task, human, person, groups)
        measures = {name: each for name, each in row.measures.items() if name != "bias"}
        yield replace(row, measures=measures)


def _row(
    judge: str,
    task: str,
    human: Sequence[float],
    given: Sequence[float],
    groups: Sequence[str],
) -> TaskAlignment:
    if not human:
        return TaskAlignment(judge=judge, task=task, answers=0, groups=0, measures={})
    found = associate(human, given, groups)
    return TaskAlignment(
        judge=judge,
        task=task,
        answers=len(human),
        groups=found.groups,
        measures={measure: _estimate(found, measure) for measure in MEASURES},
    )


def _estimate(found: Association, measure: AssociationMeasure) -> Estimate:
    interval = found.interval(measure)
    return Estimate(
        value=found.values[measure],
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def _best(
    rated: Sequence[RatedAnswer], grades: Mapping[str, Mapping[AnswerId, float]]
) -> Iterator[BestJudge]:
    """The best judge by each measure; none with fewer than two judges, or no common answer."""
    common = [each for each in rated if all(each.which in given for given in grades.values())]
    if len(grades) < 2 or not common:
        return
    human, groups = [each.human for each in common], [each.group for each in common]
    found = {
        judge: associate(human, [given[each.which] for each in common], groups)
        for judge, given in grades.items()
    }
    for measure in BEST_JUDGE_MEASURES:
        values = {
            judge: float(_goodness(measure, np.array(value)))
            for judge, each in found.items()
            if (value := each.values[measure]) is not None
        }
        if len(values) < 2:
            continue
        best, runner_up, *_ = sorted(values, key=lambda judge: -values[judge])
        intervals = {
            other: interval_of_values(
                _goodness(measure, found[best].resampled[measure])
                - _goodness(measure, found[other].resampled[measure]),
                values[best] - values[other],
                found[best].shares,
            )
            for other in values
            if other != best
        }
        beside = intervals[runner_up]
        yield BestJudge(
            measure=measure,
            judge=best,
            runner_up=runner_up,
            answers=len(common),
            difference=values[best] - values[runner_up],
            low=beside.low if beside else None,
            high=beside.high if beside else None,
            is_significant=all(each is not None and each.low > 0 for each in intervals.values()),
        )


def _agreement(task: str, chosen: Sequence[RatedAnswer]) -> RaterAgreement:
    raters = list(dict.fromkeys(rater for each in chosen for rater in each.raters))
    table = [[each.raters.get(rater) for each in chosen] for rater in raters]
    return RaterAgreement(
        task=task,
        raters=len(raters),
        answers=len(chosen),
        ratings=sum(len(each.raters) for each in chosen),
        alpha_interval=_alpha(table, "interval"),
        alpha_ordinal=_alpha(table, "ordinal"),
    )


def _alpha(
    table: Sequence[Sequence[float | None]], measure: Literal["interval", "ordinal"]
) -> float | None:
    try:
        return krippendorff_alpha(table, measure=measure).alpha
    except UndefinedMetricError:
        return None


def _goodness(measure: AssociationMeasure, values: Floats) -> Floats:
    """Values of a measure transformed so that more is better: errors negated, biases by size."""
    if measure == "bias":
        return -np.abs(values)
    return -values if measure in {"mse", "mae"} else values

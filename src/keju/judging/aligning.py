"""Alignment of judges with people: correlation of their grades, and the best judge.

The measures are Pearson, Spearman, Kendall, MSE, MAE and bias (human - model). The formulas of
Spearman and Kendall that papers print do not handle ties, which are frequent in grades, so the
corrected forms are computed too; by them the best judge is selected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from keju.items import Record
from keju.judging.answers import AnswerId
from keju.judging.grading import alpha_of
from keju.judging.raters import RatedAnswer, Ratings
from keju.statistics import (
    MEASURES,
    Association,
    AssociationMeasure,
    Floats,
    associate,
    group_shares,
    interval_of_values,
    ratio_of,
)

Grades = Mapping[str, Mapping[AnswerId, float]]
"""Grades by judge and answer."""

PERSON = "a person"
"""In place of a judge's name: in this row, one rater is compared with the other raters."""

BEST_JUDGE_MEASURES: tuple[AssociationMeasure, ...] = (
    "pearson",
    "spearman",
    "kendall",
    "mse",
    "mae",
    "bias",
)
"""The measures by which the best judge is selected; a bias is better if it is nearer to 0."""

LEAVE_ONE_OUT_MEASURES: tuple[AssociationMeasure, ...] = BEST_JUDGE_MEASURES[:-1]
"""The measures against the other raters. There a person's bias is 0 by construction, and a judge's
is the same as against all raters."""


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

    `difference` is its advantage over `runner_up`, with its interval by a paired bootstrap.
    `all_above_0` means that the intervals of its differences to all other judges are above 0. These
    are intervals of 95 % each, not a test: they are not adjusted for the number of measures.
    """

    measure: str
    judge: str
    runner_up: str
    answers: int
    difference: float
    low: float | None
    high: float | None
    all_above_0: bool


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
    """The whole result. `ungraded` counts, by judge, rated answers without a grade.

    `tasks` compares each judge with the mean of all raters of an answer, as papers do.
    `leave_one_out` compares judges and people on equal terms (`_leave_one_out`).
    """

    answers: int
    ratings: int
    blank: int
    raters: tuple[RaterAgreement, ...]
    tasks: tuple[TaskAlignment, ...]
    leave_one_out: tuple[TaskAlignment, ...]
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
    scopes = list(_scopes(rated))
    rows = []
    for judge, by_answer in merged.items():
        for task, chosen in scopes:
            if answers := [answer for answer in chosen if answer.which in by_answer]:
                human = [answer.human for answer in answers]
                values = [by_answer[answer.which] for answer in answers]
                rows.append(_row(judge, task, answers, human, values, MEASURES))
    return Alignment(
        answers=len(rated),
        ratings=sum(len(each.raters) for each in rated),
        blank=ratings.blank,
        raters=tuple(_agreement(task, chosen) for task, chosen in scopes),
        tasks=tuple(rows),
        leave_one_out=tuple(
            row for task, chosen in scopes for row in _leave_one_out(task, chosen, merged)
        ),
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


def _leave_one_out(
    task: str, rated: Sequence[RatedAnswer], grades: Mapping[str, Mapping[AnswerId, float]]
) -> Iterator[TaskAlignment]:
    """Each rater, and in the rater's place each judge, against the mean of the other raters.

    The mean of n raters has less noise than that of n - 1. A person can only be compared with the
    latter, so a judge is compared with it as well: for each answer with two raters or more, once
    for each rater, who is not in the mean. All rows are over the same answers, those with grades of
    all judges that graded any in this task.
    """
    judges = [
        by_answer
        for by_answer in grades.values()
        if any(answer.which in by_answer for answer in rated)
    ]
    pairs = [
        (answer, rater)
        for answer in rated
        if len(answer.raters) > 1 and all(answer.which in by_answer for by_answer in judges)
        for rater in answer.raters
    ]
    if not pairs:
        return
    answers = [answer for answer, _ in pairs]
    persons = [answer.raters[rater] for answer, rater in pairs]
    others = [
        (sum(answer.raters.values()) - person) / (len(answer.raters) - 1)
        for answer, person in zip(answers, persons, strict=True)
    ]
    for judge, by_answer in grades.items():
        if by_answer in judges:
            values = [by_answer[answer.which] for answer in answers]
            yield _row(judge, task, answers, others, values, LEAVE_ONE_OUT_MEASURES)
    yield _row(PERSON, task, answers, others, persons, LEAVE_ONE_OUT_MEASURES)


def _row(
    judge: str,
    task: str,
    answers: Sequence[RatedAnswer],
    human: Sequence[float],
    values: Sequence[float],
    measures: Sequence[AssociationMeasure],
) -> TaskAlignment:
    association = associate(human, values, [answer.group for answer in answers])
    return TaskAlignment(
        judge=judge,
        task=task,
        answers=len({answer.which for answer in answers}),
        groups=association.groups,
        measures={measure: _estimate(association, measure) for measure in measures},
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
    common = [
        answer
        for answer in rated
        if all(answer.which in by_answer for by_answer in grades.values())
    ]
    if len(grades) < 2 or not common:
        return
    human, groups = [answer.human for answer in common], [answer.group for answer in common]
    shares = group_shares([ratio_of(human, [1.0] * len(common), groups)])
    associations = {
        judge: associate(human, [by_answer[answer.which] for answer in common], groups)
        for judge, by_answer in grades.items()
    }
    for measure in BEST_JUDGE_MEASURES:
        values = {
            judge: float(_goodness(measure, np.array(value)))
            for judge, association in associations.items()
            if (value := association.values[measure]) is not None
        }
        if len(values) < 2:
            continue
        best, runner_up, *_ = sorted(values, key=lambda judge: -values[judge])
        intervals = {
            other: interval_of_values(
                _goodness(measure, associations[best].resampled[measure])
                - _goodness(measure, associations[other].resampled[measure]),
                values[best] - values[other],
                shares,
            )
            for other in values
            if other != best
        }
        interval = intervals[runner_up]
        yield BestJudge(
            measure=measure,
            judge=best,
            runner_up=runner_up,
            answers=len(common),
            difference=values[best] - values[runner_up],
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            all_above_0=all(ends is not None and ends.low > 0 for ends in intervals.values()),
        )


def _agreement(task: str, chosen: Sequence[RatedAnswer]) -> RaterAgreement:
    raters = list(dict.fromkeys(rater for each in chosen for rater in each.raters))
    table = [[each.raters.get(rater) for each in chosen] for rater in raters]
    return RaterAgreement(
        task=task,
        raters=len(raters),
        answers=len(chosen),
        ratings=sum(len(each.raters) for each in chosen),
        alpha_interval=alpha_of(table, "interval"),
        alpha_ordinal=alpha_of(table, "ordinal"),
    )


def _goodness(measure: AssociationMeasure, values: Floats) -> Floats:
    """Values of a measure transformed so that more is better: errors negated, biases by size."""
    if measure == "bias":
        return -np.abs(values)
    return -values if measure in {"mse", "mae"} else values

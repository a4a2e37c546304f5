"""Alignment of judges with people: correlation of their grades.

The measures are Pearson, Spearman, Kendall, MSE, MAE and bias (human - model). The formulas of
Spearman and Kendall that papers print do not handle ties, which are frequent in grades, so the
corrected forms are computed too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from keju.items import Record
from keju.judging.answers import AnswerId
from keju.judging.grading import alpha_of
from keju.judging.raters import RatedAnswer, Ratings
from keju.statistics import (
    MEASURES,
    AssociationMeasure,
    associate,
)

Grades = Mapping[str, Mapping[AnswerId, float]]
"""Grades by judge and answer."""

PERSON = "a person"
"""In place of a judge's name: in this row, one rater is compared with the other raters."""

CORRECTED_MEASURES: tuple[AssociationMeasure, ...] = (
    "pearson", "spearman", "kendall", "mse", "mae", "bias",
)  # fmt: skip
LEAVE_ONE_OUT_MEASURES: tuple[AssociationMeasure, ...] = CORRECTED_MEASURES[:-1]
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


class RaterAgreement(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Agreement among people: Krippendorff's alpha for intervals; an empty task means all."""

    task: str
    raters: int
    answers: int
    ratings: int
    alpha: float | None


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
    ungraded: dict[str, int]
    points: tuple[Point, ...] = ()


def align(ratings: Ratings, grades: Grades) -> Alignment:
    """Compare judges with people.

    Args:
        ratings: people's grades; several raters of one answer count as their mean.
        grades: judges' grades, in addition to those in the ratings, which have priority.
    """
    rated = ratings.rated
    merged: dict[str, dict[AnswerId, float]] = defaultdict(dict)
    for judge, by_answer in grades.items():
        merged[judge] |= {each.which: by_answer[each.which] for each in rated
                          if each.which in by_answer}  # fmt: skip
    for answer in rated:
        for judge, grade in answer.judges.items():
            merged[judge][answer.which] = grade
    merged = {judge: by_answer for judge, by_answer in merged.items() if by_answer}
    tasks: dict[str, list[RatedAnswer]] = defaultdict(list)
    for answer in rated:
        tasks[answer.which.task].append(answer)
    if len(tasks) > 1:
        tasks[""] = rated
    return Alignment(
        answers=len(rated),
        ratings=sum(len(answer.raters) for answer in rated),
        blank=ratings.blank,
        raters=tuple(_agreement(task, answers) for task, answers in tasks.items()),
        tasks=tuple(
            _row(judge, task, chosen, [answer.human for answer in chosen], by_answer, MEASURES)
            for judge, by_answer in merged.items()
            for task, answers in tasks.items()
            if (chosen := [answer for answer in answers if answer.which in by_answer])
        ),
        leave_one_out=tuple(
            row for task, answers in tasks.items() for row in _leave_one_out(task, answers, merged)
        ),
        ungraded={
            judge: missing
            for judge, by_answer in merged.items()
            if (missing := sum(answer.which not in by_answer for answer in rated))
        },
        points=tuple(
            Point(
                judge=judge,
                task=answer.which.task,
                model=answer.which.model,
                item=answer.which.item,
                human=answer.human,
                grade=by_answer[answer.which],
            )
            for judge, by_answer in merged.items()
            for answer in rated
            if answer.which in by_answer
        ),
    )


def _leave_one_out(
    task: str, rated: Sequence[RatedAnswer], grades: Grades
) -> Iterator[TaskAlignment]:
    """Each rater, and in the rater's place each judge, against the mean of the other raters.

    The mean of n raters has less noise than that of n - 1. A person can only be compared with the
    latter, so a judge is compared with it as well: for each answer with two raters or more, once
    for each rater, who is not in the mean. All rows are over the same answers, those with grades of
    all judges that graded any in this task.
    """
    judges = {
        judge: by_answer
        for judge, by_answer in grades.items()
        if any(answer.which in by_answer for answer in rated)
    }
    pairs = [
        (answer, person)
        for answer in rated
        if len(answer.raters) > 1 and all(answer.which in known for known in judges.values())
        for person in answer.raters.values()
    ]
    if not pairs:
        return
    answers, persons = zip(*pairs, strict=True)
    others = [
        (sum(answer.raters.values()) - person) / (len(answer.raters) - 1)
        for answer, person in pairs
    ]
    for judge, by_answer in judges.items():
        yield _row(judge, task, answers, others, by_answer, LEAVE_ONE_OUT_MEASURES)
    yield _row(PERSON, task, answers, others, persons, LEAVE_ONE_OUT_MEASURES)


def _row(
    judge: str,
    task: str,
    answers: Sequence[RatedAnswer],
    human: Sequence[float],
    grades: Mapping[AnswerId, float] | Sequence[float],
    measures: Sequence[AssociationMeasure],
) -> TaskAlignment:
    if isinstance(grades, Mapping):
        grades = [grades[answer.which] for answer in answers]
    association = associate(human, grades, [answer.group for answer in answers])
    return TaskAlignment(
        judge=judge,
        task=task,
        answers=len({answer.which for answer in answers}),
        groups=association.groups,
        measures={
            measure: Estimate(
                value=association.values[measure],
                low=interval.low if interval else None,
                high=interval.high if interval else None,
            )
            for measure in measures
            for interval in [association.interval(measure)]
        },
    )


def _agreement(task: str, answers: Sequence[RatedAnswer]) -> RaterAgreement:
    raters = list(dict.fromkeys(rater for answer in answers for rater in answer.raters))
    return RaterAgreement(
        task=task,
        raters=len(raters),
        answers=len(answers),
        ratings=sum(len(answer.raters) for answer in answers),
        alpha=alpha_of([[answer.raters.get(rater) for answer in answers] for rater in raters]),
    )

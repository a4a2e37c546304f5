"""Alignment of judges with people: correlation of their grades.

The measures are Pearson, Spearman, Kendall, MSE, MAE and bias (human - model). The formulas of
Spearman and Kendall that papers print do not handle ties, which are frequent in grades, so the
corrected forms are computed too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from keju.items import Record
from keju.judging.grading import Agreement, agreements
from keju.judging.raters import RatedAnswer
from keju.statistics import MEASURES, AssociationMeasure, associate

Grades = Mapping[str, Mapping[str, float]]
"""Grades by judge and the answer's id."""

PERSON = "a person"
"""In place of a judge's name: in this row, one rater is compared with the other raters."""

CORRECTED_MEASURES: tuple[AssociationMeasure, ...] = (
    "pearson", "spearman", "kendall", "mse", "mae", "bias",
)  # fmt: skip
LEAVE_ONE_OUT_MEASURES: tuple[AssociationMeasure, ...] = CORRECTED_MEASURES[:-1]
"""The measures against the other raters. There a person's bias is 0 by construction, and a judge's
is the same as against all raters."""


class Estimate(Record, frozen=True, omit_defaults=False):
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
    raters: tuple[Agreement, ...]
    tasks: tuple[TaskAlignment, ...]
    leave_one_out: tuple[TaskAlignment, ...]
    ungraded: dict[str, int]
    points: tuple[Point, ...] = ()


def align(rated: Sequence[RatedAnswer], grades: Grades) -> Alignment:
    """Compare judges' grades with people's; several raters of one answer count as their mean."""
    tasks: dict[str, Sequence[RatedAnswer]] = {}
    for task in dict.fromkeys(row.answer.item.task for row in rated):
        tasks[task] = [row for row in rated if row.answer.item.task == task]
    if len(tasks) > 1:
        tasks[""] = rated
    ids = {row.answer.id for row in rated}
    judges = {judge: of_judge for judge, of_judge in grades.items() if ids & of_judge.keys()}
    points, alignments, ungraded = list[Point](), list[TaskAlignment](), dict[str, int]()
    for judge, by_answer in judges.items():
        for task, rows in tasks.items():
            graded = [row for row in rows if row.answer.id in by_answer]
            if pairs := [(row, row.human, by_answer[row.answer.id]) for row in graded]:
                alignments.append(_task_alignment(judge, task, pairs, MEASURES))
        graded = [row for row in rated if row.answer.id in by_answer]
        if len(graded) < len(rated):
            ungraded[judge] = len(rated) - len(graded)
        points += [
            Point(
                judge=judge,
                task=row.answer.item.task,
                model=row.answer.response.model,
                item=row.answer.item.id,
                human=row.human,
                grade=by_answer[row.answer.id],
            )
            for row in graded
        ]
    scores = {("", task): [[*row.scores.values()] for row in rows] for task, rows in tasks.items()}
    return Alignment(
        answers=len(rated),
        ratings=sum(len(row.scores) for row in rated),
        raters=agreements(scores),
        tasks=tuple(alignments),
        leave_one_out=tuple(
            alignment
            for task, rows in tasks.items()
            for alignment in _leave_one_out(task, rows, judges)
        ),
        ungraded=ungraded,
        points=tuple(points),
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
    answers = {row.answer.id for row in rated}
    judges = {name: of_judge for name, of_judge in grades.items() if answers & of_judge.keys()}
    pairs = [
        (row, (sum(row.scores.values()) - score) / (len(row.scores) - 1), score)
        for row in rated
        if len(row.scores) > 1 and all(row.answer.id in of_judge for of_judge in judges.values())
        for score in row.scores.values()
    ]
    if pairs:
        for judge, of_judge in judges.items():
            compared = [(row, mean, of_judge[row.answer.id]) for row, mean, _score in pairs]
            yield _task_alignment(judge, task, compared, LEAVE_ONE_OUT_MEASURES)
        yield _task_alignment(PERSON, task, pairs, LEAVE_ONE_OUT_MEASURES)


def _task_alignment(
    judge: str,
    task: str,
    compared: Sequence[tuple[RatedAnswer, float, float]],
    measures: Sequence[AssociationMeasure],
) -> TaskAlignment:
    """The alignment of some answers, each with the value of people and the judge's."""
    rows, human, grades = zip(*compared, strict=True)
    association = associate(human, grades, [row.answer.group for row in rows])
    return TaskAlignment(
        judge=judge,
        task=task,
        answers=len({row.answer.id for row in rows}),
        groups=association.groups,
        measures={
            name: Estimate(association.values[name], *(association.interval(name) or ())[:2])
            for name in measures
        },
    )

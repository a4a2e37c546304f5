"""Grading of a run: each open answer by each judge, with repeats; and the resulting means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import NamedTuple

from keju.items import PromptScript, Record, Setting, variant_of
from keju.judging.answers import GradableAnswer, grading_requests
from keju.judging.grades import LEAST, MOST, grade_in
from keju.judging.store import JudgementFolder
from keju.metrics.base import UndefinedMetricError
from keju.statistics import krippendorff_alpha, ratio_interval


class Judgement(NamedTuple):
    """A judge's grades of one answer, over its repeats.

    `grades` are the parsed ones, `missing` the reasons where parsing failed. An empty answer has
    grade 0 without a request, and a missing answer has no grade; neither is sent.
    """

    judge: str
    judged: GradableAnswer
    grades: tuple[float, ...]
    missing: tuple[str, ...] = ()

    @property
    def grade(self) -> float | None:
        """The mean over the repeats, or None."""
        return sum(self.grades) / len(self.grades) if self.grades else None

    @property
    def is_by_judge(self) -> bool:
        """Whether the judge itself gave a grade: an empty answer has one without being sent."""
        return self.judged.is_sent and bool(self.grades)


class TaskGrade(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A judge's grade of a model on one query of a task, 0 to 10.

    `mean` is over the answers that have a grade, and counts failed calls of the model as 0;
    `graded_mean` is without these. An empty answer has grade 0 in both. An answer whose call of the
    judge failed, whose reply has no grade, or that was not sent to the judge yet is in neither. The
    grade of an answer is the mean over the repeats that have one; it is missing if none has. Both
    means are None where the judge graded none of the answers that it was sent. `low` and `high`
    bound `mean` (95 %, by group), None with fewer than 6 groups; a grade is a share of 10, so they
    are from 0 to 10. `missing` counts the answers without a grade, apart from `no_reply`, those
    that were not sent to the judge yet; `unparsable` and `failed` count responses and calls of the
    judge (each repeat separately), and `no_answer` failed calls of the model. `seen` contains the
    first three different reasons of missing grades.
    """

    judge: str
    model: str
    task: str
    query: str
    setting: Setting
    answers: int
    graded: int
    groups: int
    mean: float | None
    graded_mean: float | None
    low: float | None = None
    high: float | None = None
    missing: int = 0
    empty: int = 0
    no_answer: int = 0
    unparsable: int = 0
    failed: int = 0
    no_reply: int = 0
    script: PromptScript = "released"
    wording: str = "released"
    seen: tuple[str, ...] = ()
    signature: str = ""


class Agreement(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Agreement between gradings of the same answers of a task, over `answers` with two or more.

    Of one judge's repeats, of several judges, or of people (then `judge` is empty). `gradings` is
    the highest number of them for one answer. `alpha` is Krippendorff's for intervals, None where
    all grades are equal; `spread` the mean over answers of highest less lowest; `same` the share
    with equal grades. An empty task means all together.
    """

    judge: str
    task: str
    answers: int
    gradings: int
    alpha: float | None
    spread: float
    same: float


class GradingResult(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The result of grading a run."""

    run: str
    rubrics: str
    tasks: tuple[TaskGrade, ...]
    repeats: tuple[Agreement, ...] = ()
    judges: tuple[Agreement, ...] = ()


def judgements_of(
    answers: Sequence[GradableAnswer], folder: JudgementFolder, judges: Sequence[str] = ()
) -> list[Judgement]:
    """The stored grades of these answers by some judges, or by all with stored replies."""
    repeats = max((reply.round for reply in folder.responses()), default=1)
    judgements = []
    for judge in judges or folder.replied():
        parsed = defaultdict(list)
        requests = grading_requests(answers, folder.rubrics, repeats)
        for reply in filter(None, folder.find_replies(judge, requests)):
            parsed[reply.item].append(grade_in(reply))
        for answer in answers:
            grades = parsed[answer.id]
            values = tuple(grade.value for grade in grades if grade.value is not None)
            missing = tuple(grade.reason for grade in grades if grade.value is None)
            is_empty = answer.answered and not answer.text
            judgements.append(Judgement(judge, answer, (LEAST,) if is_empty else values, missing))
    return judgements


def mean_grades(judgements: Iterable[Judgement]) -> dict[str, dict[str, float]]:
    """Each judge's mean grade of each answer over its repeats, by judge and id."""
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for judgement in judgements:
        if judgement.is_by_judge and judgement.grade is not None:
            grades[judgement.judge][judgement.judged.id] = judgement.grade
    return dict(grades)


def grades_of(judgements: Sequence[Judgement], folder: JudgementFolder) -> GradingResult:
    """Means with intervals, and agreement of each judge's repeats and of judges."""
    by_task: dict[tuple[str, ...], list[Judgement]] = defaultdict(list)
    repeats: dict[tuple[str, str], list[Sequence[float]]] = defaultdict(list)
    judges: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(dict)
    for judgement in judgements:
        judge, response = judgement.judge, judgement.judged.response
        place = judge, response.model, response.task, response.query, *variant_of(response)
        by_task[place].append(judgement)
        if judgement.is_by_judge and judgement.grade is not None:
            repeats[judge, response.task].append(judgement.grades)
            by_answer = judges["", response.task]
            by_answer.setdefault(judgement.judged.id, []).append(judgement.grade)
    return GradingResult(
        run=str(folder.run.path),
        rubrics=folder.rubrics.id,
        tasks=tuple(_task_grade(rows, folder) for rows in by_task.values()),
        repeats=agreements(repeats),
        judges=agreements({place: units.values() for place, units in judges.items()}),
    )


def _task_grade(rows: Sequence[Judgement], folder: JudgementFolder) -> TaskGrade:
    """The grade of a model on one query of a task, from one judge's judgements of its answers."""
    judge, response = rows[0].judge, rows[0].judged.response
    answers = [row.judged for row in rows]
    missing = [reason for row in rows for reason in row.missing]
    failed = sum(reason.startswith("failed") for reason in missing)
    # An empty answer is 0 without a judge: this alone gives a judge no mean.
    requests = sum(answer.is_sent for answer in answers)
    has_mean = not requests or any(row.is_by_judge for row in rows)
    counted = [row for row in rows if has_mean and (row.grades or not row.judged.is_sent)]
    graded = [row.grade for row in counted if row.grade is not None]
    values = [LEAST if row.grade is None else row.grade for row in counted]
    groups = [row.judged.group for row in counted]
    interval = ratio_interval(values, [MOST] * len(values), groups)
    without_grade = sum(bool(row.missing) and not row.grades for row in rows)
    return TaskGrade(
        judge=judge,
        model=response.model,
        task=response.task,
        query=response.query,
        setting=response.setting,
        script=response.script,
        wording=response.wording,
        answers=len(rows),
        graded=len(graded),
        groups=len(set(groups)),
        mean=sum(values) / len(values) if values else None,
        graded_mean=sum(graded) / len(graded) if graded else None,
        low=MOST * interval.low if interval else None,
        high=MOST * interval.high if interval else None,
        missing=without_grade,
        empty=sum(answer.answered and not answer.text for answer in answers),
        no_answer=sum(not answer.answered for answer in answers),
        unparsable=len(missing) - failed,
        failed=failed,
        no_reply=requests - without_grade - sum(row.is_by_judge for row in rows),
        seen=tuple(dict.fromkeys(missing))[:3],
        signature=folder.signature(judge),
    )


def agreements(
    gradings: Mapping[tuple[str, str], Iterable[Sequence[float]]],
) -> tuple[Agreement, ...]:
    """The agreement of the grades of each answer, by judge and task.

    Without judges and tasks of which no answer has two grades.
    """
    rows = []
    for (judge, task), by_answer in gradings.items():
        units = [unit for unit in by_answer if len(unit) > 1]
        if not units:
            continue
        spreads = [max(unit) - min(unit) for unit in units]
        alpha = None
        with suppress(UndefinedMetricError):
            alpha = krippendorff_alpha([*zip_longest(*units)], measure="interval")
        rows.append(Agreement(
            judge=judge,
            task=task,
            answers=len(units),
            gradings=max(map(len, units)),
            alpha=alpha,
            spread=sum(spreads) / len(spreads),
            same=spreads.count(0) / len(spreads),
        ))  # fmt: skip
    return tuple(rows)

"""Grading of a run: each open answer by each judge, with repeats; and the resulting means."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import field

from keju.items import Record, Request
from keju.judging.answers import (
    EMPTY,
    NO_ANSWER,
    AnswerId,
    AnswerSelection,
    GradableAnswer,
    answers_of,
)
from keju.judging.grades import LEAST, MOST, grade_in
from keju.judging.prompting import grading_request
from keju.judging.rubrics import Rubrics
from keju.judging.store import JudgementFolder
from keju.metrics.base import UndefinedMetricError
from keju.runs import RunFolder
from keju.statistics import krippendorff_alpha, ratio_interval


class Judgement(NamedTuple):
    """A judge's grades of one answer, over its repeats.

    `grades` are the parsed ones, `missing` the reasons where parsing failed. An empty answer has
    grade 0 without a request, and a missing answer has no grade; `unsent` contains the reason in
    both cases.
    """

    judge: str
    judged: GradableAnswer
    grades: tuple[float, ...]
    missing: tuple[str, ...] = ()
    unsent: str = ""

    @property
    def grade(self) -> float | None:
        """The mean over the repeats, or None."""
        return sum(self.grades) / len(self.grades) if self.grades else None


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
    setting: str
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
    script: str = "released"
    wording: str = "released"
    seen: tuple[str, ...] = ()
    signature: str = ""


class Agreement(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Agreement between gradings of the same answers.

    Of one judge's repeats, or of several judges (then `judge` is empty and a judge's grade is its
    mean over repeats). `alpha` is Krippendorff's for intervals, None where all grades are equal;
    `spread` the mean over answers of highest less lowest; `same` the share with equal grades.
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
    left_out: dict[str, int] = field(default_factory=dict)


def grading_requests(
    answers: Sequence[GradableAnswer], folder: JudgementFolder, repeats: int
) -> Iterator[Request]:
    """The requests to a judge about a run: every answer with a text, `repeats` times."""
    for each in answers:
        if each.answered and each.text:
            for repeat in range(1, repeats + 1):
                yield grading_request(each.id, each.item, each.text, folder.rubrics, repeat=repeat)


def stored_repeats(folder: JudgementFolder) -> int:
    """The largest number of repeats of any judge for an answer; 1 where nothing is stored."""
    return max((reply.round for reply in folder.responses()), default=1)


def judgements_of(
    answers: Sequence[GradableAnswer],
    folder: JudgementFolder,
    repeats: int | None = None,
    judges: Sequence[str] = (),
) -> list[Judgement]:
    """The stored grades of these answers, judge by judge.

    Judges without stored replies by these rubrics are skipped.

    Args:
        answers: the answers.
        folder: where replies are stored.
        repeats: the number of repeats that count; by default all that are stored.
        judges: names of the judges; all of them by default.
    """
    repeats = stored_repeats(folder) if repeats is None else repeats
    found = []
    for judge in folder.judges():
        if (judges and judge not in judges) or not folder.response_files(judge):
            continue
        replies = folder.find_replies(judge, grading_requests(answers, folder, repeats))
        by_answer = defaultdict(list)
        for reply in filter(None, replies):
            by_answer[reply.item].append(grade_in(reply))
        for each in answers:
            if not each.answered or not each.text:
                grades = (LEAST,) if each.answered else ()
                unsent = EMPTY if each.answered else NO_ANSWER
                found.append(Judgement(judge, each, grades, unsent=unsent))
                continue
            given = by_answer[each.id.spelled]
            values = tuple(grade.value for grade in given if grade.value is not None)
            missing = tuple(grade.reason for grade in given if grade.value is None)
            found.append(Judgement(judge, each, values, missing))
    return found


def graded_answers(run: RunFolder, rubrics: Rubrics) -> list[GradableAnswer]:
    """Every answer of a run to a query that has a rubric, open or not."""
    tasks = rubrics.tasks & {item.task for item in run.items()}
    return answers_of(run, rubrics, AnswerSelection(tasks=tuple(sorted(tasks)))).judged


def mean_grades(
    run: RunFolder, rubrics: Rubrics, answers: Sequence[GradableAnswer]
) -> dict[str, dict[AnswerId, float]]:
    """Each judge's mean grade of each answer over its repeats, by judge and answer.

    Empty answers, which have grade 0 without being sent, are not included.
    """
    found: dict[str, dict[AnswerId, float]] = defaultdict(dict)
    for each in judgements_of(answers, JudgementFolder(run, rubrics)):
        if each.grade is not None and not each.unsent:
            found[each.judge][each.judged.id] = each.grade
    return dict(found)


def grades_of(
    judgements: Sequence[Judgement], folder: JudgementFolder, left_out: dict[str, int]
) -> GradingResult:
    """Means with intervals, and agreement."""
    by_task: dict[tuple[str, AnswerId], list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        place = judgement.judged.id._replace(item="", round=1)
        by_task[judgement.judge, place].append(judgement)
    signatures = {judge: folder.signature(judge) for judge, _place in by_task}
    return GradingResult(
        run=str(folder.run.path),
        rubrics=folder.rubrics.id,
        tasks=tuple(
            _task_grade(judge, place, found, signatures[judge])
            for (judge, place), found in by_task.items()
        ),
        repeats=tuple(_agreement_of_repeats(judgements)),
        judges=tuple(_agreement_of_judges(judgements)),
        left_out=left_out,
    )


def alpha_of(
    table: Sequence[Sequence[float | None]], measure: Literal["interval", "ordinal"]
) -> float | None:
    """Krippendorff's alpha of grades, one row for each grader; None where all are equal."""
    try:
        return krippendorff_alpha(table, measure=measure).alpha
    except UndefinedMetricError:
        return None


def _task_grade(
    judge: str, place: AnswerId, found: Sequence[Judgement], signature: str
) -> TaskGrade:
    missing = [reason for each in found for reason in each.missing]
    failed = sum(reason.startswith("failed") for reason in missing)
    sent = [each for each in found if not each.unsent]
    # An empty answer is 0 without a judge: this alone gives a judge no mean.
    counts = not sent or any(each.grades for each in sent)
    counted = [each for each in found if counts and (each.grades or each.unsent)]
    graded = [each.grade for each in counted if each.grade is not None]
    values = [LEAST if each.grade is None else each.grade for each in counted]
    groups = [each.judged.group for each in counted]
    interval = ratio_interval(values, [MOST] * len(values), groups)
    return TaskGrade(
        judge=judge,
        model=place.model,
        task=place.task,
        query=place.query,
        setting=place.setting,
        script=place.script,
        wording=place.wording,
        answers=len(found),
        graded=len(graded),
        groups=len(set(groups)),
        mean=sum(values) / len(values) if values else None,
        graded_mean=sum(graded) / len(graded) if graded else None,
        low=MOST * interval.low if interval else None,
        high=MOST * interval.high if interval else None,
        missing=sum(bool(each.missing) and not each.grades for each in found),
        empty=sum(each.unsent == EMPTY for each in found),
        no_answer=sum(each.unsent == NO_ANSWER for each in found),
        unparsable=len(missing) - failed,
        failed=failed,
        no_reply=sum(not (each.grades or each.missing or each.unsent) for each in found),
        seen=tuple(dict.fromkeys(missing))[:3],
        signature=signature,
    )


def _agreement_of_repeats(judgements: Sequence[Judgement]) -> Iterator[Agreement]:
    units: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
    for each in judgements:
        if len(each.grades) > 1:
            units[each.judge, each.judged.id.task].append(each.grades)
    for (judge, task), grades in units.items():
        yield _agreement(judge, task, grades)


def _agreement_of_judges(judgements: Sequence[Judgement]) -> Iterator[Agreement]:
    units: dict[tuple[str, AnswerId], list[float]] = defaultdict(list)
    for each in judgements:
        if each.grade is not None and not each.unsent:
            units[each.judged.id.task, each.judged.id].append(each.grade)
    by_task: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for (task, _), grades in units.items():
        if len(grades) > 1:
            by_task[task].append(tuple(grades))
    for task, found in by_task.items():
        yield _agreement("", task, found)


def _agreement(judge: str, task: str, units: Sequence[tuple[float, ...]]) -> Agreement:
    most = max(map(len, units))
    table = [[unit[row] if row < len(unit) else None for unit in units] for row in range(most)]
    spreads = [max(unit) - min(unit) for unit in units]
    return Agreement(
        judge=judge,
        task=task,
        answers=len(units),
        gradings=most,
        alpha=alpha_of(table, "interval"),
        spread=sum(spreads) / len(spreads),
        same=Counter(spread == 0 for spread in spreads)[True] / len(spreads),
    )

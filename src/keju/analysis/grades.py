"""Judges' grades of a run's answers, and their correlation with the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from keju.analysis.asked_items import Run
from keju.analysis.labels import metric_label, task_name
from keju.analysis.marks import marks
from keju.analysis.run_set import RunSet
from keju.definitions import task
from keju.items import Protocol
from keju.judging.answers import AnswerId, graded_answers
from keju.judging.grading import Judgement, TaskGrade, grades_of, judgements_of
from keju.judging.prompting import Rubrics, read_rubrics
from keju.judging.store import JudgementFolder, stored_rubrics
from keju.runs import RunFolder
from keju.scoring import PROTOCOLS, MetricResult
from keju.statistics import Correlation, associate

_FEWEST = 10
"""Minimum number of answers for a correlation."""


class GradeValue(NamedTuple):
    """A model's grade of a task from 0 to 10, beside its `strict` main metric."""

    grade: TaskGrade
    strict: MetricResult | None
    mark: Literal["best", "second"] | None


class GradeRow(NamedTuple):
    """One task and judge: the grade of each model of the report, None where it has none."""

    task: str
    judge: str
    metric: str
    values: list[GradeValue | None]


class GradeTable(NamedTuple):
    """The grades of one run by one file of rubrics."""

    run: str
    rubrics: str
    rows: list[GradeRow]


class MetricJudge(NamedTuple):
    """The correlation of one metric with one judge over the answers of a task."""

    judge: str
    task: str
    protocol: Protocol
    metric: str
    main: bool
    answers: int
    models: int
    spearman: Correlation
    kendall: Correlation


class Grades(NamedTuple):
    """All data of judges in a report."""

    tables: list[GradeTable]
    metrics: list[MetricJudge]
    means: dict[tuple[str, str], dict[str, TaskGrade]]
    """Each judge's grade, by the model's name in this report and the task."""


def grades(run_set: RunSet) -> Grades:
    """The grades stored with the runs' responses, and their correlation with the metrics."""
    found = Grades([], [], {})
    for run in run_set.runs:
        folder = RunFolder.open(run.path)
        # The bundled rubrics come last, so that their means replace those of older versions.
        ours = read_rubrics().id
        for rubrics in sorted(stored_rubrics(folder), key=lambda each: each.id == ours):
            judgements = _judgements(folder, rubrics)
            if judgements:
                judged = JudgementFolder(folder, rubrics)
                given = grades_of(judgements, judged, {}).tasks
                rows = _rows(run_set, run, given)
                for grade in given:
                    who = _name(run_set, run, grade)
                    # A paper's judge sees predictions and references alone.
                    if who and grade.mean is not None and not rubrics.page_text:
                        place = (who, task_name(grade.task, grade.query))
                        found.means.setdefault(place, {})[grade.judge] = grade
                found.tables.append(GradeTable(run.name, rubrics.id, list(rows)))
                found.metrics.extend(_against_metrics(run_set, run, judgements))
    return found


def _judgements(folder: RunFolder, rubrics: Rubrics) -> list[Judgement]:
    known = JudgementFolder(folder, rubrics)
    return judgements_of(graded_answers(folder, rubrics), known)


def _rows(run_set: RunSet, run: Run, grades: Sequence[TaskGrade]) -> Iterator[GradeRow]:
    by_place: dict[tuple[str, str, str], dict[str, TaskGrade]] = {}
    for each in grades:
        who = _name(run_set, run, each)
        if each.mean is not None and who:
            by_place.setdefault((each.task, each.query, each.judge), {})[who] = each
    for (name, query, judge), found in by_place.items():
        real = {
            who: round(grade.mean, 2)
            for who, grade in found.items()
            if grade.mean is not None and run_set.by_model[who].role != "baseline"
        }
        placed = marks(real)
        metric, strict = _strict_mains(run_set, name, query)
        values = [
            GradeValue(found[who], strict.get(who), placed.get(who)) if who in found else None
            for who in run_set.models
        ]
        yield GradeRow(task_name(name, query), judge, metric, values)


def _name(run_set: RunSet, run: Run, grade: TaskGrade) -> str:
    """The name of the graded model in this report; empty where it is not included."""
    wanted = (run.name, grade.model, (grade.setting, grade.script, grade.wording))
    return next(
        (name for name, v in run_set.by_model.items() if (v.run, v.model, v.variant) == wanted), ""
    )


def _strict_mains(run_set: RunSet, name: str, query: str) -> tuple[str, dict[str, MetricResult]]:
    """The strict main metric of a task, and each model's value of it."""
    metric = ""
    values: dict[str, MetricResult] = {}
    for model in run_set.models:
        result = run_set.results.get((model, "strict"))
        for each in result.tasks if result else ():
            if (each.task, each.query) == (name, query) and each.main is not None:
                metric, values[model] = each.main.metric, each.main
    return metric_label(name, query, "strict", metric) if metric else "", values


def _against_metrics(
    run_set: RunSet, run: Run, judgements: Sequence[Judgement]
) -> Iterator[MetricJudge]:
    """For each judge and task: every metric against the grades, over all answers with both."""
    values = _values(run_set, run)
    by_place: dict[tuple[str, str, str], list[Judgement]] = {}
    for each in judgements:
        if each.is_by_judge:
            where = (each.judge, each.judged.id.task, each.judged.id.query)
            by_place.setdefault(where, []).append(each)
    for (judge, name, query), graded in by_place.items():
        declared = next(each for each in task(name).queries if each.name == query)
        for protocol in PROTOCOLS[::-1]:
            for place, metric in enumerate(declared.metrics(protocol)):
                pairs = [
                    (each.grade or 0.0, value, each.judged.group, each.judged.id.model)
                    for each in graded
                    if (value := values.get((each.judged.id, protocol, metric))) is not None
                ]
                if len(pairs) < _FEWEST:
                    continue
                given, measured, groups, models = zip(*pairs, strict=True)
                association = associate(given, measured, groups)
                yield MetricJudge(
                    judge=judge,
                    task=task_name(name, query),
                    protocol=protocol,
                    metric=metric_label(name, query, protocol, metric),
                    main=place == 0,
                    answers=len(pairs),
                    models=len(set(models)),
                    spearman=association.correlation("spearman"),
                    kendall=association.correlation("kendall"),
                )


def _values(run_set: RunSet, run: Run) -> dict[tuple[AnswerId, Protocol, str], float]:
    """Each answer's value of each metric."""
    known = get_args(Protocol)
    return {
        (AnswerId.of(answer.response), score.protocol, score.metric): score.value
        for asked in run_set.asked
        for answer in asked.answers
        if run_set.by_model[answer.model].run == run.name
        for score in answer.scores
        if score.value is not None and score.protocol in known
    }

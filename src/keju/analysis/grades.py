"""Judges' grades of a run's answers, and their correlation with the metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from keju.analysis.asked_items import Run
from keju.analysis.labels import metric_label, task_name
from keju.analysis.marks import marks
from keju.analysis.run_set import RunSet
from keju.definitions import task
from keju.items import PromptVariant, Protocol
from keju.judging.answers import answer_id, graded_answers
from keju.judging.grading import Judgement, TaskGrade, grades_of, judgements_of
from keju.judging.prompting import read_rubrics
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
    tables, metrics = list[GradeTable](), list[MetricJudge]()
    means: dict[tuple[str, str], dict[str, TaskGrade]] = defaultdict(dict)
    for run in run_set.runs:
        folder = RunFolder.open(run.path)
        # The bundled rubrics come last, so that their means replace those of older versions.
        ours = read_rubrics().id
        for rubrics in sorted(stored_rubrics(folder), key=lambda stored: stored.id == ours):
            judged = JudgementFolder(folder, rubrics)
            judgements = judgements_of(graded_answers(folder, rubrics), judged)
            if not judgements:
                continue
            names = {(v.model, v.variant): name for name, v in run_set.by_model.items()
                     if v.run == run.name}  # fmt: skip
            by_place: dict[tuple[str, str, str], dict[str, TaskGrade]] = defaultdict(dict)
            for grade in grades_of(judgements, judged).tasks:
                variant = PromptVariant(grade.setting, grade.script, grade.wording)
                name = names.get((grade.model, variant))
                if name and grade.mean is not None:
                    by_place[grade.task, grade.query, grade.judge][name] = grade
                    # A paper's judge sees predictions and references alone.
                    if not rubrics.page_text:
                        means[name, task_name(grade.task, grade.query)][grade.judge] = grade
            rows = [_row(run_set, *place, by_model) for place, by_model in by_place.items()]
            tables.append(GradeTable(run.name, rubrics.id, rows))
            metrics += _against_metrics(run_set, run, judgements)
    return Grades(tables, metrics, dict(means))


def _row(
    run_set: RunSet, name: str, query: str, judge: str, by_model: Mapping[str, TaskGrade]
) -> GradeRow:
    ranked = {
        model: round(grade.mean, 2)
        for model, grade in by_model.items()
        if grade.mean is not None and run_set.by_model[model].role != "baseline"
    }
    mark_of = marks(ranked)
    strict = {
        model: result_of_task.main
        for model in run_set.models
        if (result := run_set.results.get((model, "strict")))
        for result_of_task in result.tasks
        if (result_of_task.task, result_of_task.query) == (name, query) and result_of_task.main
    }
    metrics = {main.metric: metric_label(name, query, "strict", main.metric)
               for main in strict.values()}  # fmt: skip
    values = [
        GradeValue(by_model[model], strict.get(model), mark_of.get(model))
        if model in by_model
        else None
        for model in run_set.models
    ]
    return GradeRow(task_name(name, query), judge, [*metrics.values(), ""][0], values)


def _against_metrics(
    run_set: RunSet, run: Run, judgements: Sequence[Judgement]
) -> Iterator[MetricJudge]:
    """For each judge and task: every metric against the grades, over all answers with both."""
    values = {
        (answer_id(answer.response), score.protocol, score.metric): score.value
        for asked_item in run_set.asked
        for answer in asked_item.answers
        if run_set.by_model[answer.model].run == run.name
        for score in answer.scores
        if score.value is not None
    }
    by_place: dict[tuple[str, str, str], list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        if judgement.is_by_judge:
            item = judgement.judged.item
            by_place[judgement.judge, item.task, item.query].append(judgement)
    for (judge, name, query), graded in by_place.items():
        declared = next(each for each in task(name).queries if each.name == query)
        for protocol in PROTOCOLS[::-1]:
            for place, metric in enumerate(declared.metrics(protocol)):
                pairs = [
                    (row.grade or 0.0, value, row.judged.group, row.judged.response.model)
                    for row in graded
                    if (value := values.get((row.judged.id, protocol, metric))) is not None
                ]
                if len(pairs) < _FEWEST:
                    continue
                of_judge, of_metric, groups, models = zip(*pairs, strict=True)
                association = associate(of_judge, of_metric, groups)
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

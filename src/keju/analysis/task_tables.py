"""Tables of every task under both protocols, and of all metrics with their signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from keju.analysis.intervals import ScoredTask, read_task
from keju.analysis.labels import higher_is_better, label_of, metric_label, metric_of_task
from keju.analysis.leaderboard import Results
from keju.analysis.marks import marks_of_ranges, printed
from keju.analysis.run_set import ModelResponses, RunSet
from keju.definitions import benchmark as benchmark_named
from keju.definitions import tasks
from keju.items import Protocol
from keju.scoring import PROTOCOLS, MetricResult, Result, TaskResult
from keju.statistics import Interval
from keju.texts import join_clauses, recognised


class TaskValue(NamedTuple):
    """A model's main metric of a task.

    `mark` ranks it among models that are not baselines and have the same items as the one with the
    most of them.
    """

    main: MetricResult | None
    interval: Interval | None
    rounds: int
    mark: Literal["best", "second"] | None


class TaskRow(NamedTuple):
    """A task's main metric under one protocol, over all models."""

    id: str
    query: str
    name_zh: str
    name_en: str
    domain: str
    protocol: Protocol
    metric: str
    first: bool
    span: int
    values: list[TaskValue]


class TaskTable(NamedTuple):
    """The tasks of one benchmark; `notes` are remarks on their values."""

    title: str
    rows: list[TaskRow]
    notes: list[str]


class MetricRow(NamedTuple):
    """One metric of one model and task, with its signature.

    `pooling` describes how the value is computed from the items' values.
    """

    model: str
    task: str
    protocol: Protocol
    metric: str
    value: float | None
    value_if_right: float | None
    pooling: str
    scored: int
    items: int
    signature: str


def task_tables(run_set: RunSet, results: Results) -> list[TaskTable]:
    """One table per benchmark; a task has a row for each protocol that scores it."""
    tables: dict[str, list[TaskRow]] = {}
    asked = [(each, query) for each in tasks() for query in each.queries]
    models = run_set.models
    for each, query in asked:
        rows = []
        for protocol in PROTOCOLS:
            of_models = {
                model: found.main
                for model in models
                if (found := _find(results.get((model, protocol)), each.id, query.name))
                and found.main
            }
            if of_models:
                metric = next(iter(of_models.values())).metric
                where = (each.id, query.name, protocol, metric)
                scores = run_set.mains[protocol].get((each.id, query.name), ())
                values = _values(run_set.by_model, of_models, where, read_task(scores))
                metric = metric_label(*where)
                rows.append((protocol, metric, values))
        for place, (protocol, metric, values) in enumerate(rows):
            tables.setdefault(each.benchmark, []).append(
                TaskRow(
                    id=each.id,
                    query=query.name,
                    name_zh=each.name_zh,
                    name_en=each.name_en,
                    domain=each.domain,
                    protocol=protocol,
                    metric=metric,
                    first=place == 0,
                    span=len(rows),
                    values=values,
                )
            )
    return [
        TaskTable(benchmark_named(benchmark).title, rows, _official_notes(rows))
        for benchmark, rows in tables.items()
    ]


def _official_notes(rows: Sequence[TaskRow]) -> list[str]:
    shown = {(row.id, row.query) for row in rows if row.protocol == "official"}
    notes = [
        query.official_note
        for each in tasks()
        for query in each.queries
        if (each.id, query.name) in shown and query.official_note
    ]
    return list(dict.fromkeys(notes))


def _find(result: Result | None, name: str, query: str) -> TaskResult | None:
    if result is None:
        return None
    return next((each for each in result.tasks if (each.task, each.query) == (name, query)), None)


def _values(
    by_model: Mapping[str, ModelResponses],
    mains: Mapping[str, MetricResult],
    place: tuple[str, str, Protocol, str],
    scored: ScoredTask,
) -> list[TaskValue]:
    real = [model for model in mains if by_model[model].role != "baseline"]
    comparable = {
        model: (printed(main.value), printed(main.value_if_right))
        for model in scored.most_items(real)
        for main in [mains[model]]
        if main.value is not None and main.value_if_right is not None
    }
    intervals = scored.intervals()
    places = marks_of_ranges(comparable, higher_is_better=higher_is_better(*place))
    return [
        TaskValue(mains.get(model), intervals.get(model), model_responses.rounds, places.get(model))
        for model, model_responses in by_model.items()
    ]


def metric_rows(results: Results) -> Iterator[MetricRow]:
    """Every metric of every model and task."""
    for (model, protocol), result in results.items():
        for each in result.tasks:
            for metric in each.metrics:
                unscored = join_clauses(map(recognised, metric.unscored))
                declared = metric_of_task(each.task, each.query, protocol, metric.metric)
                yield MetricRow(
                    model=model,
                    task=each.name,
                    protocol=protocol,
                    metric=label_of(declared),
                    value=metric.value,
                    value_if_right=metric.value_if_right,
                    pooling=declared.over.rule,
                    scored=metric.scored,
                    items=metric.items,
                    signature=metric.signature or unscored,
                )

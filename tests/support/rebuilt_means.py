"""MCS-Bench's printed means, rebuilt from the printed tasks with the code that runs use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from keju.benchmarks.mcs_bench import BENCHMARK
from keju.definitions import Task, benchmark
from keju.items import Protocol
from keju.published.printed_tables import PrintedTables, load_printed_tables
from keju.scoring.aggregate import domain_means, mean_over_domains
from keju.scoring.results import MeanResult, MetricResult, TaskResult

AS_PRINTED = "Illustration"
"""The domain whose single tasks (Table 21) are not in the transcription."""

_PROTOCOL: Protocol = "official"
_FORMATS = ("MCQ", "QA")

ROUNDED = 0.01
"""The maximum difference by two roundings to two digits, of the parts and of their mean."""


class Rebuilt(NamedTuple):
    """One printed mean, and the same from the printed tasks, both in percent."""

    table: str
    column: str
    row: str
    printed: float
    rebuilt: float


def rebuilt_means() -> tuple[Rebuilt, ...]:
    """Every mean of Tables 15 to 20, and Table 3's six domains and OverAll, of all 37 models.

    Illustration enters OverAll as printed. Table 3's MCQ and QA take in Illustration's own, which
    no table in the transcription prints, so that they are left to the audit.
    """
    paper = load_printed_tables(BENCHMARK)
    return tuple(cell for model in paper.evaluated for cell in _of_model(paper, model))


def _of_model(paper: PrintedTables, model: str) -> Iterator[Rebuilt]:
    declared = benchmark(BENCHMARK).tasks
    results = {
        (column.task, ""): _result(paper.tasks_by_id[column.task], column.values[model])
        for column in paper.columns("Table 1[5-9] | T*:*") + paper.columns("Table 20 | T*:*")
    }
    there = [each for each in declared if (each.id, "") in results]
    domains = domain_means(there, _PROTOCOL, results)
    by_format = {
        name: domain_means([each for each in there if each.format == name], _PROTOCOL, results)
        for name in _FORMATS
    }
    for number, domain in enumerate(domains, 15):
        table = f"Table {number}"
        yield _cell(paper, table, "OverAll:mean", model, domains[domain])
        for name, means in by_format.items():
            if domain in means:
                yield _cell(paper, table, f"{name}:mean", model, means[domain])
        yield _cell(paper, "Table 3", f"{domain}:mean", model, domains[domain])
    yield _cell(paper, "Table 3", "OverAll:mean", model, _overall(paper, model, domains))


def _overall(paper: PrintedTables, model: str, domains: Mapping[str, MeanResult]) -> MeanResult:
    printed = paper.column(f"Table 3 | {AS_PRINTED}:mean").values[model]
    there = MeanResult(value=printed / 100, parts=(AS_PRINTED,))
    return mean_over_domains({**domains, AS_PRINTED: there})


def _result(task: Task, percent: float) -> TaskResult:
    """A task's result as a run would have it, with the printed main value."""
    main = MetricResult(
        metric=task.queries[0].official[0],
        value=percent / 100,
        without_failures=None,
        item_mean=None,
        items=task.count,
        scored=task.count,
    )
    return TaskResult(
        task=task.id, query="", metrics=(main,), items=task.count, statuses={}, verdicts={}
    )


def _cell(paper: PrintedTables, table: str, column: str, model: str, mean: MeanResult) -> Rebuilt:
    return Rebuilt(
        table=table,
        column=column,
        row=model,
        printed=paper.column(f"{table} | {column}").values[model],
        rebuilt=100 * (mean.value or 0.0),
    )

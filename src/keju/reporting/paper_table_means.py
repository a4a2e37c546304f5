"""The columns of the paper tables that are means over tasks.

A paper prints such a mean over all of its tasks. A run that has only some of them is compared with
means that are recomputed over the same tasks from the paper's value of each task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import NamedTuple

from keju.definitions import Mean, Task, tasks
from keju.definitions import benchmark as benchmark_named
from keju.errors import DataError
from keju.published import Column, PrintedTable, paper
from keju.reporting.paper_table_runs import RunValues
from keju.scoring import MetricResult, TaskResult
from keju.scoring.aggregate import domain_means, mean_over_domains

OCR = "OCR"
"""Columns that are plain means over the table's transcription tasks."""
RANK = "rank"
_MEAN = "mean"
_HALVES = ("BERTScore", "ANLS")
"""The two columns whose mean is `Avg`."""

Values = Mapping[str, float]


class MeanColumn(NamedTuple):
    """A column of means over the tasks `over`; `parts` has the paper's value of each, by row.

    Printed values are in the paper's units. A task that no table prints is not among the parts.
    `without` are the tasks that the printed mean excludes.
    """

    column: Column
    over: frozenset[str]
    parts: Mapping[str, Values]
    without: tuple[str, ...] = ()

    def own(self, own: RunValues, model: str, wanted: frozenset[str]) -> float | None:
        """A run's mean over some of the column's tasks, as a fraction; all must have a value."""
        if self.column.task == OCR:
            found = [own.value(model, each, "") for each in self._columns(wanted)]
            there = [value for value in found if value is not None]
            return fmean(there) if there and len(there) == len(found) else None
        declared = [each for each in own.tasks if each.id in wanted]
        means = domain_means(declared, "official", own.results(model))
        return None if any(e.missing for e in means.values()) else mean_over_domains(means).value

    def recomputed(self, row: str, wanted: frozenset[str]) -> float | None:
        """A printed row's mean over some of the tasks, in percent; None if it lacks one."""
        values = {name: self.parts.get(name, {}).get(row) for name in sorted(wanted)}
        there = {name: value for name, value in values.items() if value is not None}
        if not wanted or len(there) < len(wanted):
            return None
        if self.column.task == OCR:
            return fmean(there.values())
        return _mean_of(there)

    def _columns(self, wanted: frozenset[str]) -> Iterator[Column]:
        for name in sorted(wanted):
            yield Column(
                benchmark=self.column.benchmark, table=self.column.table, name=name, cells={},
                half=0, task=name, metric=self.column.metric,
            )  # fmt: skip


def mean_columns(
    benchmark: str, printed: Mapping[str, PrintedTable], table: PrintedTable
) -> list[MeanColumn]:
    """A table's columns of means, in its order."""
    mains = printed_mains(benchmark, printed)
    found = []
    for column in table.columns.values():
        if column.metric == _MEAN:
            over = frozenset(each.id for each in _declared(benchmark, table, column))
            mean = _mean_of_column(benchmark, column)
            found.append(MeanColumn(column, over, mains, mean.without if mean else ()))
        elif column.task == OCR:
            parts = {
                each.task: each.values
                for each in table.columns.values()
                if each.metric == column.metric and each.task != OCR
            }
            found.append(MeanColumn(column, frozenset(parts), parts))
    return found


def printed_mains(
    benchmark: str, printed: Mapping[str, PrintedTable]
) -> dict[str, dict[str, float]]:
    """The paper's values of each task's main metric, by task and row, in its own units.

    Where several tables print it, the one with the most rows is used. For some open questions a
    paper prints only BERTScore and ANLS, whose mean is the main value.
    """
    found = {}
    for each in _known(benchmark):
        main = each.queries[0].official[0] if each.queries[0].official else ""
        values = _most(printed.values(), each.id, main)
        if not values and main == "Avg":
            first, second = (_most(printed.values(), each.id, name) for name in _HALVES)
            values = {row: (first[row] + second[row]) / 2 for row in first if row in second}
        if values:
            found[each.id] = values
    return found


def _most(tables: Iterable[PrintedTable], task: str, metric: str) -> dict[str, float]:
    columns = [
        column.values
        for table in tables
        for column in table.columns.values()
        if (column.task, column.metric, column.subset) == (task, metric, "")
    ]
    return max(columns, key=len, default={})


def _known(benchmark: str) -> list[Task]:
    return [each for each in tasks() if each.benchmark == benchmark]


def _declared(benchmark: str, table: PrintedTable, column: Column) -> list[Task]:
    """The tasks of a printed mean."""
    known = {each.id: each for each in _known(benchmark)}
    domains = {known[each.task].domain for each in table.columns.values() if each.task in known}
    scope = [each for each in known.values() if not domains or each.domain in domains]
    if mean := _mean_of_column(benchmark, column):
        return mean.tasks_of(scope)
    if any(each.domain == column.task for each in scope):
        return [each for each in scope if each.domain == column.task]
    return scope


def _mean_of_column(benchmark: str, column: Column) -> Mean | None:
    """The benchmark's mean that a column prints; None where it is over all tasks or a domain."""
    name, means = paper(benchmark).tables.means.get(column.task), benchmark_named(benchmark).means
    if name and name not in means:
        raise DataError("the definition has no mean {!r}", name, file=f"the paper of {benchmark}")
    return means[name] if name else None


def _mean_of(percents: Values) -> float | None:
    """The mean over the domains of tasks, computed as for a run."""
    declared = [each for each in tasks() if each.id in percents]
    results = {
        (each.id, ""): TaskResult(
            task=each.id, query="", items=each.count, statuses={}, verdicts={},
            metrics=(
                MetricResult(
                    metric=each.queries[0].official[0], value=percents[each.id] / 100,
                    without_failures=None, item_mean=None, items=each.count, scored=each.count,
                ),
            ),
        )
        for each in declared
    }  # fmt: skip
    value = mean_over_domains(domain_means(declared, "official", results)).value
    return None if value is None else 100 * value

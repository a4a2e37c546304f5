"""`official` values of responses as they are, and as further protocols see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from keju.definitions import task
from keju.definitions.protocols import PROTOCOL_ROWS, ProtocolRow
from keju.runs import RunFolder
from keju.scoring import Result, aggregate, stored_scores

if TYPE_CHECKING:
    from keju.analysis.run_set import RunSet

OVERALL = "OverAll"


class ViewRow(NamedTuple):
    """One task's main metric, or the overall mean, as fractions; None where there is no value."""

    task: str
    name: str
    metric: str
    official: float | None
    value: float | None


class ViewTable(NamedTuple):
    """One name of a report under one such protocol, with its rows."""

    model: str
    protocol: ProtocolRow
    rows: list[ViewRow]


def view_rows(official: Result, seen: Result) -> list[ViewRow]:
    """Both values of each task that has both, then of the overall mean.

    Args:
        official: the values of the responses as they are.
        seen: those of the same metrics under the further protocol.
    """
    mains = {each.task: each.main for each in official.tasks}
    rows = []
    for each in seen.tasks:
        main, other = mains.get(each.task), each.main
        if main is not None and other is not None:
            name = task(each.task).name_zh
            rows.append(ViewRow(each.task, name, main.metric, main.value, other.value))
    means = {each.benchmark: each.overall.value for each in official.benchmarks}
    for benchmark in seen.benchmarks:
        both = means.get(benchmark.benchmark), benchmark.overall.value
        rows.append(ViewRow(OVERALL, benchmark.benchmark, "", *both))
    return rows


def view_tables(run_set: RunSet) -> Iterator[ViewTable]:
    """A table for each name of a report with scores under such a protocol.

    Raises:
        UsageError: the stored scores are of another scoring than those of the report.
        DataError: the stored scores are damaged.
    """
    views = [row.name for row in PROTOCOL_ROWS.values() if row.metrics == "official" and row.view]
    paths = {run.name: run.path for run in run_set.runs}
    for name, model_responses in run_set.by_model.items():
        official = run_set.results.get((name, "official"))
        if official is None:
            continue
        run, model = RunFolder(paths[model_responses.run]), model_responses.model
        for result in aggregate(stored_scores(run, [model], views)):
            if result.variant == model_responses.variant:
                protocol = PROTOCOL_ROWS[result.protocol]
                yield ViewTable(name, protocol, view_rows(official, result))

"""Values of responses as they are, and as a protocol with a view of them sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from keju.definitions import task
from keju.definitions.protocols import PROTOCOL_ROWS, ProtocolRow
from keju.runs import RunFolder
from keju.scoring import MeanResult, MetricResult, Result, aggregate, stored_scores

if TYPE_CHECKING:
    from keju.analysis.run_set import RunSet

OVERALL = "OverAll"


class ViewRow(NamedTuple):
    """One task's main metric, or a benchmark's overall mean, of the responses seen both ways."""

    task: str
    name: str
    metric: str
    as_returned: MetricResult | MeanResult
    seen: MetricResult | MeanResult


class ViewTable(NamedTuple):
    """One name of a report under such a protocol, with its rows."""

    model: str
    protocol: ProtocolRow
    rows: list[ViewRow]


def view_rows(as_returned: Result, seen: Result) -> list[ViewRow]:
    """The rows of each task that has both, then of the overall means over the same tasks.

    Args:
        as_returned: the values of the responses as they are.
        seen: those of the same metrics under the protocol.
    """
    mains = {each.task: each.main for each in as_returned.tasks}
    rows = [
        ViewRow(each.task, task(each.task).name_zh, main.metric, main, each.main)
        for each in seen.tasks
        if each.main and (main := mains.get(each.task))
    ]
    means = {each.benchmark: each.overall for each in as_returned.benchmarks}
    rows += [
        ViewRow(OVERALL, each.benchmark, "", mean, each.overall)
        for each in seen.benchmarks
        if (mean := means.get(each.benchmark)) and mean.missing == each.overall.missing
    ]
    return rows


def view_tables(run_set: RunSet) -> Iterator[ViewTable]:
    """A table for each name of a report with scores under such a protocol.

    Raises:
        UsageError: the stored scores are of another scoring than those of the report.
        DataError: the stored scores are damaged.
    """
    views = [row.name for row in PROTOCOL_ROWS.values() if row.view]
    paths = {run.name: run.path for run in run_set.runs}
    for name, model_responses in run_set.by_model.items():
        run, model = RunFolder(paths[model_responses.run]), model_responses.model
        for result in aggregate(stored_scores(run, [model], views)):
            protocol = PROTOCOL_ROWS[result.protocol]
            as_returned = run_set.results.get((name, protocol.metrics))
            if as_returned and result.variant == model_responses.variant:
                yield ViewTable(name, protocol, view_rows(as_returned, result))

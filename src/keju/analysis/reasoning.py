"""`official` values of the content alone, and with reasoning from a separate field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from keju.definitions import task
from keju.runs import RunFolder
from keju.scoring import Result, aggregate, iter_stored_scores

if TYPE_CHECKING:
    from keju.analysis.run_set import RunSet

OVERALL = "OverAll"


class ReasoningRow(NamedTuple):
    """One task's main metric, or the overall mean, as fractions; None where there is no value."""

    task: str
    name: str
    metric: str
    alone: float | None
    with_reasoning: float | None


class ReasoningTable(NamedTuple):
    """One name of a report, with its rows."""

    model: str
    rows: list[ReasoningRow]


def reasoning_rows(alone: Result, with_reasoning: Result) -> list[ReasoningRow]:
    """Both values of each task that has both, then of the overall mean.

    Args:
        alone: `official` of the content.
        with_reasoning: the same with the reasoning before the content.
    """
    ours = {each.task: each.main for each in alone.tasks}
    rows = []
    for each in with_reasoning.tasks:
        main, other = ours.get(each.task), each.main
        if main is not None and other is not None:
            value, beside = main.value, other.value
            rows.append(
                ReasoningRow(each.task, task(each.task).name_zh, main.metric, value, beside)
            )
    means = {each.benchmark: each.overall.value for each in alone.benchmarks}
    for benchmark in with_reasoning.benchmarks:
        both = means.get(benchmark.benchmark), benchmark.overall.value
        rows.append(ReasoningRow(OVERALL, benchmark.benchmark, "", *both))
    return rows


def reasoning_tables(run_set: RunSet) -> Iterator[ReasoningTable]:
    """A table for each name of a report that has such reasoning.

    Raises:
        UsageError: the stored scores are of another scoring than those of the report.
        DataError: the stored scores are damaged.
    """
    paths = {run.name: run.path for run in run_set.runs}
    for name, model_responses in run_set.by_model.items():
        alone = run_set.results.get((name, "official"))
        if alone is None:
            continue
        stored = iter_stored_scores(
            RunFolder(paths[model_responses.run]), [model_responses.model], ["with-reasoning"]
        )
        for _, scores in stored:
            for result in aggregate(scores):
                if result.variant == model_responses.variant:
                    yield ReasoningTable(name, reasoning_rows(alone, result))

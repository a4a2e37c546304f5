"""The tables of `keju history`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from keju.analysis.history import Change, History, HistoryRow, LabelValue, comparisons_of
from keju.analysis.labels import metric_label, task_name
from keju.cli.output.console import format_interval, name_columns, plain_table
from keju.definitions import benchmark_title
from keju.formatting import NOTHING, format_p, percent
from keju.messages import listed, message
from keju.reporting.comparison_text import describe_interval, describe_test
from keju.scoring import TaskComparison


def history_table(history: History) -> Table:
    """One row per benchmark and task, one column per label: the value in percent and its interval.

    ▲ and ▼ mark a value that improved or declined significantly since the label before.
    """
    count = len(history.labels)
    table = plain_table(
        *name_columns("task"), *(each.label for each in history.labels), right=range(1, count + 1)
    )
    marks = _marks(history)
    for row in history.rows:
        cells = [
            f"{marks.get((row.benchmark, row.task, row.query, place), '')}{_format_value(value)}"
            for place, value in enumerate(row.values)
        ]
        table.add_row(_name(history, row), *cells)
    return table


def history_lines(history: History) -> Iterator[str]:
    """The meaning of the table, the changes between labels, and remarks on the runs."""
    labels = " → ".join(each.label for each in history.labels)
    by_time = history.order == "time"
    order = message("terminal.history-by-time") if by_time else message("terminal.history-as-given")
    yield message("terminal.history-order", labels=labels, order=order)
    yield message("terminal.history-tested", level=f"{history.level:.2f}".removeprefix("0"))
    for change in history.changes:
        yield from _change_lines(change)
    yield from history.notes


def _change_lines(change: Change) -> Iterator[str]:
    pair = message("terminal.history-pair", before=change.before, after=change.after)
    for mean in change.overall:
        yield message(
            "terminal.history-overall", pair=pair, benchmark=benchmark_title(mean.benchmark),
            points=f"{100 * mean.difference:+.1f}", bounds=describe_interval(mean),
            test=describe_test(mean),
        )  # fmt: skip
    if change.improved:
        yield message("terminal.history-improved", pair=pair, tasks=_list_tasks(change.improved))
    if change.declined:
        yield message("terminal.history-declined", pair=pair, tasks=_list_tasks(change.declined))
    if not change.improved and not change.declined:
        yield message("terminal.history-unchanged", pair=pair, count=len(change.tasks))
    few = [each for each in change.tasks if each.needed is not None and each.groups < each.needed]
    if few:
        needed = max(each.needed or 0 for each in few)
        names = listed([task_name(each.task, each.query) for each in few])
        yield message("terminal.history-few-groups", pair=pair, tasks=names, needed=needed)


def _list_tasks(tasks: list[TaskComparison]) -> str:
    return listed(
        [
            message(
                "terminal.history-task",
                task=task_name(each.task, each.query),
                points=f"{100 * each.difference:+.1f}",
                p=format_p(each.p_holm),
            )
            for each in tasks
        ]
    )


def _marks(history: History) -> dict[tuple[str, str, str, int], str]:
    """The mark of each significant change since the label before."""
    marks = {}
    for place, change in enumerate(history.changes[: len(history.labels) - 1], start=1):
        for key, each in comparisons_of(change).items():
            if each.better:
                marks[*key, place] = "▲ " if each.better == "first" else "▼ "
    return marks


def _name(history: History, row: HistoryRow) -> str:
    if not row.task:
        return benchmark_title(row.benchmark)
    return f"{row.name} {metric_label(row.task, row.query, history.protocol, row.metric)}"


def _format_value(value: LabelValue) -> str:
    if value.value is None:
        return NOTHING
    shown = percent(value.value)
    bounds = format_interval((value.low, value.high), ".1f", scale=100)
    return shown if bounds == NOTHING else f"{shown} ({bounds})"

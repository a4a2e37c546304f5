"""The tables of `keju history`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.table import Table

from keju.analysis.history import Change, History, HistoryRow, LabelValue, comparisons_of
from keju.analysis.labels import metric_label, task_name
from keju.cli.output.console import format_interval, name_columns, plain_table
from keju.definitions import benchmark
from keju.formatting import NOTHING, format_p, percent_range, unclear_percent
from keju.reporting.answer_readings import decision_line
from keju.reporting.comparison_text import describe_interval, describe_test, format_difference
from keju.scoring import TaskComparison
from keju.texts import _, listed, n_


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
    order = _("by the time when the runs were created") if by_time else _("in the order given")
    yield _("Labels {}: {}", order, labels)
    yield _(
        "Values in percent with 95 % intervals by group. ▲ ▼: a significant change from the "
        "previous label: paired randomisation test on the same items at level {}. P values of "
        "tasks are adjusted over all tasks and changes, those of a benchmark's mean over all "
        "changes (Holm).",
        f"{history.level:.2f}".removeprefix("0"),
    )
    for change in history.changes:
        yield from _change_lines(change)
    if any(
        each.undecided for change in history.changes for each in (*change.overall, *change.tasks)
    ):
        yield from (decision_line([Path(each.run)]) for each in history.labels)
    yield from history.notes


def _change_lines(change: Change) -> Iterator[str]:
    pair = _("{} → {}", change.before, change.after)
    for mean in change.overall:
        yield _(
            "{}: {} {} points ({}), {}",
            pair,
            benchmark(mean.benchmark).title,
            format_difference(mean),
            describe_interval(mean),
            describe_test(mean)
        )  # fmt: skip
    if change.improved:
        yield _("{}: significantly better: {}", pair, _list_tasks(change.improved))
    if change.declined:
        yield _("{}: significantly worse: {}", pair, _list_tasks(change.declined))
    if change.undecided:
        yield _("{}: unclear answers decide whether it changed: {}", pair, _list_unclear(change))
    elif not change.improved and not change.declined:
        yield n_(
            "{}: no significant change in {n:,} task. This does not prove that the scores are "
            "equal",
            "{}: no significant change in {n:,} tasks. This does not prove that the scores are "
            "equal",
            len(change.tasks),
            pair,
        )
    few = [each for each in change.tasks if each.needed is not None and each.groups < each.needed]
    if few:
        needed = max(each.needed or 0 for each in few)
        names = listed([task_name(each.task, each.query) for each in few])
        yield _(
            "{}: too few groups for a significant change in {} (at least {} are needed)",
            pair,
            names,
            needed,
        )


def _list_unclear(change: Change) -> str:
    return listed(
        [
            _(
                "{} ({} % unclear)",
                task_name(each.task, each.query),
                unclear_percent(max(each.unclear_first, each.unclear_second)),
            )
            for each in change.undecided
        ]
    )


def _list_tasks(tasks: list[TaskComparison]) -> str:
    return listed(
        [
            _(
                "{} ({}, p {})",
                task_name(each.task, each.query),
                format_difference(each),
                format_p(each.p_holm),
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
        return benchmark(row.benchmark).title
    return f"{row.name} {metric_label(row.task, row.query, history.protocol, row.metric)}"


def _format_value(value: LabelValue) -> str:
    if value.value is None:
        return NOTHING
    shown = percent_range(value.value, value.value_if_right)
    bounds = format_interval((value.low, value.high), ".1f", scale=100)
    return shown if bounds == NOTHING else f"{shown} ({bounds})"

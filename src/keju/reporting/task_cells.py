"""Cells of the main metric of each model and task."""

from __future__ import annotations

from keju.analysis.task_tables import TaskRow, TaskValue
from keju.formatting import percent
from keju.messages import Message, join_clauses, join_lines, message, recognised
from keju.reporting.cells import Cell, interval_text
from keju.scoring import MetricResult
from keju.statistics import Interval


def task_cells(row: TaskRow) -> list[Cell]:
    """A cell for each model of the report."""
    return [
        _cell(each)._replace(best=each.mark == "best", second=each.mark == "second")
        for each in row.values
    ]


def _cell(value: TaskValue) -> Cell:
    return Cell() if value.main is None else _main(value.main, value.interval, value.rounds)


def _main(main: MetricResult, interval: Interval | None, rounds: int) -> Cell:
    if main.value is None:
        reason = join_clauses(map(recognised, main.unscored))
        return Cell(message("reporting.unscored"), note=reason, title=reason)
    if main.without_failures is None:
        none = message("reporting.none-of-complete", scored=main.scored)
        return Cell(percent(main.value), note=none, title=main.signature)
    notes = [interval_text(interval)] if interval else []
    notes.append(counted_items(main.scored, rounds))
    if main.without_failures != main.value:
        value = percent(main.without_failures)
        notes.append(message("reporting.without-failures", value=value))
    if main.note:
        notes.append(recognised(main.note))
    title = main.signature
    if interval:
        title = message(
            "reporting.groups-and-signature", groups=interval.groups, signature=main.signature
        )
    return Cell(percent(main.value), note=join_lines(notes), title=title)


def counted_items(count: int, rounds: int) -> Message:
    """The number of items of a value, and the number of rounds of each."""
    if rounds > 1 and count % rounds == 0:
        return message("reporting.rounds", items=count // rounds, rounds=rounds)
    if rounds > 1:
        return message("reporting.answers-in-rounds", count=count, rounds=rounds)
    return message("reporting.items-counted", count=count)

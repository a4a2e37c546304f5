"""Cells of the main metric of each model and task."""

from __future__ import annotations

from keju.analysis.task_tables import TaskRow, TaskValue
from keju.formatting import percent
from keju.reporting.cells import Cell
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
        reason = "; ".join(main.unscored)
        return Cell("unscored", note=reason, title=reason)
    if main.without_failures is None:
        return Cell(
            percent(main.value), note=f"none of {main.scored} complete", title=main.signature
        )
    notes = [f"{percent(interval.low)} to {percent(interval.high)}"] if interval else []
    notes.append(counted_items(main.scored, rounds))
    if main.without_failures != main.value:
        notes.append(f"{percent(main.without_failures)} without failures")
    if main.note:
        notes.append(main.note)
    title = f"{interval.groups} groups; {main.signature}" if interval else main.signature
    return Cell(percent(main.value), note="\n".join(notes), title=title)


def counted_items(count: int, rounds: int) -> str:
    """The number of items of a value, and the number of rounds of each."""
    if rounds > 1 and count % rounds == 0:
        return f"{count // rounds} × {rounds} rounds"
    if rounds > 1:
        return f"{count} answers in {rounds} rounds"
    return f"{count} items" if count != 1 else "1 item"

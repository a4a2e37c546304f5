"""Terminal output of the forecast of a large collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from keju.analysis.forecast import Forecast, Range
from keju.cli.output.console import name_columns, plain_table
from keju.messages import message

_UNKNOWN = "?"


def forecast_table(found: Sequence[Forecast]) -> Table:
    """The forecast, one row per model; intervals in brackets."""
    columns = [
        *name_columns("model", "pages", "calls", "hours", "memory-mb"),
        *name_columns("dataset-gb", "responses-gb", "sent-gb", "cost"),
    ]
    title = message("terminal.forecast", pages=found[0].pages, machines=found[0].machines)
    table = plain_table(*columns, right=range(1, len(columns)), title=title)
    for each in found:
        cost = _format_range(each.cost, 2)
        table.add_row(
            each.model,
            f"{each.pages:,}",
            f"{each.requests:,}",
            _format_range(each.hours, 1),
            _UNKNOWN if each.memory is None else f"{each.memory:,}",
            *(
                f"{size / 1e9:,.1f}"
                for size in (each.dataset_bytes, each.response_bytes, each.sent_bytes)
            ),
            f"{cost} {each.currency}".rstrip() if each.cost else cost,
        )
    return table


def forecast_notes(found: Sequence[Forecast]) -> Iterator[str]:
    """The size of each sample, the measured machine, and what the forecast assumes."""
    for each in found:
        yield message(
            "terminal.forecast-sample", model=each.model, count=each.sample, groups=each.groups
        )
        if each.machine:
            yield message(
                "terminal.forecast-machine",
                model=each.model,
                processor=each.machine.processor,
                cores=each.machine.cores,
                memory=each.machine.memory,
            )
        if each.why:
            yield message("terminal.forecast-no-time", model=each.model, why=each.why)
        if each.busy:
            yield message("terminal.forecast-busy", model=each.model, busy=each.busy)
        if each.hourly and each.machine is None:
            yield message("terminal.forecast-hourly", model=each.model)
    yield message("terminal.forecast-assumes")


def _format_range(value: Range | None, places: int) -> str:
    if value is None:
        return _UNKNOWN
    if value.low is None or value.high is None:
        return f"{value.value:,.{places}f}"
    return f"{value.value:,.{places}f} ({value.low:,.{places}f}–{value.high:,.{places}f})"

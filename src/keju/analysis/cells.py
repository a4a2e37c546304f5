"""`Cell`: a number in a table of the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeVar

from keju.analysis.labels import NOTHING
from keju.statistics import Interval

Who = TypeVar("Who")


class Cell(NamedTuple):
    """One number as it is shown, the text below it, and its mark."""

    value: str = NOTHING
    note: str = ""
    title: str = ""
    best: bool = False
    second: bool = False


def correlation_cell(value: float | None, interval: Interval | None) -> Cell:
    """A correlation from -1 to 1 with its interval."""
    if value is None:
        return Cell(title="one side does not vary")
    note = f"{interval.low:+.2f} to {interval.high:+.2f}" if interval else ""
    return Cell(f"{value:+.2f}", note=note)


def marks(
    values: Mapping[Who, float], *, higher_is_better: bool = True
) -> dict[Who, Literal["best", "second"]]:
    """The best and the second of two or more, by values rounded as they are printed.

    Ties get the same mark. If two share the best value there is no second.
    """
    order = sorted(values.values(), reverse=higher_is_better)
    if len(order) < 2:
        return {}
    found: dict[Who, Literal["best", "second"]] = {}
    for name, value in values.items():
        if value == order[0]:
            found[name] = "best"
        elif value == order[1]:
            found[name] = "second"
    return found

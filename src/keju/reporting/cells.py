"""What a table of the report is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from keju.reporting.labels import NOTHING


class Cell(NamedTuple):
    """One number of a table as it is shown, what stands below it, and how it is marked."""

    value: str = NOTHING
    note: str = ""
    title: str = ""
    best: bool = False
    second: bool = False


def marks(
    values: Mapping[str, float], *, higher_is_better: bool = True
) -> dict[str, Literal["best", "second"]]:
    """Who is best and who second of two or more, as they are printed.

    All that tie are marked alike. Two that share the best leave no second.
    """
    shown = {name: round(100 * value, 1) for name, value in values.items()}
    order = sorted(shown.values(), reverse=higher_is_better)
    if len(order) < 2:
        return {}
    found: dict[str, Literal["best", "second"]] = {}
    for name, value in shown.items():
        if value == order[0]:
            found[name] = "best"
        elif value == order[1]:
            found[name] = "second"
    return found

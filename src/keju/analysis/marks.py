"""Values as they are printed, and the best and the second-best of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

Who = TypeVar("Who")


def printed(value: float) -> float:
    """A fraction in percent with one decimal, as tables print it: ranks and orders are by it."""
    return round(100 * value, 1)


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

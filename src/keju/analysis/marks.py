"""Values as they are printed, and the best and the second-best of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

Who = TypeVar("Who")


def printed(value: float) -> float:
    """A fraction in percent with one decimal, as tables print it: ranks and orders are by it."""
    return round(100 * value, 1)


def is_open(ends: tuple[float, float], other_ends: tuple[float, float]) -> bool:
    """Whether unclear answers decide the order of two values: their ranges overlap.

    Two equal values without a range are a tie, which is decided.
    """
    if ends == other_ends and ends[0] == ends[1]:
        return False
    return min(ends) <= max(other_ends) and min(other_ends) <= max(ends)


def marks_of_ranges(
    values: Mapping[Who, tuple[float, float]], *, higher_is_better: bool = True
) -> dict[Who, Literal["best", "second"]]:
    """The marks of values whose order with all others is decided (see `is_open`).

    Args:
        values: both ends of each value, rounded as they are printed.
        higher_is_better: whether a higher value is better.
    """
    places = marks(
        {name: ends[0] for name, ends in values.items()}, higher_is_better=higher_is_better
    )
    return {
        name: mark
        for name, mark in places.items()
        if not any(is_open(values[name], values[other]) for other in values if other != name)
    }


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

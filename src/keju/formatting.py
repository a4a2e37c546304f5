"""How values are shown in tables and figures: percent, p, and a dash where there is none."""

from __future__ import annotations

from math import ceil

NOTHING = "–"


def percent(value: float | None) -> str:
    """A fraction in percent with one decimal, or a dash."""
    return NOTHING if value is None else f"{100 * value:.1f}"


def percent_range(value: float | None, value_if_right: float | None) -> str:
    """Both ends of a value in percent, the lower number first; one number if they print alike.

    Args:
        value: the value with unclear answers as wrong.
        value_if_right: the value if they were right; None where there is no range.
    """
    if value is None or value_if_right is None:
        return percent(value)
    return number_range(100 * value, 100 * value_if_right, ".1f")


def number_range(first: float, second: float, form: str = "") -> str:
    """Both ends of a number, the lower one first; one number if they print alike.

    Args:
        first: one end.
        second: the other end.
        form: the format of each number.
    """
    return "–".join(dict.fromkeys(format(end, form) for end in sorted((first, second))))


def unclear_percent(share: float) -> str:
    """A share of unclear answers in percent, with up to three digits."""
    return f"{100 * share:.3g}"


def format_p(value: float | None) -> str:
    """A p value with three digits and without the leading 0, or a dash.

    It is rounded up, so that a p above .05 is never printed as .050: .0503 is printed as .051.
    """
    if value is None:
        return NOTHING
    if value < 0.001:
        return "<.001"
    return f"{ceil(1000 * value - 1e-9) / 1000:.3f}".removeprefix("0")

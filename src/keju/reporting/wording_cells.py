"""Cells of the sensitivity to wording."""

from __future__ import annotations

from keju.analysis.wording_spread import SpreadRow
from keju.formatting import NOTHING, percent
from keju.messages import message
from keju.statistics import Interval


def wording_value(row: SpreadRow, wording: str) -> str:
    """The value in a wording in percent; a dash without a value."""
    return percent(dict(zip(row.wordings, row.found.values, strict=True)).get(wording))


def spread_text(row: SpreadRow) -> str:
    """The spread with its interval in percent points."""
    return _add_interval(row.found.spread, row.found.spread_interval)


def deviation_text(row: SpreadRow) -> str:
    """The standard deviation with its interval in percent points."""
    return _add_interval(row.found.deviation, row.found.deviation_interval)


def p_text(row: SpreadRow) -> str:
    """The p of the permutation test."""
    return NOTHING if row.found.p is None else f"{row.found.p:.3f}".removeprefix("0")


def _add_interval(value: float, interval: Interval | None) -> str:
    shown = percent(value)
    if interval is None:
        return shown
    low, high = percent(interval.low), percent(interval.high)
    return message("reporting.value-with-bounds", value=shown, low=low, high=high)

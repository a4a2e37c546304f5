"""`Cell`: a number in a table of the report."""

from __future__ import annotations

from typing import NamedTuple

from keju.formatting import NOTHING, percent
from keju.statistics import Correlation, Interval
from keju.texts import Text, _


class Cell(NamedTuple):
    """One number as it is shown, the text below it, and its mark."""

    value: str = NOTHING
    note: str = ""
    title: str = ""
    best: bool = False
    second: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the value is a text in place of a number."""
        return isinstance(self.value, Text)

    def marked(self, mark: str | None) -> Cell:
        """The cell as the ``best`` or the ``second`` of its row or column, or as neither."""
        return self._replace(best=mark == "best", second=mark == "second")


def correlation_cell(found: Correlation) -> Cell:
    """A correlation from -1 to 1 with its interval."""
    if found.value is None:
        return Cell(title=_("one side does not vary"))
    bounds = found.interval
    note = bounds_text(f"{bounds.low:+.2f}", f"{bounds.high:+.2f}") if bounds else ""
    return Cell(f"{found.value:+.2f}", note=note)


def bounds_text(low: str, high: str) -> Text:
    """The ends of an interval as text."""
    return _("{} to {}", low, high)


def signed_range(least: float, most: float) -> str:
    """A difference in percent points; both ends while answers are unclear."""
    ends = list(dict.fromkeys(f"{100 * end:+.1f}" for end in sorted((least, most))))
    return bounds_text(*ends) if len(ends) > 1 else ends[0]


def interval_text(interval: Interval | None) -> str:
    """An interval of fractions in percent; empty without one."""
    return bounds_text(percent(interval.low), percent(interval.high)) if interval else ""

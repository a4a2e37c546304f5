"""`Cell`: a number in a table of the report."""

from __future__ import annotations

from typing import NamedTuple

from keju.analysis.correlation import Correlation
from keju.formatting import NOTHING


class Cell(NamedTuple):
    """One number as it is shown, the text below it, and its mark."""

    value: str = NOTHING
    note: str = ""
    title: str = ""
    best: bool = False
    second: bool = False


def correlation_cell(found: Correlation) -> Cell:
    """A correlation from -1 to 1 with its interval."""
    if found.value is None:
        return Cell(title="one side does not vary")
    bounds = found.interval
    note = f"{bounds.low:+.2f} to {bounds.high:+.2f}" if bounds else ""
    return Cell(f"{found.value:+.2f}", note=note)

"""Cells of the comparison of a model's input settings."""

from __future__ import annotations

from keju.analysis.input_settings import StepRow
from keju.formatting import percent
from keju.messages import join_lines, message
from keju.reporting.cells import Cell, bounds_text
from keju.scoring import TaskComparison
from keju.statistics import FEWEST_GROUPS


def step_cells(row: StepRow) -> list[Cell]:
    """The value in each setting, then the differences between them."""
    values = [Cell(percent(value)) for value in row.values]
    return [*values, *(Cell() if each is None else _step(each) for each in row.steps)]


def _step(found: TaskComparison) -> Cell:
    value = f"{100 * found.difference:+.1f}"
    if found.groups < FEWEST_GROUPS:
        few = message("reporting.groups-of-needed", groups=found.groups, needed=FEWEST_GROUPS)
        return Cell(value, note=message("reporting.too-few-groups"), title=few)
    if found.low is None or found.high is None or found.p is None:
        return Cell(value, note=message("reporting.not-testable"))
    sure = message("reporting.sure") if found.p <= 0.05 else message("reporting.not-sure")
    bounds = bounds_text(f"{100 * found.low:+.1f}", f"{100 * found.high:+.1f}")
    return Cell(
        value,
        note=join_lines([bounds, sure]),
        title=message("reporting.p-of-groups", p=f"{found.p:.3f}", groups=found.groups),
    )

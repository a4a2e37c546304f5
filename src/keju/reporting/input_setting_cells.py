"""Cells of the comparison of a model's input settings."""

from __future__ import annotations

from keju.analysis.input_settings import StepRow
from keju.formatting import percent
from keju.reporting.cells import Cell
from keju.scoring import TaskComparison
from keju.statistics import FEWEST_GROUPS


def step_cells(row: StepRow) -> list[Cell]:
    """The value in each setting, then the differences between them."""
    values = [Cell(percent(value)) for value in row.values]
    return [*values, *(Cell() if each is None else _step(each) for each in row.steps)]


def _step(found: TaskComparison) -> Cell:
    value = f"{100 * found.difference:+.1f}"
    if found.groups < FEWEST_GROUPS:
        return Cell(value, note="too few groups", title=f"{found.groups} of {FEWEST_GROUPS} groups")
    if found.low is None or found.high is None or found.p is None:
        return Cell(value, note="not testable")
    sure = "sure" if found.p <= 0.05 else "not sure"
    return Cell(
        value,
        note=f"{100 * found.low:+.1f} to {100 * found.high:+.1f}\n{sure}",
        title=f"p = {found.p:.3f}, paired randomisation over {found.groups} groups",
    )

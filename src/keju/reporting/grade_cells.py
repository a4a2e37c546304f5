"""Cells of judges' grades."""

from __future__ import annotations

from keju.analysis.grades import GradeRow, GradeValue
from keju.formatting import percent
from keju.messages import join_lines, message
from keju.reporting.cells import Cell, bounds_text


def grade_cells(row: GradeRow) -> list[Cell]:
    """A cell for each model of the report."""
    return [
        Cell()
        if each is None
        else _cell(each)._replace(best=each.mark == "best", second=each.mark == "second")
        for each in row.values
    ]


def _cell(value: GradeValue) -> Cell:
    grade = value.grade
    if grade.mean is None:
        return Cell(title=grade.signature)
    notes = []
    if grade.low is not None and grade.high is not None:
        notes.append(bounds_text(f"{grade.low:.2f}", f"{grade.high:.2f}"))
    notes.append(message("reporting.of-graded", graded=grade.graded, answers=grade.answers))
    if grade.missing and grade.graded_mean is not None:
        notes.append(message("reporting.graded-only", mean=f"{grade.graded_mean:.2f}"))
    if value.scored:
        notes.append(message("reporting.strict-value", value=percent(value.strict)))
    return Cell(f"{grade.mean:.2f}", note=join_lines(notes), title=grade.signature)

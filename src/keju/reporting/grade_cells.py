"""Cells of judges' grades."""

from __future__ import annotations

from keju.analysis.grades import GradeRow, GradeValue
from keju.formatting import percent
from keju.reporting.cells import Cell


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
        notes.append(f"{grade.low:.2f} to {grade.high:.2f}")
    notes.append(f"{grade.graded} of {grade.answers} graded")
    if grade.missing and grade.graded_mean is not None:
        notes.append(f"graded only {grade.graded_mean:.2f}")
    if value.scored:
        notes.append(f"strict {percent(value.strict)}")
    return Cell(f"{grade.mean:.2f}", note="\n".join(notes), title=grade.signature)

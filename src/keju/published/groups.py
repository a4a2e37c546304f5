"""The groups of rows in the papers' tables, such as closed-source models."""

from __future__ import annotations

from keju.published.models import published_model
from keju.published.papers import paper

AVERAGE = "Average"
"""The row, or the subset of a task's images, that is the mean of the others."""


def group_of(benchmark: str, table: str, row: str) -> str:
    """The title of the group that a row of a printed table is in; empty where it is in none."""
    model = published_model(benchmark, row)
    if model is None:
        return ""
    size = model.size_b
    for each in paper(benchmark).groups:
        if table not in each.tables:
            continue
        if (
            model.name in each.models
            or (each.kind is not None and model.kind == each.kind)
            or (each.size_b and size is not None and each.size_b[0] <= size <= each.size_b[1])
        ):
            return each.title
    return ""

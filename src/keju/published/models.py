"""The models in the papers, with the names in their tables and the groups of their rows."""

from __future__ import annotations

from functools import cache
from typing import Literal

from msgspec import field
from msgspec.structs import replace

from keju.items import Record
from keju.published.papers import (
    Kind,
    csv_records,
    csv_rows,
    paper,
    paper_file,
    papers,
)

AVERAGE = "Average"
"""The row, or the subset of a task's images, that is the mean of the others."""

Role = Literal["evaluated", "supplementary", "judge", "human"]
"""In the main tables; only in a supplementary one; a grader of others; people."""


class PublishedModel(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One model of one paper.

    `name` is as the tables of results print it, `also_printed_as` another spelling of the same
    paper. `size_b` is billions of parameters, as the paper or the name says; None if neither does.
    `vendor` is who made it, empty for people and if unknown. `details` are the columns of
    the paper's own table of models (`Paper.models_table`) as printed, without dashes; empty where
    that table does not have the model.
    """

    benchmark: str
    role: Role
    name: str
    vendor: str = ""
    kind: Kind
    size_b: float | None = None
    also_printed_as: str = ""
    details: dict[str, str] = field(default_factory=dict)


def published_models(benchmark: str = "") -> tuple[PublishedModel, ...]:
    """The models of one paper or of all, in their order; one that is a judge too is listed twice.

    Raises:
        UsageError: nothing is stored of that benchmark's paper.
        DataError: a file of models is not what it must be.
    """
    names = (benchmark,) if benchmark else papers()
    return tuple(model for name in names for model in _models(name))


@cache
def _models(benchmark: str) -> tuple[PublishedModel, ...]:
    details = {row.pop("model"): row for row in _details(benchmark)}
    file = paper_file(benchmark, "models.csv")
    records = csv_records(file, PublishedModel, _name_of, benchmark=benchmark)
    return tuple(replace(each, details=details.get(each.name, {})) for each in records)


def _name_of(model: PublishedModel) -> str:
    return f"{'judge' if model.role == 'judge' else 'model'} {model.name!r}"


def _details(benchmark: str) -> list[dict[str, str]]:
    """The rows of the paper's own table of models; none if it has none."""
    if table := paper(benchmark).models_table:
        rows = csv_rows(paper_file(benchmark, f"models-{table}.csv".lower().replace(" ", "-")))
        return [{name: str(text) for name, text in row.cells.items()} for row in rows]
    return []


def published_model(benchmark: str, name: str) -> PublishedModel | None:
    """The model that a paper's table names so, in either spelling; None if it has none."""
    return next(
        (
            each
            for each in (_models(benchmark) if benchmark in papers() else ())
            if each.role != "judge" and name in (each.name, each.also_printed_as)
        ),
        None,
    )


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

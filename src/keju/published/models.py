"""The models that the three papers put to the test, as their tables name them."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import field

from keju.items import Record

Role = Literal["evaluated", "supplementary", "judge", "human"]
"""In the main tables; only in a supplementary one; a grader of others; people."""

Kind = Literal["closed-mllm", "open-mllm", "llm", "ocr", "human"]


class PublishedModel(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One model of one paper.

    `name` is as the tables of results print it, `also_printed_as` another spelling of the same
    paper. `size_b` is billions of parameters, as the paper or the name says; None if neither does.
    `vendor` is who made it, empty for people and if unknown. `details` are the columns of
    the paper's own table of models (MCS-Bench's Table 6, OBI-Bench's Table 9) as printed, without
    dashes; empty where that table does not have the model.
    """

    benchmark: str
    role: Role
    name: str
    vendor: str
    kind: Kind
    size_b: float | None
    also_printed_as: str = ""
    details: dict[str, str] = field(default_factory=dict)


DETAILS = {"MCS-Bench": "Table 6", "OBI-Bench": "Table 9"}
"""The papers' tables of models. AncientDoc has none."""


@cache
def published_models() -> tuple[PublishedModel, ...]:
    """Every model of the papers, in their order; one that is a judge too is listed twice."""
    details = {benchmark: _details(benchmark, table) for benchmark, table in DETAILS.items()}
    rows = tuple(
        {
            **row,
            "size_b": row["size_b"] or None,
            "details": details.get(row["benchmark"], {}).get(row["name"], {}),
        }
        for row in _rows("models.csv")
    )
    return msgspec.convert(rows, tuple[PublishedModel, ...], strict=False)


def _details(benchmark: str, table: str) -> dict[str, dict[str, str]]:
    rows = _rows("models", f"{benchmark} {table}.csv".lower().replace(" ", "-"))
    return {row.pop("model"): row for row in rows}


def _rows(*path: str) -> list[dict[str, str]]:
    with files("keju.published").joinpath("data", *path).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def published_model(benchmark: str, name: str) -> PublishedModel | None:
    """The model that a paper's table names so, in either spelling; None if it has none."""
    return next(
        (
            each
            for each in published_models()
            if each.benchmark == benchmark
            and each.role != "judge"
            and name in (each.name, each.also_printed_as)
        ),
        None,
    )

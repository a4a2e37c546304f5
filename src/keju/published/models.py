"""The models that the three papers put to the test, as their tables name them."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from keju.items import Record

Role = Literal["evaluated", "supplementary", "judge", "human"]
"""In the main tables; only in a supplementary one; a grader of others; people."""

Kind = Literal["closed-mllm", "open-mllm", "llm", "ocr", "human"]


class PublishedModel(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One model of one paper.

    `name` is as the tables of results print it, `also_printed_as` another spelling of the same
    paper. `size_b` is billions of parameters, as the paper or the name says; None if neither does.
    `vendor` is who made it, empty for people and where it isn't known.
    """

    benchmark: str
    role: Role
    name: str
    vendor: str
    kind: Kind
    size_b: float | None
    also_printed_as: str = ""


@cache
def published_models() -> tuple[PublishedModel, ...]:
    """Every model of the papers, in their order; one that is a judge too is listed twice."""
    with files("keju.published").joinpath("data", "models.csv").open(encoding="utf-8") as stream:
        rows = [{**row, "size_b": row["size_b"] or None} for row in csv.DictReader(stream)]
    return msgspec.convert(tuple(rows), tuple[PublishedModel, ...], strict=False)


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

"""The groups of rows in the papers' tables, such as closed-source models."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from keju.items import Record
from keju.published.models import Kind, published_model

AVERAGE = "Average"
"""The last row of MCS-Bench's tables: the mean of its 37 models, without OCR engines."""


class _Group(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    benchmark: str
    tables: tuple[str, ...]
    title: str
    kind: Kind | None = None
    size_b: tuple[float, float] | None = None
    models: tuple[str, ...] = ()


def group_of(benchmark: str, table: str, row: str) -> str:
    """The title of the group that a row of a printed table is in; empty where it is in none."""
    model = published_model(benchmark, row)
    for each in _groups():
        if model is None or each.benchmark != benchmark or table not in each.tables:
            continue
        size = model.size_b
        if (
            model.name in each.models
            or (each.kind is not None and model.kind == each.kind)
            or (each.size_b and size is not None and each.size_b[0] <= size <= each.size_b[1])
        ):
            return each.title
    return ""


@cache
def _groups() -> tuple[_Group, ...]:
    text = files("keju.published").joinpath("data", "groups.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text)["groups"], tuple[_Group, ...])

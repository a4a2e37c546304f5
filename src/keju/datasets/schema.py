"""`SCHEMA`: the columns of a table of items, and the check of tables that other programs wrote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from keju.errors import DataError

_ENTRIES = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))

_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "id": pl.String,
    "benchmark": pl.String,
    "task": pl.String,
    "query": pl.String,
    "images": pl.List(
        pl.Struct(
            {
                "path": pl.String,
                "sha256": pl.String,
                "width": pl.Int64,
                "height": pl.Int64,
                "size": pl.Int64,
            }
        )
    ),
    "question": pl.String,
    "question_in": _ENTRIES,
    "verbatim": pl.Boolean,
    "fields": _ENTRIES,
    "options": pl.List(pl.String),
    "answer": pl.String,
    "answer_simplified": pl.String,
    "also_accepted": pl.List(pl.String),
    "boxes": pl.List(
        pl.Struct({"x0": pl.Float64, "y0": pl.Float64, "x1": pl.Float64, "y1": pl.Float64})
    ),
    "transcription": pl.String,
    "lines": pl.List(
        pl.Struct(
            {
                "id": pl.String,
                "text": pl.String,
                "polygon": pl.List(pl.List(pl.Float64)),
                "kind": pl.String,
                "source_kind": pl.String,
                "confidence": pl.Float64,
            }
        )
    ),
    "relevant": pl.List(pl.Int64),
    "group": pl.String,
    "split": pl.String,
    "metadata": _ENTRIES,
    "provenance": pl.List(
        pl.Struct(dict.fromkeys(("step", "tool", "source", "licence", "person", "note"), pl.String))
    ),
    "draft": pl.Boolean,
}
SCHEMA = pl.Schema(_COLUMNS)
"""The columns of items.parquet. A dict is a list of key and value, a point a list of x and y."""


def as_items(path: Path, frame: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """A table with the columns of items, as pandas may have written it.

    pandas gives a column, or a part of one, without values no type, and stores the index of rows
    that it has filtered.

    Args:
        path: its file, for the error.
        frame: the table.
        columns: the chosen columns; those that the table lacks are added without values.

    Raises:
        DataError: it is not a table of items.
    """
    frame = frame.drop(_PANDAS_INDEX, strict=False)
    untyped = [
        pl.col(name).cast(SCHEMA[name])
        for name, kind in frame.schema.items()
        if name in SCHEMA and kind != SCHEMA[name] and _fits(kind, SCHEMA[name])
    ]
    frame = frame.with_columns(untyped)
    missing = [name for name in _NEEDED if columns is None and name not in frame.schema]
    if missing or not set(frame.schema) <= set(SCHEMA):
        raise DataError(
            "not a table of items: expected the columns {}; found {}",
            _names(SCHEMA),
            _names(frame.schema),
            file=path,
        )
    for name, kind in frame.schema.items():
        if kind != SCHEMA[name]:
            raise DataError(
                "column {!r} must be {}, but is {}", name, SCHEMA[name], kind, file=path
            )
    if columns is None:
        return frame
    absent = [pl.lit(None, SCHEMA[name]).alias(name) for name in columns if name not in frame]
    return frame.with_columns(absent).select(columns)


_PANDAS_INDEX = "__index_level_0__"
_NEEDED = ("id", "benchmark", "task")


def _fits(kind: object, wanted: object) -> bool:
    """Whether a type of a column is the expected one, except for parts without any value."""
    if kind in (wanted, pl.Null):
        return True
    if isinstance(kind, pl.List) and isinstance(wanted, pl.List):
        return _fits(kind.inner, wanted.inner)
    if isinstance(kind, pl.Struct) and isinstance(wanted, pl.Struct):
        pairs = list(zip(kind.fields, wanted.fields, strict=False))
        return len(kind.fields) == len(wanted.fields) and all(
            one.name == other.name and _fits(one.dtype, other.dtype) for one, other in pairs
        )
    return False


def _names(schema: Iterable[str]) -> str:
    names = list(schema)
    return ", ".join(names[:20]) + (" …" if len(names) > 20 else "")

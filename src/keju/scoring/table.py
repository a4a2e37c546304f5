"""Scores as a parquet table."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import msgspec
import polars as pl

from keju.errors import DataError
from keju.files import write_atomic
from keju.items import Score

_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "key": pl.String,
    "item": pl.String,
    "model": pl.String,
    "benchmark": pl.String,
    "task": pl.String,
    "query": pl.String,
    "protocol": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "setting": pl.String,
    "script": pl.String,
    "wording": pl.String,
    "round": pl.Int64,
    "group": pl.String,
    "status": pl.String,
    "verdict": pl.String,
    "reason": pl.String,
    "extracted": pl.String,
    "extracted_from": pl.String,
    "stats": pl.List(pl.Struct({"name": pl.String, "value": pl.Float64})),
    "signature": pl.String,
}
SCHEMA = pl.Schema(_COLUMNS)
"""The columns of scores/<model>.parquet; `value` is null where a response is unscored."""


def write_scores(path: Path, scores: Sequence[Score]) -> None:
    """Write scores as parquet, atomically."""
    columns: dict[str, list[object]] = {
        name: [getattr(score, name) for score in scores] for name in _COLUMNS if name != "stats"
    }
    columns["stats"] = [
        [{"name": name, "value": float(value)} for name, value in score.stats.items()]
        for score in scores
    ]
    frame = pl.DataFrame(columns, schema_overrides=SCHEMA).select(list(SCHEMA))
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False)
    write_atomic(path, buffer.getvalue())


def read_scores(path: Path) -> list[Score]:
    """Read scores that `write_scores` wrote.

    Raises:
        DataError: the file is missing, damaged, or is not a table of scores.
    """
    try:
        frame = pl.read_parquet(io.BytesIO(path.read_bytes()))
    except FileNotFoundError:
        raise DataError("no such file", file=path, mend="Make it with: keju score RUN") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = next(iter(str(error).splitlines()), "")
        raise DataError(f"not readable as parquet: {reason}", file=path) from None
    if frame.schema != SCHEMA:
        raise DataError(
            "not a table of scores of this version", file=path, mend="Make it with: keju score RUN"
        )
    try:
        return [
            msgspec.convert(row | {"stats": {s["name"]: s["value"] for s in row["stats"]}}, Score)
            for row in frame.iter_rows(named=True)
        ]
    except msgspec.ValidationError as error:
        raise DataError(f"not a score: {error}", file=path) from None

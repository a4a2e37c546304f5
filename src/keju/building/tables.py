"""The tables beside a build's datasets: dropped items with reasons, rejected files, changes."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from keju.building.columns import make_table
from keju.files import cell_text, write_atomic


def write_table(
    folder: Path, name: str, rows: Sequence[Struct], shape: type[Struct] | None = None
) -> None:
    """Write rows as FOLDER/NAME.parquet (exact) and .csv (for spreadsheets).

    Lists are JSON in the CSV; a text that a spreadsheet would read as a formula gets an apostrophe
    before it.

    Args:
        folder: of the tables; it is created.
        name: of the table.
        rows: flat records, all of one type.
        shape: that type; without it, no table is written if there are no rows.
    """
    import polars as pl  # noqa: PLC0415 - heavy

    shape = shape or (type(rows[0]) if rows else None)
    if shape is None:
        return
    frame = pl.DataFrame(pl.from_arrow(make_table(rows, shape)))
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False)
    write_atomic(folder / f"{name}.parquet", buffer.getvalue())
    lists = [column for column, kind in frame.schema.items() if isinstance(kind, pl.List)]
    as_text = frame.with_columns(
        pl.Series(
            column,
            [
                json.dumps(msgspec.to_builtins(getattr(row, column)), ensure_ascii=False)
                for row in rows
            ],
            dtype=pl.String,
        )
        for column in lists
    )
    texts = pl.col(pl.String)
    as_text = as_text.with_columns(texts.map_elements(cell_text, return_dtype=pl.String))
    # By the byte order mark spreadsheets recognise UTF-8.
    write_atomic(folder / f"{name}.csv", as_text.write_csv(include_bom=True))

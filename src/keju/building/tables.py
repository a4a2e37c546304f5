"""The tables beside a build's datasets, and flat records as Arrow tables of declared types."""

from __future__ import annotations

import io
import json
import os
import types
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Struct

from keju.files import cell_text, replace_file, write_atomic

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


_BATCH = 5000
"""Rows that are in memory at a time."""


def write_table(
    folder: Path, name: str, rows: Iterable[Struct], shape: type[Struct] | None = None
) -> None:
    """Write rows as FOLDER/NAME.parquet (exact) and .csv (for spreadsheets).

    Lists are JSON in the CSV; a text that a spreadsheet would read as a formula gets an apostrophe
    before it.

    The rows are flat records, all of one type, which is `shape`; without it, no table is written if
    there are no rows.
    """
    batches = _iter_batches(rows)
    first = next(batches, [])
    shape = shape or (type(first[0]) if first else None)
    if shape is not None:
        csv = folder / f"{name}.csv"
        _write_batches(folder / f"{name}.parquet", csv, chain([first], batches), shape)


def write_rows(path: Path, rows: Iterable[Struct], shape: type[Struct]) -> None:
    """Write rows as one parquet file, in batches."""
    _write_batches(path, None, _iter_batches(rows), shape)


def _as_parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


def _iter_batches(rows: Iterable[Struct]) -> Iterator[list[Struct]]:
    rest = iter(rows)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _write_batches(
    parquet: Path, csv: Path | None, batches: Iterator[list[Struct]], shape: type[Struct]
) -> None:
    """Write batches to files, which have their names when complete."""
    first, second = next(batches, []), next(batches, [])
    if not second:
        frame = _make_frame(first, shape)
        write_atomic(parquet, _as_parquet(frame))
        if csv:
            # By the byte order mark spreadsheets recognise UTF-8.
            write_atomic(csv, _as_text(frame, first).write_csv(include_bom=True))
        return
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - heavy

    parquet.parent.mkdir(parents=True, exist_ok=True)
    partial = {
        path: path.with_name(f".{path.name}.{os.getpid()}") for path in (parquet, csv) if path
    }
    try:
        with ExitStack() as opened:
            table = opened.enter_context(
                ParquetWriter(
                    partial[parquet], make_schema(shape), compression="zstd", write_statistics=False
                )
            )
            texts = opened.enter_context(partial[csv].open("wb")) if csv else None
            for number, batch in enumerate(chain((first, second), batches)):
                table.write_table(make_table(batch, shape))
                if texts:
                    frame = _as_text(_make_frame(batch, shape), batch)
                    frame.write_csv(texts, include_bom=not number, include_header=not number)
        for path, done in partial.items():
            replace_file(done, path)
    finally:
        for done in partial.values():
            done.unlink(missing_ok=True)


def _make_frame(rows: Sequence[Struct], shape: type[Struct]) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - heavy

    return pl.DataFrame(pl.from_arrow(make_table(rows, shape)))


def _as_text(frame: pl.DataFrame, rows: Sequence[Struct]) -> pl.DataFrame:
    """Convert lists to JSON, and texts to cells without formulae."""
    import polars as pl  # noqa: PLC0415 - heavy

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
    return as_text.with_columns(texts.map_elements(cell_text, return_dtype=pl.String))


R = TypeVar("R", bound=Struct)


def make_schema(shape: type[Struct]) -> pa.Schema:
    """Make the schema of a record: str, int, float, bool, bytes, lists or tuples of them, or None.

    Types are declared and not inferred, since an empty column would get another type.

    Raises:
        TypeError: a field is of another type.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy, and only engines need it

    hints = get_type_hints(shape, include_extras=False)
    return pa.schema(
        [pa.field(name, _get_arrow_type(hints[name])) for name in shape.__struct_fields__]
    )


def make_table(rows: Sequence[Struct], shape: type[Struct]) -> pa.Table:
    """Make a table of records, one row each."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    schema = make_schema(shape)
    columns = [
        pa.array([getattr(row, name) for row in rows], type=schema.field(name).type)
        for name in schema.names
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def read_rows(table: pa.Table, shape: type[R]) -> list[R]:
    """Read the records of a table that `make_table` made."""
    names = shape.__struct_fields__
    columns = [table.column(name).to_pylist() for name in names]
    return [
        msgspec.convert(dict(zip(names, values, strict=True)), shape)
        for values in zip(*columns, strict=True)
    ]


def encode_part(table: pa.Table) -> bytes:
    """Encode a table as a parquet file."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def decode_part(data: bytes | None, schema: pa.Schema) -> pa.Table | None:
    """Decode a file of `encode_part`; None if it is missing, incomplete, or has other columns."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    if data is None:
        return None
    try:
        table = pq.ParquetFile(pa.BufferReader(data)).read()
    except (OSError, pa.ArrowException):
        return None
    return table if table.schema.equals(schema) else None


def _get_arrow_type(kind: Any) -> pa.DataType:  # noqa: ANN401 - annotations are of any type
    import pyarrow as pa  # noqa: PLC0415 - as above

    plain: dict[object, pa.DataType] = {
        str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(),
        bytes: pa.binary(),
    }  # fmt: skip
    if kind in plain:
        return plain[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _get_arrow_type(inner[0])
    if origin in {list, tuple} and inner:
        return pa.list_(_get_arrow_type(inner[0]))
    if origin in {Union, types.UnionType}:
        some = [each for each in inner if each is not type(None)]
        if len(some) == 1:
            return _get_arrow_type(some[0])
    raise TypeError(f"a field of an engine's record cannot be of the type {kind}")

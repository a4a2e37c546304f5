"""Conversion of flat records to Arrow tables of declared types and back, without loss."""

from __future__ import annotations

import types
from collections.abc import Sequence
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

if TYPE_CHECKING:
    import pyarrow as pa

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

"""Items as a parquet table with columns of declared types, without loss."""

from __future__ import annotations

import errno
import io
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from keju.errors import DataError
from keju.files import write_atomic
from keju.items import ImageRef, Item
from keju.messages import message

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

_REPEATED = ("benchmark", "task", "query", "group", "split")
"""Values that many items share, so that each is in memory once."""

_FEW = 64
"""The number of items that exist as Python rows at a time: those of a gallery are large."""


def write_items(path: Path, items: list[Item], *, rows: int | None = None) -> None:
    """Write items as parquet, atomically.

    Args:
        path: the file.
        items: the items, in this order.
        rows: maximum rows of a group, so that one item can be read by itself.

    Raises:
        DataError: an item contains something that cannot be stored (see `as_stored`).
    """
    try:
        frame = items_frame(items)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise DataError(message("datasets.items-not-storable", error=error), file=path) from None
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False, row_group_size=rows)
    write_atomic(path, buffer.getvalue())


def items_frame(items: list[Item]) -> pl.DataFrame:
    """Items as a table with the columns of `SCHEMA`, one row per item, in their order.

    Raises:
        DataError: an item cannot be stored (see `as_stored`).
    """
    return pl.concat(
        pl.DataFrame([_row(as_stored(item)) for item in few], schema=SCHEMA, orient="row")
        for few in _few_at_a_time(items)
    )


def copy_items(source: Path, target: Path, ids: Iterable[str]) -> None:
    """Copy those items of a table into another, in their order and unchanged.

    The rows are not converted to items, which for a large table would take ten times as long.

    Raises:
        DataError: the source is missing or damaged, or the target cannot be written.
    """
    frame = _as_items(source, frame_of(source))
    buffer = io.BytesIO()
    chosen = frame.filter(pl.col("id").is_in(list(ids)))
    chosen.write_parquet(buffer, compression="zstd", statistics=False)
    write_atomic(target, buffer.getvalue())


def read_ids(path: Path) -> list[str]:
    """The ids of a table's items, in their order.

    Raises:
        DataError: the file is missing, damaged, or is not a table of items.
    """
    frame = frame_of(path, columns=["id"])
    return [str(each) for each in frame["id"]]


def read_items(path: Path) -> list[Item]:
    """Read items that `write_items` wrote.

    Raises:
        DataError: the file is missing, damaged, or is not a table of items.
    """
    return list(iter_items(path))


def iter_items(path: Path) -> Iterator[Item]:
    """The items that `read_items` reads, one after the other.

    Raises:
        DataError: the file is missing, damaged, or is not a table of items.
    """
    frame = _as_items(path, frame_of(path))
    yield from _items_of(frame.iter_rows(named=True, buffer_size=_FEW), path)


def _items_of(rows: Iterable[dict[str, Any]], path: Path) -> Iterator[Item]:
    known: dict[tuple[object, ...], ImageRef] = {}
    for number, row in enumerate(rows, start=1):
        try:
            row["images"] = [_shared(ref, known) for ref in row.get("images") or ()]
            item = msgspec.convert(_plain(row), Item)
        except (msgspec.ValidationError, TypeError) as error:
            raise DataError(
                message("datasets.not-an-item", error=error),
                file=path,
                item=f"row {number} ({row['id']})",
            ) from None
        yield item


class ItemTable:
    """A table of items from which single ones are read; opening it reads only the ids.

    Raises:
        DataError: the file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        from pyarrow import ArrowException  # noqa: PLC0415 - slow to import
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415

        self._path = path
        try:
            self._table = ParquetFile(path, memory_map=True)
            self._places = {
                name: (group, row)
                for group in range(self._table.num_row_groups)
                for row, name in enumerate(
                    self._table.read_row_group(group, columns=["id"]).column(0).to_pylist()
                )
            }
        except (OSError, ArrowException, KeyError) as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(
                message("datasets.items-unreadable", reason=reason), file=path
            ) from None

    def item(self, name: str) -> Item:
        """The item of that id; reads the rows of its group.

        Raises:
            DataError: there is none, or it is damaged.
        """
        place = self._places.get(name)
        if place is None:
            raise DataError(message("datasets.no-item"), file=self._path, item=name)
        group, row = place
        table = self._table.read_row_group(group, use_threads=False).slice(row, 1)
        return next(_items_of(table.to_pylist(), self._path))


def _few_at_a_time(items: list[Item]) -> Iterator[list[Item]]:
    """The items in batches of `_FEW`; one empty batch where there are none."""
    return (items[start : start + _FEW] for start in range(0, max(1, len(items)), _FEW))


def _shared(row: dict[str, object], known: dict[tuple[object, ...], ImageRef]) -> ImageRef:
    """One object per image, shared by its items: galleries repeat each hundreds of times.

    Raises:
        msgspec.ValidationError: it is not a reference to an image.
    """
    place = tuple(row.values())
    if place not in known:
        known[place] = msgspec.convert(row, ImageRef)
    return known[place]


def as_stored(item: Item) -> Item:
    """The item as it is read back from disk: lists as tuples, whole coordinates as floats.

    Raises:
        DataError: text that is not valid Unicode (a lone surrogate), a coordinate that is not a
            number, a value of the wrong type.
    """
    try:
        return msgspec.json.decode(msgspec.json.encode(item), type=Item)
    except (UnicodeEncodeError, TypeError, msgspec.MsgspecError) as error:
        raise DataError(
            message("datasets.item-not-storable", error=error), item=ascii(item.id)
        ) from None


def _row(item: Item) -> dict[str, object]:
    row = {name: getattr(item, name) for name in SCHEMA}
    row["images"] = [msgspec.structs.asdict(ref) for ref in item.images]
    row["boxes"] = [msgspec.structs.asdict(box) for box in item.boxes]
    row["lines"] = [
        msgspec.structs.asdict(line) | {"polygon": [list(point) for point in line.polygon]}
        for line in item.lines
    ]
    row["provenance"] = [msgspec.structs.asdict(step) for step in item.provenance]
    row["relevant"] = list(item.relevant)
    row["options"] = list(item.options)
    row["also_accepted"] = list(item.also_accepted)
    row["fields"] = _entries(item.fields)
    row["question_in"] = [{"key": key, "value": text} for key, text in item.question_in.items()]
    row["metadata"] = _entries(item.metadata)
    return row


def _entries(mapping: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in mapping.items()]


def _plain(row: dict[str, Any]) -> dict[str, object]:
    """A row as `msgspec.convert` expects an item: with dicts restored, without absent values."""
    out = {name: value for name, value in row.items() if value is not None}
    for name in _REPEATED:
        if isinstance(value := out.get(name), str):
            out[name] = sys.intern(value)
    for name in ("fields", "metadata", "question_in"):
        out[name] = {entry["key"]: entry["value"] for entry in row.get(name) or ()}
    return out


def is_parquet(path: Path) -> bool:
    """Whether a file begins and ends like parquet, without reading all of it.

    Raises:
        OSError: it is not readable, or not a file: a pipe would never end.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a file")
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(max(0, path.stat().st_size - 4))
        return head == file.read(4) == b"PAR1"


def frame_of(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """A parquet file as a table, or some of its columns.

    Raises:
        DataError: it is missing or damaged.
    """
    try:
        data = path.read_bytes() if is_parquet(path) else b""
    except FileNotFoundError:
        raise DataError(message("datasets.table-missing"), file=path) from None
    except OSError as error:
        raise DataError(
            message("datasets.table-not-readable", reason=error.strerror or error), file=path
        ) from None
    try:
        return pl.read_parquet(io.BytesIO(data), columns=columns)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = next(iter(str(error).splitlines()), "")
        raise DataError(message("datasets.table-not-parquet", reason=reason), file=path) from None


def _as_items(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    """A table with the columns of items, as pandas may have written it.

    pandas gives a column, or a part of one, without values no type, and stores the index of rows
    that it has filtered.

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
    _check_columns(path, frame.schema)
    return frame


_PANDAS_INDEX = "__index_level_0__"


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


def _check_columns(path: Path, found: pl.Schema) -> None:
    missing = [name for name in ("id", "benchmark", "task") if name not in found]
    if missing or not set(found) <= set(SCHEMA):
        raise DataError(
            message("datasets.not-an-item-table", names=_names(SCHEMA), found=_names(found)),
            file=path,
        )
    for name, kind in found.items():
        if kind != SCHEMA[name]:
            raise DataError(
                message(
                    "datasets.column-type-differs", name=name, expected=SCHEMA[name], found=kind
                ),
                file=path,
            )


def _names(schema: Iterable[str]) -> str:
    names = list(schema)
    return ", ".join(names[:20]) + (" …" if len(names) > 20 else "")

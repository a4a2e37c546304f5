"""Items as parquet tables without loss: one file, or the numbered parts of a folder.

Every function takes the path of the file or of the folder (``items/part-*``), and reads the same
rows from both.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec.structs import force_setattr

from keju.errors import DataError
from keju.files import replace_file
from keju.items import ImageRef, Item, Provenance
from keju.local_paths import check_local

if TYPE_CHECKING:
    # Both are slow to import, and polars takes 50 MB that reading and copying items does not need.
    import polars as pl
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

PARTS = "part-*.parquet"
"""The files of a partitioned table, in the order of their numbers."""

BATCH_ROWS = 1024
"""Rows that are in memory at a time."""

_ENTRIES = [{"key": "String", "value": "String"}]

COLUMNS: dict[str, Any] = {
    "id": "String",
    "benchmark": "String",
    "task": "String",
    "query": "String",
    "images": [
        {"path": "String", "sha256": "String", "width": "Int64", "height": "Int64", "size": "Int64"}
    ],
    "question": "String",
    "question_in": _ENTRIES,
    "verbatim": "Boolean",
    "fields": _ENTRIES,
    "options": ["String"],
    "answer": "String",
    "answer_simplified": "String",
    "also_accepted": ["String"],
    "boxes": [dict.fromkeys(("x0", "y0", "x1", "y1"), "Float64")],
    "transcription": "String",
    "lines": [
        {
            "id": "String",
            "text": "String",
            "polygon": [["Float64"]],
            "kind": "String",
            "source_kind": "String",
            "confidence": "Float64",
        }
    ],
    "relevant": ["Int64"],
    "group": "String",
    "split": "String",
    "metadata": _ENTRIES,
    "provenance": [
        dict.fromkeys(("step", "tool", "source", "licence", "person", "note"), "String")
    ],
    "draft": "Boolean",
}
"""The columns of items.parquet with their types: a list has the type of its elements, and a
structure those of its fields. A dict is a list of key and value, a point a list of x and y."""

_NEEDED = frozenset({"id", "benchmark", "task"})

_STATISTICS = ("id", "benchmark", "task", "query", "group", "split", "draft")
"""The columns whose least and greatest values are stored for each row group."""

_REPEATED = ("benchmark", "task", "query", "group", "split")
"""Values that many items share, so that each is in memory once."""

_FEW = 64
"""The number of items that exist as Python rows at a time: those of a gallery are large."""

_KNOWN_IMAGES = 1 << 16
"""The number of images whose references are shared by the items that follow."""


def _arrow_type(shape: Any) -> pa.DataType:  # noqa: ANN401 - a nested structure
    """The type of a column in a file; see `COLUMNS`."""
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(shape, list):
        return pa.large_list(_arrow_type(shape[0]))
    if isinstance(shape, dict):
        return pa.struct([(name, _arrow_type(of_field)) for name, of_field in shape.items()])
    plain = {"String": pa.large_string(), "Int64": pa.int64(), "Float64": pa.float64()}
    return plain.get(shape) or pa.bool_()


@cache
def arrow_schema() -> pa.Schema:
    """The columns of a written file."""
    import pyarrow as pa  # noqa: PLC0415

    return pa.schema([(name, _arrow_type(shape)) for name, shape in COLUMNS.items()])


@cache
def frame_schema() -> pl.Schema:
    """The columns of a polars table of items."""
    import polars as pl  # noqa: PLC0415

    return pl.DataFrame(arrow_schema().empty_table()).schema


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write items as parquet, in their order, atomically.

    Raises:
        DataError: an item contains something that cannot be stored (see `as_stored`).
    """
    with TableWriter(path) as writer:
        for item in items:
            writer.add(item)


def stored_frame(path: Path, items: Sequence[Item]) -> pl.DataFrame:
    """Items that are `as_stored` as a table with the columns of `COLUMNS`, in their order.

    Raises:
        DataError: an item contains something that cannot be stored.
    """
    import polars as pl  # noqa: PLC0415

    try:
        starts = range(0, max(1, len(items)), _FEW)
        return pl.concat(_frame_of(items[start : start + _FEW]) for start in starts)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise DataError("items that cannot be stored: {}", error, file=path) from None


def copy_items(source: Path, target: Path, ids: Iterable[str]) -> None:
    """Copy those items of a table into another, in their order and unchanged.

    The rows are not converted to items, which for a large table would take ten times as long.

    Raises:
        DataError: the source is missing or damaged, or the target cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415

    wanted_ids = frozenset(ids)
    empty = pa.Table.from_batches([], arrow_schema())
    with TableWriter(target) as writer:
        waiting = empty
        for part, batch in _iter_batches(source):
            with reporting_damage(part):
                is_chosen = [name in wanted_ids for name in batch["id"].to_pylist()]
                # From its bits, because `pa.array` imports pandas where it is installed (40 MB).
                bits = pa.py_buffer(np.packbits(np.array(is_chosen, bool), bitorder="little"))
                mask = pa.Array.from_buffers(pa.bool_(), len(is_chosen), [None, bits])
                rows = batch.filter(mask)
                columns = [
                    rows[field.name].cast(field.type)
                    if field.name in rows.schema.names
                    else pa.nulls(rows.num_rows, field.type)
                    for field in empty.schema
                ]
            # Batches that became small share a row group.
            copied = pa.Table.from_arrays(columns, schema=empty.schema)
            waiting = pa.concat_tables([waiting, copied])
            if waiting.num_rows >= BATCH_ROWS:
                writer.write(waiting)
                waiting = empty
        writer.write(waiting)


def iter_ids(path: Path) -> Iterator[str]:
    """The ids of a table's items, in their order.

    Raises:
        DataError: the file is missing, damaged, or is not a table of items.
    """
    return (str(row["id"]) for row in iter_rows(path, ["id"]))


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
    refs: dict[tuple[object, ...], ImageRef] = {}
    before = 0
    for part, batch in _iter_batches(path):
        for start in range(0, batch.num_rows, _FEW):
            with reporting_damage(part):
                rows = batch.slice(start, _FEW).to_pylist()
            yield from _items_of(rows, path, refs, before + start)
        before += batch.num_rows


def _items_of(
    rows: Iterable[dict[str, Any]],
    path: Path,
    refs: dict[tuple[object, ...], ImageRef],
    before: int = 0,
) -> Iterator[Item]:
    texts: dict[str, str] = {}  # Keys and values of dicts, so that each text is in memory once.
    steps: dict[tuple[Provenance, ...], tuple[Provenance, ...]] = {}
    for number, row in enumerate(rows, start=before + 1):
        if len(refs) > _KNOWN_IMAGES:
            refs.clear()
        try:
            images = []
            for ref in row.get("images") or ():
                # One object for each image: galleries repeat each hundreds of times.
                place = tuple(ref.values())
                if place not in refs:
                    refs[place] = msgspec.convert(ref, ImageRef)
                images.append(refs[place])
            row["images"] = images
            # `msgspec.convert` expects dicts, and no absent values.
            values = {name: value for name, value in row.items() if value is not None}
            for name in _REPEATED:
                if isinstance(value := values.get(name), str):
                    values[name] = sys.intern(value)
            for name in ("fields", "metadata", "question_in"):
                values[name] = {
                    texts.setdefault(entry["key"], entry["key"]): texts.setdefault(
                        entry["value"], entry["value"]
                    )
                    for entry in row.get(name) or ()
                }
            item = msgspec.convert(values, Item)
        except (msgspec.ValidationError, TypeError) as error:
            raise DataError(
                "not an item: {}", error, file=path, item=f"row {number} ({row['id']})"
            ) from None
        # Steps and metadata are the same for many items, and would be most of their memory.
        force_setattr(item, "provenance", steps.setdefault(item.provenance, item.provenance))
        yield item


class ItemTable:
    """A table of items from which single ones are read; opening it reads only the ids.

    Raises:
        DataError: the file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] = {}
        self._groups: list[tuple[int, ParquetFile, int]] = []
        first = 0
        with reporting_damage(path):
            for file in map(open_file, table_files(path)):
                for group in range(file.num_row_groups):
                    self._groups.append((first, file, group))
                    ids = file.read_row_group(group, columns=["id"]).column(0).to_pylist()
                    self._places.update(zip(ids, itertools.count(first)))
                    first += len(ids)

    def item(self, name: str) -> Item:
        """The item of that id; reads the rows of its group.

        Raises:
            DataError: there is none, or it is damaged.
        """
        place = self._places.get(name)
        if place is None:
            raise DataError("no item has this id", file=self._path, item=name)
        first, file, group = self._groups[bisect_right(self._groups, place, key=itemgetter(0)) - 1]
        with reporting_damage(self._path):
            rows = file.read_row_group(group, use_threads=False).slice(place - first, 1).to_pylist()
        return next(_items_of(rows, self._path, {}))


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
            "the item cannot be stored: {}",
            error,
            item=ascii(item.id),
            hint="Correct it in the source",
        ) from None


def _frame_of(items: Sequence[Item]) -> pl.DataFrame:
    """Items as a table, by way of JSON: polars reads nested lists far faster from it."""
    import polars as pl  # noqa: PLC0415

    rows = pl.Series([msgspec.json.encode(_row(item)).decode() for item in items], dtype=pl.String)
    return rows.str.json_decode(pl.Struct(frame_schema())).struct.unnest()


def _row(item: Item) -> dict[str, object]:
    row = {name: getattr(item, name) for name in COLUMNS}
    row["images"] = [msgspec.structs.asdict(ref) for ref in item.images]
    row["boxes"] = [msgspec.structs.asdict(box) for box in item.boxes]
    row["lines"] = [msgspec.structs.asdict(line) for line in item.lines]
    row["provenance"] = [msgspec.structs.asdict(step) for step in item.provenance]
    row["fields"] = _entries(item.fields)
    row["question_in"] = [{"key": key, "value": text} for key, text in item.question_in.items()]
    row["metadata"] = _entries(item.metadata)
    return row


def _entries(mapping: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in mapping.items()]


class TableWriter(contextlib.AbstractContextManager["TableWriter"]):
    """Writes a table of items, one file or the parts of a folder; only a batch is in memory.

    A file has its name only when it is complete. Used as a context manager it closes on success,
    and removes the incomplete file after an error.

    Args:
        path: the file, or with `part_rows` the folder.
        rows: the most rows of a row group; by default each batch is one.
        part_rows: the most rows of a part; 0 writes one file.

    Raises:
        UsageError: the path is an address.
    """

    def __init__(self, path: Path, *, rows: int | None = None, part_rows: int = 0) -> None:
        check_local(path)
        self.path = path
        self._rows = rows
        self._part_rows = part_rows
        self._parts = 0
        self._waiting: list[Item] = []
        self._file: ParquetWriter | None = None
        self._file_rows = 0
        self._target = self._partial = path

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def add(self, item: Item) -> Item:
        """Add the next item; returns it as it is stored.

        Raises:
            DataError: it contains something that cannot be stored, or the file cannot be written.
        """
        stored = as_stored(item)
        self._waiting.append(stored)
        if len(self._waiting) >= BATCH_ROWS or self._is_part_full():
            self._flush()
        return stored

    def write(self, table: pa.Table) -> None:
        """Write a batch of rows with the columns of `arrow_schema`.

        Raises:
            DataError: the file cannot be written.
        """
        from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - slow to import

        try:
            if self._file is None:
                self._target = self.path / part_name(self._parts) if self._part_rows else self.path
                self._partial = self._target.with_name(f".{self._target.name}.{os.getpid()}")
                self._parts += 1
                self._file_rows = 0
                self._target.parent.mkdir(parents=True, exist_ok=True)
                self._file = ParquetWriter(
                    self._partial,
                    arrow_schema(),
                    compression="zstd",
                    write_statistics=list(_STATISTICS),
                )
            if table.num_rows:
                self._file.write_table(table, row_group_size=self._rows or table.num_rows)
        except OSError as error:
            raise _not_writable(self._target, error) from None
        self._file_rows += table.num_rows

    def close(self) -> None:
        """Write the rest, and give the complete file its name.

        Raises:
            DataError: the file cannot be written.
        """
        if self._waiting or not (self._file or self._parts):
            self._flush()
        self._end_file()

    def abandon(self) -> None:
        """Remove the incomplete file; finished parts stay."""
        self._waiting = []
        if self._file:
            with contextlib.suppress(Exception):  # the first error is the one to report
                self._file.close()
            self._partial.unlink(missing_ok=True)
            self._file = None

    def _is_part_full(self) -> bool:
        return 0 < self._part_rows <= self._file_rows + len(self._waiting)

    def _flush(self) -> None:
        import polars as pl  # noqa: PLC0415

        frame = stored_frame(self.path, self._waiting)
        self._waiting = []
        self.write(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
        if self._is_part_full():
            self._end_file()

    def _end_file(self) -> None:
        if self._file is None:
            return
        try:
            self._file.close()
            with self._partial.open("rb+") as stream:
                os.fsync(stream.fileno())
            replace_file(self._partial, self._target)
        except OSError as error:
            self._partial.unlink(missing_ok=True)
            raise _not_writable(self._target, error) from None
        finally:
            self._file = None
            self._file_rows = 0


def _not_writable(path: Path, error: OSError) -> DataError:
    reason = error.strerror or next(iter(str(error).splitlines()), "")
    return DataError("cannot be written: {}", reason, file=path, hint="Choose another place")


def part_name(number: int) -> str:
    """The name of a part; numbers begin at 0."""
    return f"part-{number:05d}.parquet"


def table_files(path: Path) -> list[Path]:
    """The files of a table, in their order: the file itself, or the parts of a folder.

    Raises:
        DataError: the folder has no part, or a number between two parts is missing.
    """
    if not path.is_dir():
        return [path]
    found = {each.name for each in path.glob(PARTS)}
    names = [part_name(number) for number in range(max(1, len(found)))]
    if missing := next((name for name in names if name not in found), ""):
        raise DataError(
            "{} is missing",
            missing,
            file=path,
            hint="Create the folder again with the command that wrote it",
        )
    return [path / name for name in names]


def iter_frames(
    path: Path, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS
) -> Iterator[pl.DataFrame]:
    """A table of items in batches, in its order, as polars tables.

    Args:
        path: the table.
        columns: the columns to read; all by default. A column that the file lacks is null.
        rows: maximum rows of a batch.

    Raises:
        DataError: it is missing, damaged, or is not a table of items.
    """
    import polars as pl  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    schema = frame_schema()
    for part, batch in _iter_batches(path, columns, rows):
        with reporting_damage(part):
            try:
                frame = pl.DataFrame(pa.Table.from_batches([batch]))
            except pl.exceptions.PanicException as error:
                raise ValueError(error) from None
            frame = frame.cast({name: schema[name] for name in frame.columns})
        names = columns or frame.columns
        absent = [pl.lit(None, schema[name]).alias(name) for name in names if name not in frame]
        yield frame.with_columns(absent).select(list(names))


def iter_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Some columns of a table of items, row by row; one that the file lacks is None.

    Raises:
        DataError: it is missing, damaged, or is not a table of items.
    """
    absent = dict.fromkeys(columns)
    for part, batch in _iter_batches(path, columns):
        with reporting_damage(part):
            rows = batch.to_pylist()
        yield from (absent | row for row in rows)


def _iter_batches(
    path: Path, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS
) -> Iterator[tuple[Path, pa.RecordBatch]]:
    """The batches of a table's files, each with its file; without the columns that it lacks.

    Memory is bounded by a batch and by the compressed rows of one file's row group.
    """
    for part in table_files(path):
        file = open_file(part, memory_map=False)
        names = set(file.schema_arrow.names)
        present = [name for name in columns or COLUMNS if name in names]
        with reporting_damage(part):
            # Group by group: batches of the whole file would keep what was read of it in memory.
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(rows, [group], columns=present, use_threads=False):
                    batch.validate(full=True)  # polars crashes on text that is not UTF-8.
                    yield part, batch


_PANDAS_INDEX = "__index_level_0__"
_KINDS = {
    "string": "String", "large_string": "String", "string_view": "String", "list": "List",
    "large_list": "List", "int64": "Int64", "double": "Float64", "bool": "Boolean", "null": "Null",
}  # fmt: skip
"""The names of a file's types as in `COLUMNS`."""


def open_file(path: Path, *, memory_map: bool = True) -> ParquetFile:
    """A file of a table, whose columns have the types of `COLUMNS`; no rows are read.

    pandas also stores the index of rows that it has filtered.

    Args:
        path: the file.
        memory_map: rows are read through a memory map; the pages of the file that were read then
            count as memory of the process.

    Raises:
        DataError: it is missing, damaged, or is not a table of items.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    kinds: dict[str, str] = {}
    with reporting_damage(path):
        if not path.exists():
            raise DataError(
                "no such file",
                file=path,
                hint="Create the file again with the command that wrote it",
            )
        if not path.is_file():  # A pipe would never end.
            raise DataError("not readable: {}", "not a file", file=path)
        file = ParquetFile(path, memory_map=memory_map)
        for field in file.schema_arrow:
            if field.name in kinds:
                raise ValueError(f"Field {field.name!r} exists twice")
            name = str(field.type).partition("<")[0]
            kinds[field.name] = _KINDS.get(name, name)
    kinds.pop(_PANDAS_INDEX, None)
    if not set(kinds) >= _NEEDED or not set(kinds) <= set(COLUMNS):
        raise DataError(
            "not a table of items: expected the columns {}; found {}",
            _names(COLUMNS),
            _names(kinds),
            file=path,
        )
    for name, kind in kinds.items():
        expected = "List" if isinstance(COLUMNS[name], list) else COLUMNS[name]
        # pandas gives no type to a column, or a part of one, without any value.
        if kind not in ("Null", expected):
            raise DataError(
                "column {!r} must be {}, but is {}",
                name,
                expected,
                kind,
                file=path,
                hint="Write the table with the types of the original, for example with polars",
            )
    return file


@contextmanager
def reporting_damage(path: Path | str) -> Iterator[None]:
    """Report any error of a library that reads a file as damage of the file.

    Raises:
        DataError: the file is not readable as parquet.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001 - almost anything
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        raise DataError(
            "not readable as parquet: {}",
            reason,
            file=path,
            hint="Create the file again with the command that wrote it",
        ) from None


def _names(schema: Iterable[str]) -> str:
    names = list(schema)
    return ", ".join(names[:20]) + (" …" if len(names) > 20 else "")

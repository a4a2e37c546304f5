"""Items as parquet tables without loss: one file, or the numbered parts of a folder.

Every function takes the path of the file or of the folder (``items/part-*``), and reads the same
rows from both. It raises `DataError` where a file is missing, damaged or not a table of items,
where an item cannot be stored (`as_stored`), and where a file cannot be written.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict, force_setattr

from keju.errors import DataError
from keju.files import replace_file
from keju.items import Box, ImageRef, Item, Provenance
from keju.local_paths import check_local
from keju.texts import _

if TYPE_CHECKING:
    import pyarrow as pa  # slow to import
    from pyarrow.parquet import ParquetFile, ParquetWriter

PARTS = "part-*.parquet"
"""The files of a partitioned table, in the order of their numbers."""

BATCH_ROWS = 1024
"""Rows that are in memory at a time."""

_WRITE_AGAIN = _("Create the file again with the command that wrote it")

_NEEDED = frozenset({"id", "benchmark", "task"})

_STATISTICS = ("id", "benchmark", "task", "query", "group", "split", "draft")
"""The columns whose least and greatest values are stored for each row group."""

_REPEATED = ("benchmark", "task", "query", "group", "split")
"""Values that many items share, so that each is in memory once."""

_FEW = 64
"""The number of items that exist as Python rows at a time: those of a gallery are large."""

_KNOWN_IMAGES = 1 << 16
"""The number of images whose references are shared by the items that follow."""


@cache
def arrow_schema() -> pa.Schema:
    """The columns of items.parquet: a dict is a list of key and value, a point of x and y."""
    import pyarrow as pa  # noqa: PLC0415

    text, number, truth, integer = pa.large_string(), pa.float64(), pa.bool_(), pa.int64()
    entry = {"key": text, "value": text}
    image = {"path": text, "sha256": text, "width": integer, "height": integer, "size": integer}
    line = {
        "id": text,
        "text": text,
        "polygon": pa.large_list(pa.large_list(number)),
        "kind": text,
        "source_kind": text,
        "confidence": number,
    }
    records = {
        "images": image,
        "question_in": entry,
        "fields": entry,
        "boxes": dict.fromkeys(Box.__struct_fields__, number),
        "lines": line,
        "metadata": entry,
        "provenance": dict.fromkeys(Provenance.__struct_fields__, text),
    }
    columns = dict.fromkeys(Item.__struct_fields__, text) | {
        "verbatim": truth,
        "options": pa.large_list(text),
        "also_accepted": pa.large_list(text),
        "relevant": pa.large_list(integer),
        "draft": truth,
        **{
            name: pa.large_list(pa.struct(list(fields.items()))) for name, fields in records.items()
        },
    }
    return pa.schema(list(columns.items()))


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write items as parquet, in their order, atomically."""
    with TableWriter(path) as writer:
        for item in items:
            writer.add(item)


def arrow_table(items: Sequence[Item]) -> pa.Table:
    """Items that are `as_stored` as a table with the columns of `arrow_schema`, in their order."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        starts = range(0, len(items), _FEW)
        batches = (
            pa.RecordBatch.from_pylist(
                list(map(_row_of, items[start : start + _FEW])), arrow_schema()
            )
            for start in starts
        )
        return pa.Table.from_batches(batches, arrow_schema())
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError("items that cannot be stored: {}", error) from None


def _row_of(item: Item) -> dict[str, object]:
    row = asdict(item)
    for name in ("images", "boxes", "lines", "provenance"):
        row[name] = list(map(asdict, row[name]))
    for name in ("fields", "question_in", "metadata"):
        row[name] = [{"key": key, "value": value} for key, value in row[name].items()]
    return row


def copy_items(source: Path, target: Path, ids: Iterable[str]) -> None:
    """Copy those items of a table into another, in their order and unchanged.

    The rows are not converted to items, which for a large table would take ten times as long.
    """
    import pyarrow as pa  # noqa: PLC0415

    wanted_ids = frozenset(ids)
    empty = pa.Table.from_batches([], arrow_schema())
    with TableWriter(target) as writer:
        waiting = empty
        for part, batch in _iter_batches(source):
            with reporting_damage(part):
                # From bytes, because `pa.array` imports pandas where it is installed (40 MB).
                chosen = bytes(name in wanted_ids for name in batch["id"].to_pylist())
                flags = pa.Array.from_buffers(pa.uint8(), len(chosen), [None, pa.py_buffer(chosen)])
                rows = batch.filter(flags.cast(pa.bool_()))
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
    """The ids of a table's items, in their order."""
    return (str(row["id"]) for row in iter_rows(path, ["id"]))


def iter_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Some columns of a table of items, row by row; one that the file lacks is None."""
    absent = dict.fromkeys(columns)
    for part, batch in _iter_batches(path, columns):
        with reporting_damage(part):
            rows = batch.to_pylist()
        yield from (absent | row for row in rows)


def read_items(path: Path) -> list[Item]:
    """Read items that `write_items` wrote."""
    return list(iter_items(path))


def iter_items(path: Path) -> Iterator[Item]:
    """The items that `read_items` reads, one after the other."""
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
                pairs = ((entry["key"], entry["value"]) for entry in row.get(name) or ())
                values[name] = {
                    texts.setdefault(key, key): texts.setdefault(text, text) for key, text in pairs
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
    """A table of items from which single ones are read; opening it reads only the ids."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, tuple[ParquetFile, int, int]] = {}
        with reporting_damage(path):
            for file in map(open_file, table_files(path)):
                for group in range(file.num_row_groups):
                    ids = file.read_row_group(group, columns=["id"]).column(0).to_pylist()
                    self._places.update((name, (file, group, row)) for row, name in enumerate(ids))

    def item(self, name: str) -> Item:
        """The item of that id; reads the rows of its group."""
        if name not in self._places:
            raise DataError("no item has this id", file=self._path, item=name)
        file, group, row = self._places[name]
        with reporting_damage(self._path):
            rows = file.read_row_group(group, use_threads=False).slice(row, 1).to_pylist()
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


class TableWriter(contextlib.AbstractContextManager["TableWriter"]):
    """Writes a table of items, one file or the parts of a folder; only a batch is in memory.

    A file has its name only when it is complete. Used as a context manager it closes on success,
    and removes the incomplete file after an error.

    Args:
        path: the file, or with `part_rows` the folder.
        rows: the most rows of a row group.
        part_rows: the most rows of a part; 0 writes one file.

    Raises:
        UsageError: the path is an address.
    """

    def __init__(self, path: Path, *, rows: int = BATCH_ROWS, part_rows: int = 0) -> None:
        check_local(path)
        self.path = path
        self._rows = rows
        self._part_rows = part_rows
        self._parts = 0
        self._waiting: list[Item] = []
        self._file: ParquetWriter | None = None
        self._file_rows = 0
        self._target = self._partial = path

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.abandon() if kind else self.close()

    def add(self, item: Item) -> Item:
        """Add the next item; returns it as it is stored."""
        stored = as_stored(item)
        self._waiting.append(stored)
        is_part_full = 0 < self._part_rows <= self._file_rows + len(self._waiting)
        if is_part_full or len(self._waiting) >= BATCH_ROWS:
            self._write_waiting()
        if is_part_full:
            self._end_file()
        return stored

    def write(self, table: pa.Table) -> None:
        """Write a batch of rows with the columns of `arrow_schema`."""
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
                self._file.write_table(table, row_group_size=self._rows)
        except OSError as error:
            raise _not_writable(self._target, error) from None
        self._file_rows += table.num_rows

    def close(self) -> None:
        """Write the rest, and give the complete file its name."""
        if self._waiting or not self._parts:
            self._write_waiting()
        self._end_file()

    def abandon(self) -> None:
        """Remove the incomplete file; finished parts stay."""
        self._waiting = []
        if self._file:
            with contextlib.suppress(Exception):  # the first error is the one to report
                self._file.close()
            self._partial.unlink(missing_ok=True)
            self._file = None

    def _write_waiting(self) -> None:
        table = arrow_table(self._waiting)
        self._waiting = []
        self.write(table)

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
    """The files of a table, in their order: the file itself, or the parts of a folder."""
    if not path.is_dir():
        return [path]
    existing = {file.name for file in path.glob(PARTS)}
    names = [part_name(number) for number in range(max(1, len(existing)))]
    if missing := next((name for name in names if name not in existing), ""):
        raise DataError("{} is missing", missing, file=path, hint=_WRITE_AGAIN)
    return [path / name for name in names]


def _iter_batches(
    path: Path, columns: Sequence[str] = Item.__struct_fields__
) -> Iterator[tuple[Path, pa.RecordBatch]]:
    """The batches of a table's files, each with its file; without the columns that it lacks.

    Memory is bounded by a batch and by the compressed rows of one file's row group.
    """
    for part in table_files(path):
        file = open_file(part)
        present = [name for name in columns if name in file.schema_arrow.names]
        with reporting_damage(part):
            # Group by group: batches of the whole file would keep what was read of it in memory.
            for group in range(file.num_row_groups):
                batches = file.iter_batches(BATCH_ROWS, [group], columns=present, use_threads=False)
                for batch in batches:
                    batch.validate(full=True)  # Text may not be UTF-8.
                    yield part, batch


_PANDAS_INDEX = "__index_level_0__"
_KINDS = {
    "string": "String", "large_string": "String", "string_view": "String", "list": "List",
    "large_list": "List", "int64": "Int64", "double": "Float64", "bool": "Boolean", "null": "Null",
}  # fmt: skip
"""The names of arrow's types in errors."""


def open_file(path: Path) -> ParquetFile:
    """A file of a table, whose columns have the types of `arrow_schema`; no rows are read.

    pandas also stores the index of rows that it has filtered.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    kinds: dict[str, str] = {}
    with reporting_damage(path):
        if not path.exists():
            raise DataError("no such file", file=path, hint=_WRITE_AGAIN)
        if not path.is_file():  # A pipe would never end.
            raise DataError("not readable: {}", "not a file", file=path)
        # Pages of a memory map that were read count as memory of the process.
        file = ParquetFile(path, memory_map=False)
        for field in file.schema_arrow:
            if field.name in kinds:
                raise ValueError(f"Field {field.name!r} exists twice")
            kinds[field.name] = str(field.type).partition("<")[0]
    kinds.pop(_PANDAS_INDEX, None)
    schema = arrow_schema()
    if not set(kinds) >= _NEEDED or not set(kinds) <= set(schema.names):
        raise DataError(
            "not a table of items: expected the columns {}; found {}",
            ", ".join(schema.names),
            ", ".join(list(kinds)[:20]),
            file=path,
        )
    for name, kind in kinds.items():
        expected = _KINDS[str(schema.field(name).type).partition("<")[0]]
        # pandas gives no type to a column, or a part of one, without any value.
        if _KINDS.get(kind) not in ("Null", expected):
            raise DataError(
                "column {!r} must be {}, but is {}",
                name,
                expected,
                _KINDS.get(kind, kind),
                file=path,
                hint="Write the table with the types of the original, for example with polars",
            )
    return file


@contextmanager
def reporting_damage(path: Path | str) -> Iterator[None]:
    """Report any error of a library that reads a file as damage of the file."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001 - almost anything
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        raise DataError(
            "not readable as parquet: {}", reason, file=path, hint=_WRITE_AGAIN
        ) from None

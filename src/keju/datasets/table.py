"""Items as parquet tables without loss: one file, or the numbered parts of a folder.

Every function takes the path of the file or of the folder (``items/part-*``), and reads the same
rows from both. It raises `DataError` where a file is missing, damaged or not a table of items,
where an item cannot be stored (`as_stored`), and where a file cannot be written.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect
from msgspec.structs import asdict, force_setattr

from keju.errors import DataError
from keju.files import replace_file
from keju.items import Item
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

_STATISTICS = ("id", "benchmark", "task", "query", "group", "split", "draft")
"""The columns whose least and greatest values are stored for each row group."""

_RECORDS = ("images", "boxes", "lines", "provenance")
_DICTS = ("question_in", "fields", "metadata")
_SHARED = ("benchmark", "task", "query", "group", "split", "provenance")
"""Fields whose values many items share."""

_MOST_SHARED = 1 << 16
"""The number of texts, images and steps that the items that follow can share."""

_FEW = 64
"""The number of items that exist as Python rows at a time: those of a gallery are large."""


@cache
def arrow_schema(*, is_large: bool = True) -> pa.Schema:
    """The columns of items.parquet, which are the fields of `Item`.

    A dict is a list of key and value, a point a list of x and y. The lists are large ones, or those
    that arrow can read from JSON.
    """
    import pyarrow as pa  # noqa: PLC0415

    list_of = pa.large_list if is_large else pa.list_
    text, truth, integer, number = pa.large_string(), pa.bool_(), pa.int64(), pa.float64()
    plain = {inspect.BoolType: truth, inspect.IntType: integer, inspect.FloatType: number}

    def arrow_type(kind: inspect.Type) -> pa.DataType:
        if isinstance(kind, inspect.UnionType):  # A value or None; every column may be null.
            return arrow_type(kind.types[0])
        if isinstance(kind, inspect.StructType):
            return pa.struct([(field.name, arrow_type(field.type)) for field in kind.fields])
        if isinstance(kind, inspect.DictType):
            return list_of(pa.struct([("key", text), ("value", text)]))
        if isinstance(kind, inspect.VarTupleType):
            return list_of(arrow_type(kind.item_type))
        if isinstance(kind, inspect.TupleType):
            return list_of(arrow_type(kind.item_types[0]))
        return plain.get(type(kind), text)

    return pa.schema(list(arrow_type(inspect.type_info(Item))))


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write items as parquet, in their order, atomically."""
    with TableWriter(path) as writer:
        for item in items:
            writer.add(item)


def arrow_table(items: Sequence[Item]) -> pa.Table:
    """Items that are `as_stored` as a table with the columns of `arrow_schema`, in their order."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import json  # noqa: PLC0415

    # By way of JSON, because arrow imports pandas for Python values, where it is installed (40 MB).
    options = json.ParseOptions(explicit_schema=arrow_schema(is_large=False))
    tables = [pa.Table.from_batches([], arrow_schema())]
    try:
        for start in range(0, len(items), _FEW):
            lines = b"".join(map(_line_of, items[start : start + _FEW]))
            blocks = json.ReadOptions(use_threads=False, block_size=len(lines))
            rows = json.read_json(io.BytesIO(lines), blocks, options)
            tables.append(rows.cast(arrow_schema()))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError("items that cannot be stored: {}", error) from None
    return pa.concat_tables(tables)


def _line_of(item: Item) -> bytes:
    row = asdict(item)  # The records with their defaults, which msgspec's encoder omits.
    for name in _RECORDS:
        row[name] = list(map(asdict, row[name]))
    for name in _DICTS:
        row[name] = [{"key": key, "value": value} for key, value in row[name].items()]
    return msgspec.json.encode(row) + b"\n"


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
                rows = pa.Table.from_batches([batch.filter(flags.cast(pa.bool_()))])
                rows = rows.cast(pa.schema(map(arrow_schema().field, rows.column_names)))
                # Columns that an older table lacks are null.
                rows = pa.concat_tables([empty, rows], promote_options="permissive")
                # Batches that became small share a row group.
                waiting = pa.concat_tables([waiting, rows.cast(arrow_schema())])
            if waiting.num_rows >= BATCH_ROWS:
                writer.write(waiting)
                waiting = empty
        writer.write(waiting)


def iter_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Some columns of a table of items, row by row; one that the file lacks is None."""
    absent = dict.fromkeys(columns)
    for part, batch in _iter_batches(path, columns):
        for start in range(0, batch.num_rows, _FEW):
            with reporting_damage(part):
                rows = batch.slice(start, _FEW).to_pylist()
            yield from (absent | row for row in rows)


def read_items(path: Path) -> list[Item]:
    """Read items that `write_items` wrote."""
    return list(iter_items(path))


def iter_items(path: Path) -> Iterator[Item]:
    """The items that `read_items` reads, one after the other."""
    # One object of each value that many items have: they would be most of the memory.
    known: dict[Any, Any] = {}
    share = known.setdefault
    for number, row in enumerate(iter_rows(path, Item.__struct_fields__), start=1):
        item = _item_of(row, path, f"row {number}")
        if len(known) > _MOST_SHARED:
            known.clear()
        for name in _SHARED:
            value = getattr(item, name)
            force_setattr(item, name, share(value, value))
        # Galleries repeat each image hundreds of times.
        force_setattr(item, "images", tuple(share(image, image) for image in item.images))
        for name in _DICTS:
            texts = getattr(item, name).items()
            force_setattr(item, name, {share(key, key): share(text, text) for key, text in texts})
        yield item


def _item_of(row: dict[str, Any], path: Path, place: str) -> Item:
    """The item of a row of `iter_rows`; the path and place are for errors."""
    # `msgspec.convert` expects dicts, and no absent values.
    values = {name: value for name, value in row.items() if value is not None}
    try:
        for name in _DICTS:
            values[name] = {entry["key"]: entry["value"] for entry in values.get(name, ())}
        return msgspec.convert(values, Item)
    except (msgspec.ValidationError, TypeError, KeyError) as error:
        place = f"{place} ({row['id']})"
        raise DataError("not an item: {}", error, file=path, item=place) from None


def as_stored(item: Item) -> Item:
    """The item as it is read back from disk: lists as tuples, whole coordinates as floats.

    Refused are texts that are not valid Unicode (a lone surrogate), coordinates that are not
    numbers, and values of the wrong type.
    """
    try:
        return msgspec.json.decode(msgspec.json.encode(item), type=Item)
    except (UnicodeEncodeError, TypeError, msgspec.MsgspecError) as error:
        problem = _("the item cannot be stored: {}", error, hint="Correct it in the source")
        raise DataError(problem, item=ascii(item.id)) from None


class TableWriter(AbstractContextManager["TableWriter"]):
    """Writes a table of items; only a batch is in memory.

    `path` is its file, or with `part_rows`, the most rows of a part, the folder of its parts. A row
    group has at most `rows` rows. A file has its name only when it is complete. Used as a context
    manager it closes on success, and removes the incomplete file after an error.
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
        if 0 < self._part_rows <= self._file_rows + len(self._waiting):
            self.close()
        elif len(self._waiting) >= BATCH_ROWS:
            self._write_waiting()
        return stored

    def close(self) -> None:
        """Write the rest, and give the complete file, or the last part, its name."""
        if self._waiting or not self._parts:
            self._write_waiting()
        if self._file is None:
            return
        file, self._file, self._file_rows = self._file, None, 0
        with self._reporting():
            try:
                file.close()
                with self._partial.open("rb+") as stream:
                    os.fsync(stream.fileno())
                replace_file(self._partial, self._target)
            finally:
                self._partial.unlink(missing_ok=True)

    def abandon(self) -> None:
        """Remove the incomplete file; finished parts stay."""
        self._waiting = []
        if self._file:
            with suppress(Exception):  # the first error is the one to report
                self._file.close()
            self._partial.unlink(missing_ok=True)
            self._file = None

    def _write_waiting(self) -> None:
        table = arrow_table(self._waiting)
        self._waiting = []
        self.write(table)

    def write(self, table: pa.Table) -> None:
        """Write rows with the columns of `arrow_schema`, after the items that were added."""
        from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - slow to import

        with self._reporting():
            if self._file is None:
                self._target = self.path / part_name(self._parts) if self._part_rows else self.path
                self._partial = self._target.with_name(f".{self._target.name}.{os.getpid()}")
                self._target.parent.mkdir(parents=True, exist_ok=True)
                self._file = ParquetWriter(
                    self._partial,
                    arrow_schema(),
                    compression="zstd",
                    write_statistics=list(_STATISTICS),
                )
                self._parts += 1
            if table.num_rows:
                self._file.write_table(table, row_group_size=self._rows)
        self._file_rows += table.num_rows

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or next(iter(str(error).splitlines()), "")
            raise DataError(
                "cannot be written: {}", reason, file=self._target, hint="Choose another place"
            ) from None


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
        file = _open_file(part)
        present = [name for name in columns if name in file.schema_arrow.names]
        with reporting_damage(part):
            # Group by group: batches of the whole file would keep what was read of it in memory.
            for group in range(file.num_row_groups):
                batches = file.iter_batches(BATCH_ROWS, [group], columns=present, use_threads=False)
                for batch in batches:
                    batch.validate(full=True)  # Text may not be UTF-8.
                    yield part, batch


def _open_file(path: Path) -> ParquetFile:
    """A file of a table, whose columns are fields of an item; no rows are read."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    with reporting_damage(path):
        if not path.exists():
            raise DataError("no such file", file=path, hint=_WRITE_AGAIN)
        if not path.is_file():  # A pipe would never end.
            raise DataError("not readable: {}", "not a file", file=path)
        # Pages of a memory map that were read count as memory of the process.
        file = ParquetFile(path, memory_map=False)
    names, fields = file.schema_arrow.names, Item.__struct_fields__
    # pandas also stores the index of rows that it has filtered.
    columns = sorted(name for name in names if name != "__index_level_0__")
    if not {"id", "benchmark", "task"} <= set(columns) <= set(fields) or len(set(columns)) < len(
        columns
    ):
        lists = ", ".join(fields), ", ".join(names[:20])
        problem = _("not a table of items: expected the columns {}; found {}", *lists)
        raise DataError(problem, file=path)
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

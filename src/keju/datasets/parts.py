"""Tables of items as files: one file, or the numbered parts of a folder (``items/part-*``).

Every function takes the path of the file or of the folder, and reads the same rows from both.
"""

from __future__ import annotations

import errno
import io
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from keju.datasets.schema import as_items
from keju.errors import DataError

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

PARTS = "part-*.parquet"
"""The files of a partitioned table, in the order of their numbers."""

BATCH_ROWS = 1024
"""Rows that are in memory at a time."""

SMALL_BYTES = 4 << 20
"""A file up to this size is read at once, without the import of pyarrow."""


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
    """A whole table, or some of its columns.

    Raises:
        DataError: it is missing or damaged.
    """
    return pl.concat([_file_frame(each, columns) for each in table_files(path)])


def iter_frames(
    path: Path, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS
) -> Iterator[pl.DataFrame]:
    """A table of items in batches, in its order, with the types of `SCHEMA`.

    Memory is bounded by a batch and by the compressed rows of one file's row group.

    Args:
        path: the table.
        columns: the columns to read; all by default. A column that the file lacks is null.
        rows: maximum rows of a batch.

    Raises:
        DataError: it is missing, damaged, or is not a table of items.
    """
    for file in table_files(path):
        if _check_file(file) and file.stat().st_size > SMALL_BYTES:
            frames = _large_file_frames(file, columns, rows)
        else:
            frame = _file_frame(file, None)
            present = [name for name in columns or () if name in frame.columns]
            frames = (frame.select(present) if columns else frame).iter_slices(rows)
        for frame in frames:
            yield as_items(file, frame, columns)


def count_rows(path: Path) -> int:
    """The number of rows of a table; reads only what the files say about themselves.

    Raises:
        DataError: it is missing or damaged.
    """
    return sum(open_file(file).metadata.num_rows for file in table_files(path))


def open_file(path: Path, *, memory_map: bool = True) -> ParquetFile:
    """A parquet file, of which nothing but its description is read.

    Args:
        path: the file.
        memory_map: rows are read through a memory map; the pages of the file that were read then
            count as memory of the process.

    Raises:
        DataError: it is missing or damaged.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    _check_file(path)
    with reporting_damage(path):
        return ParquetFile(path, memory_map=memory_map)


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
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - almost anything
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        raise DataError(
            "not readable as parquet: {}",
            reason,
            file=path,
            hint="Create the file again with the command that wrote it",
        ) from None


def _check_file(path: Path) -> bool:
    """Whether a file begins and ends like parquet."""
    try:
        return is_parquet(path)
    except FileNotFoundError:
        raise DataError(
            "no such file", file=path, hint="Create the file again with the command that wrote it"
        ) from None
    except OSError as error:
        raise DataError("not readable: {}", error.strerror or error, file=path) from None


def _file_frame(path: Path, columns: Sequence[str] | None) -> pl.DataFrame:
    whole = _check_file(path)
    with reporting_damage(path):
        data = path.read_bytes() if whole else b""
        return pl.read_parquet(io.BytesIO(data), columns=list(columns) if columns else None)


def _large_file_frames(
    path: Path, columns: Sequence[str] | None, rows: int
) -> Iterator[pl.DataFrame]:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    file = open_file(path, memory_map=False)
    present = [name for name in columns or () if name in file.schema_arrow.names]
    with reporting_damage(path):
        # Group by group: batches of the whole file would keep what was read of it in memory.
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(
                rows, [group], columns=present if columns else None, use_threads=False
            ):
                yield pl.DataFrame(pa.Table.from_batches([batch]))

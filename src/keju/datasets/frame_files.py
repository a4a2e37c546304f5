"""`write_frames`: write batches of rows into one parquet file, with bounded memory."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from keju.datasets.parts import BATCH_ROWS
from keju.datasets.schema import SCHEMA
from keju.errors import DataError
from keju.files import replace_file, write_atomic
from keju.local_paths import check_local

if TYPE_CHECKING:
    import pyarrow as pa

STATISTICS = ("id", "benchmark", "task", "query", "group", "split", "draft")
"""The columns whose least and greatest values are stored for each row group."""


def write_frames(path: Path, frames: Iterable[pl.DataFrame]) -> None:
    """Write a table of items, atomically; a single batch is written without pyarrow.

    Small batches share a row group.

    Raises:
        DataError: the file cannot be written.
    """
    rest = _gather(frames)
    first = list(itertools.islice(rest, 2))
    if len(first) < 2:
        write_frame(path, first[0] if first else pl.DataFrame(schema=SCHEMA))
        return
    with FrameWriter(path) as writer:
        for frame in itertools.chain(first, rest):
            writer.write(frame)


def write_frame(path: Path, frame: pl.DataFrame, rows: int | None = None) -> None:
    """Write one table that is in memory, atomically, in groups of at most `rows` rows.

    Raises:
        DataError: the file cannot be written.
    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False, row_group_size=rows)
    write_atomic(path, buffer.getvalue())


class FrameWriter:
    """Writes a table of items batch by batch; the file has its name only when it is complete.

    Used as a context manager it closes on success and removes the incomplete file after an error.
    A row group has at most `rows` rows; by default each batch is one.

    Raises:
        UsageError: the path is an address.
        DataError: the file cannot be written.
    """

    def __init__(self, path: Path, *, rows: int | None = None) -> None:
        from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - slow to import

        check_local(path)
        self.path = path
        self.rows = 0
        self._of_group = rows
        self._partial = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = ParquetWriter(
                self._partial,
                _arrow(pl.DataFrame(schema=SCHEMA)).schema,
                compression="zstd",
                write_statistics=list(STATISTICS),
            )
        except OSError as error:
            raise _not_writable(path, error) from None

    def __enter__(self) -> FrameWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def write(self, frame: pl.DataFrame) -> None:
        """Write a batch; columns that it lacks are stored without values.

        Raises:
            DataError: the file cannot be written.
        """
        absent = [pl.lit(None, SCHEMA[name]).alias(name) for name in SCHEMA if name not in frame]
        table = _arrow(frame.with_columns(absent).select(list(SCHEMA)))
        try:
            self._writer.write_table(table, row_group_size=self._of_group or max(1, frame.height))
        except OSError as error:
            raise _not_writable(self.path, error) from None
        self.rows += frame.height

    def close(self) -> None:
        """Give the complete file its name.

        Raises:
            DataError: the file cannot be written.
        """
        try:
            self._writer.close()
            with self._partial.open("rb+") as stream:
                os.fsync(stream.fileno())
            replace_file(self._partial, self.path)
        except OSError as error:
            self._partial.unlink(missing_ok=True)
            raise _not_writable(self.path, error) from None

    def abandon(self) -> None:
        """Remove the incomplete file."""
        with contextlib.suppress(Exception):  # the first error is the one to report
            self._writer.close()
        self._partial.unlink(missing_ok=True)


def _arrow(frame: pl.DataFrame) -> pa.Table:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def _not_writable(path: Path, error: OSError) -> DataError:
    reason = error.strerror or next(iter(str(error).splitlines()), "")
    return DataError("cannot be written: {}", reason, file=path, hint="Choose another place")


def _gather(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Small batches as larger ones, of at least `BATCH_ROWS` rows except for the last."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        if frame.height:
            waiting.append(frame)
        if sum(each.height for each in waiting) >= BATCH_ROWS:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)

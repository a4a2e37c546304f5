"""The parquet tables of a bundle: the index of its items, and checks before a table is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import polars as pl

from keju.bundles.manifest import BundledItem
from keju.bundles.parquet_pages import count_pages
from keju.errors import DataError
from keju.texts import _

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

MOST_ROWS = 50_000_000
MOST_GROUP_ROWS = 1 << 20
ROWS_OF_SMALL_FILE = 1 << 20
"""The maximum number of rows of a file that has fewer bytes than rows."""
MOST_COLUMNS = 100
MOST_VALUES = 1 << 23
"""The maximum number of values of a column in a row group, those of lists included."""
MOST_GROUP = 1 << 30
"""The maximum size in bytes of the pages, and of the texts, of a row group when they are read."""

ITEMS = pl.Schema(
    {name: pl.String for name in BundledItem.__struct_fields__ if name != "images"}
    | {"images": pl.List(pl.String)}
)
"""The columns of items.parquet in a bundle."""

_ROWS = 4096


def write_index(path: Path, items: Iterable[BundledItem]) -> int:
    """Write the items of a bundle, in batches; returns their number."""
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - slow to import

    rest, count = iter(items), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = _frame([]).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    with ParquetWriter(path, schema, compression="zstd", write_statistics=False) as writer:
        while batch := list(islice(rest, _ROWS)):
            writer.write_table(_frame(batch).to_arrow(compat_level=pl.CompatLevel.oldest()))
            count += len(batch)
    return count


def _frame(items: list[BundledItem]) -> pl.DataFrame:
    rows = [{**msgspec.structs.asdict(item), "images": list(item.images)} for item in items]
    return pl.DataFrame(rows, schema=ITEMS)


def read_index(path: Path) -> Iterator[BundledItem]:
    """The items of a bundle, one after the other, from a file that `check_table` accepted.

    Raises:
        DataError: the table is damaged.
    """
    for frame in _iter_groups(path):
        for row in frame.iter_rows(named=True):
            try:
                yield msgspec.convert(row, BundledItem)
            except msgspec.ValidationError as error:
                raise _not_readable(path, error, str(row.get("id"))) from None


def _iter_groups(path: Path) -> Iterator[pl.DataFrame]:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    try:
        with ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                frame = pl.from_arrow(table.replace_schema_metadata())
                assert isinstance(frame, pl.DataFrame)
                yield frame
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - of damaged files
        raise _not_readable(path, error) from None


def count_rows(path: Path) -> int:
    """The number of rows of a table that `check_table` accepted."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    with ParquetFile(path) as file:
        return int(file.metadata.num_rows)


def check_table(path: Path, schema: pl.Schema | None = None) -> None:
    """Check the columns of a table, and its size in memory, before its values are read.

    A file of some kB can repeat a long text, or a row of a list, millions of times. So values are
    counted in the headers of the pages, and then the lengths of texts are added up while each text
    is in memory once.

    Args:
        path: the file.
        schema: the columns that it must have; any by default.

    Raises:
        DataError: the table has other columns, is too large or is damaged.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    try:
        with ParquetFile(path) as file, path.open("rb") as data:
            _check_columns(file, path, schema)
            for group in range(file.metadata.num_row_groups):
                _check_pages(file, group, path, data)
            texts = _text_columns(file)
        with ParquetFile(path, read_dictionary=texts) as file:
            for group in range(file.metadata.num_row_groups):
                _check_texts(file, group, path, texts)
    except DataError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - of damaged files
        raise _not_readable(path, error) from None


def _check_columns(file: ParquetFile, path: Path, schema: pl.Schema | None) -> None:
    about = file.metadata
    most = min(MOST_ROWS, max(ROWS_OF_SMALL_FILE, path.stat().st_size))
    if about.num_rows > most or about.num_columns > MOST_COLUMNS:
        raise DataError(
            "the table is larger than keju reads",
            file=path,
            hint="Do not use the file if you do not know who made it",
        )
    if schema is not None:
        # Metadata that is not UTF-8 is a panic of polars, which prints its own lines.
        empty = pl.from_arrow(file.schema_arrow.remove_metadata().empty_table())
        assert isinstance(empty, pl.DataFrame)
        if empty.schema != schema:
            raise DataError(
                "the table does not have the expected columns",
                file=path,
                hint="Ask for the file again",
            )


def _check_pages(file: ParquetFile, number: int, path: Path, data: BinaryIO) -> None:
    """Check the numbers of values and bytes of a row group, as its pages state them."""
    group, size = file.metadata.row_group(number), 0
    if group.num_rows > MOST_GROUP_ROWS:
        raise DataError(
            "the table is larger than keju reads",
            file=path,
            hint="Do not use the file if you do not know who made it",
        )
    for each in range(group.num_columns):
        column = group.column(each)
        if not column.num_values:
            # A reader opens no page of it.
            continue
        start = column.data_page_offset
        if column.has_dictionary_page:
            start = min(start, column.dictionary_page_offset or start)
        found = count_pages(data, start, column.total_compressed_size)
        size += found.size
        if found.values != column.num_values:
            raise ValueError("a column has another number of values than it states")
        if max(found.values, found.dictionary) > MOST_VALUES or size > MOST_GROUP:
            raise DataError(
                "the table is larger than keju reads",
                file=path,
                hint="Do not use the file if you do not know who made it",
            )


def _text_columns(file: ParquetFile) -> list[str]:
    """The paths of all columns of texts, also of those in lists."""
    columns = (file.schema.column(number) for number in range(file.metadata.num_columns))
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


def _check_texts(file: ParquetFile, number: int, path: Path, texts: list[str]) -> None:
    total = 0
    for batch in file.iter_batches(row_groups=[number], columns=texts, use_threads=False):
        total += sum(_length(column) for column in batch.columns)
        if total > MOST_GROUP:
            raise DataError(
                "the table is larger than keju reads",
                file=path,
                hint="Do not use the file if you do not know who made it",
            )


def _length(column: pa.Array) -> int:
    """The bytes of the texts of a column whose values are a dictionary."""
    from pyarrow import compute, types  # noqa: PLC0415 - slow to import

    given: Any = compute
    while types.is_list(column.type) or types.is_large_list(column.type):
        column = column.flatten()
    if types.is_struct(column.type):
        return sum(_length(each) for each in column.flatten())
    if not types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = given.binary_length(column.dictionary)
    return int(given.sum(given.take(lengths, column.indices)).as_py() or 0)


def _not_readable(path: Path, error: BaseException, item: str = "") -> DataError:
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    problem = _("the table is not readable: {}", reason, hint="Ask for the file again")
    return DataError(problem, file=path, item=item or None)

"""The parquet tables of a bundle: the index of its items, and checks before a table is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from keju.bundles.manifest import BundledItem
from keju.errors import DataError
from keju.messages import message
from keju.scoring.scores_parquet import SCHEMA as SCORES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

MOST_ROWS = 50_000_000
MOST_COLUMNS = 100
MOST_GROUP = 1 << 30
"""The maximum size in bytes of the texts of a row group when they are read."""

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
    for frame in iter_groups(path):
        for row in frame.iter_rows(named=True):
            try:
                yield msgspec.convert(row, BundledItem)
            except msgspec.ValidationError as error:
                raise _not_readable(path, error, str(row.get("id"))) from None


def iter_groups(path: Path, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
    """A table in row groups.

    Raises:
        DataError: the table is damaged.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    try:
        with ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=columns, use_threads=False)
                frame = pl.from_arrow(table)
                assert isinstance(frame, pl.DataFrame)
                yield frame
    except DataError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - of damaged files
        raise _not_readable(path, error) from None


def count_rows(path: Path) -> int:
    """The number of rows of a table that `check_table` accepted."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    with ParquetFile(path) as file:
        return int(file.metadata.num_rows)


def check_items(path: Path) -> None:
    """Check that a file has the columns of `ITEMS` and is not too large to be read.

    Raises:
        DataError: it has not, or it is damaged.
    """
    check_table(path, ITEMS)


def check_scores(path: Path) -> None:
    """Check that a file has the columns of scores and is not too large to be read.

    Raises:
        DataError: it has not, or it is damaged.
    """
    check_table(path, SCORES)


def check_table(path: Path, schema: pl.Schema) -> None:
    """Check the columns of a table, and its size in memory, before its texts are read.

    A file of some kB can repeat a long text millions of times. So the lengths are added up while
    each text is in memory once.

    Raises:
        DataError: the table has other columns, is too large or is damaged.
    """
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    texts = [name for name, kind in schema.items() if kind == pl.String]
    try:
        with ParquetFile(path, read_dictionary=texts) as file:
            _check_columns(file, path, schema)
            for group in range(file.metadata.num_row_groups):
                _check_group(file, group, path, texts)
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001 - damaged files raise almost anything
        raise _not_readable(path, error) from None


def _check_columns(file: ParquetFile, path: Path, schema: pl.Schema) -> None:
    about = file.metadata
    if about.num_rows > MOST_ROWS or about.num_columns > MOST_COLUMNS:
        raise DataError(message("bundles.table-too-large"), file=path)
    if list(file.schema_arrow.names) != list(schema):
        raise DataError(message("bundles.other-columns"), file=path)


def _check_group(file: ParquetFile, number: int, path: Path, texts: list[str]) -> None:
    group = file.metadata.row_group(number)
    sizes = [group.column(each).total_uncompressed_size for each in range(group.num_columns)]
    if sum(sizes) > MOST_GROUP or group.num_rows > MOST_ROWS:
        raise DataError(message("bundles.table-too-large"), file=path)
    total = 0
    for batch in file.iter_batches(row_groups=[number], columns=texts, use_threads=False):
        total += sum(_length(column) for column in batch.columns)
        if total > MOST_GROUP:
            raise DataError(message("bundles.table-too-large"), file=path)


def _length(column: pa.Array) -> int:
    """The bytes of the texts of a column whose values are a dictionary."""
    from pyarrow import compute  # noqa: PLC0415 - slow to import

    given: Any = compute
    if not hasattr(column, "dictionary"):
        return int(column.nbytes)
    lengths = given.binary_length(column.dictionary)
    return int(given.sum(given.take(lengths, column.indices)).as_py() or 0)


def _not_readable(path: Path, error: BaseException, item: str = "") -> DataError:
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    problem = message("bundles.table-not-readable", reason=reason)
    return DataError(problem, file=path, item=item or None)

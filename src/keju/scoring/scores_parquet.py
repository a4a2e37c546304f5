"""Scores as a parquet table: a row for each response, protocol and metric, with summed parts."""

from __future__ import annotations

import sys
import tempfile
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from pathlib import Path

import msgspec
import polars as pl

from keju.errors import DataError
from keju.files import write_atomic
from keju.items import Protocol, Score
from keju.scoring.fingerprints import FORMAT, Fingerprint
from keju.scoring.score import PROTOCOLS

_FIELDS: dict[str, pl.DataType | type[pl.DataType]] = {
    "key": pl.String,
    "item": pl.String,
    "model": pl.String,
    "benchmark": pl.String,
    "task": pl.String,
    "query": pl.String,
    "protocol": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "setting": pl.String,
    "script": pl.String,
    "wording": pl.String,
    "round": pl.Int64,
    "group": pl.String,
    "status": pl.String,
    "verdict": pl.String,
    "reason": pl.String,
    "extracted": pl.String,
    "extracted_from": pl.String,
    "signature": pl.String,
    "read_by": pl.String,
}
"""The fields of a score that are columns as they are."""

SCHEMA = pl.Schema(
    {
        **_FIELDS,
        "part_names": pl.String,
        "parts": pl.List(pl.Float64),
        "if_right": pl.List(pl.Float64),
    }
)
"""The columns of scores/<model>.parquet; `value` is null where a response is unscored.

`parts` are the statistics of the score that `part_names` names, separated by commas, and `if_right`
those if its unclear answer were right, or an empty list. A number that is absent is null.
"""

_REPEATED = tuple(name for name in _FIELDS if name not in {"key", "item", "extracted"})

_CHOICES = ("protocol", "setting", "script", "status", "read_by")
"""Columns of which the values are choices."""

_FINGERPRINT = "keju.fingerprint"
"""The key in the file's metadata under which the fingerprint is stored, as JSON."""

_GROUP_ROWS = 16_384
"""Rows of a row group, which are in memory at a time."""


def write_scores(
    path: Path, scores: Iterable[Score], fingerprint: Fingerprint | None = None
) -> None:
    """Write scores as parquet (`write_frames`)."""
    write_frames(path, frames_of(scores), fingerprint)


def write_frames(
    path: Path, frames: Iterable[pl.DataFrame], fingerprint: Fingerprint | None = None
) -> None:
    """Write tables of scores as parquet, atomically, each as a row group when it comes.

    The file has the fingerprint of the data that the scores were computed from.
    """
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - slow to import

    about = {_FINGERPRINT: msgspec.json.encode(fingerprint).decode()} if fingerprint else {}
    oldest = pl.CompatLevel.oldest()
    schema = scores_frame([]).to_arrow(compat_level=oldest).schema.with_metadata(about)
    with tempfile.TemporaryFile() as stream:
        with ParquetWriter(stream, schema, compression="zstd", write_statistics=False) as writer:
            for frame in frames:
                table = frame.to_arrow(compat_level=oldest)
                writer.write_table(table.replace_schema_metadata(schema.metadata))
        stream.seek(0)
        write_atomic(path, iter(lambda: stream.read(1 << 20), b""))


def frames_of(scores: Iterable[Score]) -> Iterator[pl.DataFrame]:
    """Scores as tables of at most `_GROUP_ROWS` rows."""
    remaining = iter(scores)
    while chunk := list(islice(remaining, _GROUP_ROWS)):
        yield scores_frame(chunk)


def scores_frame(scores: Sequence[Score]) -> pl.DataFrame:
    """Scores as a table with the columns of `SCHEMA`, one row a score, in their order."""
    columns = {name: [getattr(score, name) for score in scores] for name in _FIELDS}
    names = [_part_names(score) for score in scores]
    parts = _number_lists("parts", names, [score.stats for score in scores])
    right = [score.if_right for score in scores]
    names_if_right = [own if of_score else () for own, of_score in zip(names, right, strict=True)]
    return pl.DataFrame(columns, schema=_FIELDS).with_columns(
        pl.Series("part_names", list(map(",".join, names)), dtype=pl.String),
        parts,
        _number_lists("if_right", names_if_right, right),
    )


def _part_names(score: Score) -> tuple[str, ...]:
    return tuple(score.stats | score.if_right if score.if_right else score.stats)


def _number_lists(
    column: str, names: Sequence[tuple[str, ...]], numbers: Sequence[Mapping[str, float]]
) -> pl.Series:
    """A list of numbers for each score; polars takes ten times as long to do it itself."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    flat = [
        of_score.get(name) for own, of_score in zip(names, numbers, strict=True) for name in own
    ]
    ends = list(accumulate(map(len, names), initial=0))
    # `pa.array` would import pandas where it is installed, which takes longer than all of this.
    values, offsets = (
        pl.Series(values, dtype=kind, strict=False).to_arrow(compat_level=pl.CompatLevel.oldest())
        for values, kind in ((flat, pl.Float64), (ends, pl.Int64))
    )
    return pl.Series(column, pa.LargeListArray.from_arrays(offsets, values))


def read_fingerprint(path: Path) -> Fingerprint | None:
    """The fingerprint of the scores in a file; None where they have none, or one of another format.

    Raises:
        DataError: the file is missing or damaged.
    """
    try:
        stored = pl.read_parquet_metadata(path).get(_FINGERPRINT)
    except FileNotFoundError:
        raise _missing(path) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(path, error) from None
    try:
        found = msgspec.json.decode(stored or "null", type=Fingerprint | None)
    except msgspec.DecodeError:
        return None
    return found if found is not None and found.format == FORMAT else None


def read_scores(path: Path, protocols: Collection[Protocol] = PROTOCOLS) -> list[Score]:
    """Read scores that `write_scores` wrote; `iter_stored_scores` also compares them with the run.

    Raises:
        DataError: the file is missing, damaged, or is not a table of scores.
    """
    return list(iter_scores_of(path, protocols))


def iter_scores_of(path: Path, protocols: Collection[Protocol] = PROTOCOLS) -> Iterator[Score]:
    """The scores that `read_scores` reads, one after the other; texts that repeat are shared.

    Args:
        path: the file.
        protocols: the protocols whose scores are read; by default those of every table.

    Raises:
        DataError: as `read_scores`.
    """
    for frame in read_frames(path):
        yield from scores_of(frame.filter(pl.col("protocol").is_in(protocols)))


def scores_of(frame: pl.DataFrame) -> Iterator[Score]:
    """The rows of a table of scores as records, for views that need them one by one."""
    for row in frame.iter_rows(named=True):
        for name in _REPEATED:
            if isinstance(row[name], str):
                row[name] = sys.intern(row[name])
        names = [sys.intern(name) for name in row.pop("part_names").split(",") if name]
        row["stats"] = _numbers(names, row.pop("parts"))
        row["if_right"] = _numbers(names, row["if_right"]) if row["if_right"] else {}
        yield msgspec.convert(row, Score)


def _numbers(names: Collection[str], values: Collection[float | None]) -> dict[str, float]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def read_frames(path: Path) -> Iterator[pl.DataFrame]:
    """Stored scores as tables with the columns of `SCHEMA`, one of each row group.

    Raises:
        DataError: the file is missing, damaged, or is not a table of scores.
    """
    for frame in _row_groups(path):
        if frame.schema != SCHEMA:
            raise DataError(
                "not a table of scores of this version",
                file=path,
                hint="Create it with: keju score RUN",
            )
        _check_rows(frame, path)
        yield frame


def _check_rows(frame: pl.DataFrame, path: Path) -> None:
    """Check what only a file that somebody else wrote can have wrong."""
    names = pl.col("part_names").str.count_matches(",", literal=True) + 1
    names = pl.when(pl.col("part_names") == "").then(0).otherwise(names)
    parts, right = pl.col("parts").list.len(), pl.col("if_right").list.len()
    lacks_text = pl.any_horizontal(pl.exclude("value").is_null())
    if not frame.filter(
        lacks_text | (parts != names) | ((right != names) & (right > 0))
    ).is_empty():
        raise DataError("not a score: {}", "a number or a text is missing", file=path)
    try:
        deque(scores_of(frame.unique(_CHOICES)), maxlen=0)
    except msgspec.ValidationError as error:
        raise DataError("not a score: {}", error, file=path) from None


def _row_groups(path: Path) -> Iterator[pl.DataFrame]:
    try:
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

        with ParquetFile(path) as file:
            # Metadata that is not UTF-8 is a panic of polars, which prints its own lines.
            if not file.num_row_groups:
                yield pl.DataFrame(file.schema_arrow.remove_metadata().empty_table())
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                yield pl.DataFrame(table.replace_schema_metadata())
    except FileNotFoundError:
        raise _missing(path) from None
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - of damaged files
        raise _damaged(path, error) from None


def _missing(path: Path) -> DataError:
    return DataError("no such file", file=path, hint="Create it with: keju score RUN")


def _damaged(path: Path, error: BaseException) -> DataError:
    reason = next(iter(str(error).splitlines()), "")
    return DataError(
        "not readable as parquet: {}", reason, file=path, hint="Create it with: keju score RUN"
    )

"""Scores as a parquet table."""

from __future__ import annotations

import io
import sys
import tempfile
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import polars as pl

from keju.errors import DataError
from keju.files import write_atomic
from keju.items import PromptVariant, Protocol, Score
from keju.scoring.fingerprints import FORMAT, Fingerprint
from keju.scoring.score import PROTOCOLS

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
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
    "stats": pl.List(pl.Struct({"name": pl.String, "value": pl.Float64})),
    "signature": pl.String,
    "read_by": pl.String,
    "if_right": pl.List(pl.Struct({"name": pl.String, "value": pl.Float64})),
}
SCHEMA = pl.Schema(_COLUMNS)
"""The columns of scores/<model>.parquet; `value` is null where a response is unscored."""


_STATS = ("stats", "if_right")
_OF_ITEM = {"key", "item", "extracted", "value", "round", *_STATS}

_REPEATED = tuple(name for name in _COLUMNS if name not in _OF_ITEM)
"""The columns of texts that many scores share, so that each is in memory once."""

_PLACE = ("task", "query", "item", "round", "setting", "script", "wording")

_MOST_SHARED = 1000

_SMALL = 4 << 20
"""Bytes of a file that is read at once."""

_FINGERPRINT = "keju.fingerprint"
"""The key in the file's metadata under which the fingerprint is stored, as JSON."""


_GROUP_ROWS = 16_384
"""Rows of a row group of a large file, which are in memory at a time."""


class AnswerPlace(NamedTuple):
    """The place of one answer of a model in a run."""

    task: str
    query: str
    item: str
    round: int
    variant: PromptVariant


def write_scores(
    path: Path, scores: Sequence[Score], fingerprint: Fingerprint | None = None
) -> None:
    """Write scores as parquet, atomically, with the fingerprint of what they were computed from.

    More than `_GROUP_ROWS` scores are written group by group, with bounded memory.
    """
    about = {_FINGERPRINT: msgspec.json.encode(fingerprint).decode()} if fingerprint else {}
    if len(scores) > _GROUP_ROWS:
        _write_groups(path, scores, about)
        return
    buffer = io.BytesIO()
    frame = scores_frame(list(scores))
    frame.write_parquet(buffer, compression="zstd", statistics=False, metadata=about)
    write_atomic(path, buffer.getvalue())


def _write_groups(path: Path, scores: Iterable[Score], about: Mapping[str, str]) -> None:
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - slow to import

    schema, rest = _arrow([]).schema.with_metadata(dict(about)), iter(scores)
    with tempfile.TemporaryFile() as stream:
        with ParquetWriter(stream, schema, compression="zstd", write_statistics=False) as writer:
            while group := list(islice(rest, _GROUP_ROWS)):
                writer.write_table(_arrow(group).replace_schema_metadata(schema.metadata))
        stream.seek(0)
        write_atomic(path, iter(lambda: stream.read(1 << 20), b""))


def _arrow(scores: Sequence[Score]) -> pa.Table:
    return scores_frame(scores).to_arrow(compat_level=pl.CompatLevel.oldest())


def scores_frame(scores: Sequence[Score]) -> pl.DataFrame:
    """Scores as a table with the columns of `SCHEMA`, one row a score, in their order."""
    frame = pl.DataFrame(
        {
            name: [getattr(score, name) for score in scores]
            for name in _COLUMNS
            if name not in _STATS
        },
        schema_overrides={name: _COLUMNS[name] for name in _COLUMNS if name not in _STATS},
    )
    lists = [_stats_column(name, [getattr(score, name) for score in scores]) for name in _STATS]
    return frame.with_columns(lists).select(list(SCHEMA))


def _stats_column(column: str, stats: Sequence[Mapping[str, float]]) -> pl.Series:
    """A list of names and values for each score; polars takes ten times as long to do it itself."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    names = pl.Series([name for each in stats for name in each], dtype=pl.String)
    values = [float(value) for each in stats for value in each.values()]
    ends = list(accumulate((len(each) for each in stats), initial=0))
    # `pa.array` would import pandas where it is installed, which takes longer than all of this.
    parts = [names, pl.Series(values, dtype=pl.Float64), pl.Series(ends, dtype=pl.Int64)]
    arrow = [part.to_arrow(compat_level=pl.CompatLevel.oldest()) for part in parts]
    pairs = pa.StructArray.from_arrays(arrow[:2], ["name", "value"])
    return pl.Series(column, pa.LargeListArray.from_arrays(arrow[2], pairs))


def read_fingerprint(path: Path) -> Fingerprint | None:
    """The fingerprint of the scores in a file; None where they have none, or one of another format.

    Raises:
        DataError: the file is missing or damaged.
    """
    try:
        stored = pl.read_parquet_metadata(path).get(_FINGERPRINT)
    except FileNotFoundError:
        raise DataError("no such file", file=path, hint="Create it with: keju score RUN") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = next(iter(str(error).splitlines()), "")
        raise DataError(
            "not readable as parquet: {}", reason, file=path, hint="Create it with: keju score RUN"
        ) from None
    try:
        found = msgspec.json.decode(stored or "null", type=Fingerprint | None)
    except msgspec.DecodeError:
        return None
    return found if found is not None and found.format == FORMAT else None


def read_scores(path: Path, protocols: Collection[Protocol] = PROTOCOLS) -> list[Score]:
    """Read scores that `write_scores` wrote; `stored_scores` also compares them with the run.

    Raises:
        DataError: the file is missing, damaged, or is not a table of scores.
    """
    return list(iter_scores_of(path, protocols))


def iter_scores_of(
    path: Path, protocols: Collection[Protocol] = PROTOCOLS, *, by_group: bool = False
) -> Iterator[Score]:
    """The scores that `read_scores` reads, one after the other; texts that repeat are shared.

    Args:
        path: the file.
        protocols: the protocols whose scores are read; by default those of every table.
        by_group: read one row group at a time, also of a small file, which can have many rows.

    Raises:
        DataError: as `read_scores`.
    """
    known: dict[str, str] = {}
    stats = _SharedStats()
    last = {"key": "", "item": ""}
    for frame in _score_frames(path, by_group=by_group):
        rows = frame.filter(pl.col("protocol").is_in(protocols))
        for row in rows.iter_rows(named=True):
            for name in _REPEATED:
                value = row[name]
                row[name] = known.setdefault(value, value)
            for name, value in last.items():
                if row[name] == value:
                    row[name] = value
                last[name] = row[name]
            try:
                for name in _STATS:
                    row[name] = stats.of(row[name])
                score = msgspec.convert(row, Score)
            except (msgspec.ValidationError, TypeError) as error:
                raise DataError("not a score: {}", error, file=path) from None
            yield score


def unclear_answers(path: Path) -> set[AnswerPlace]:
    """The places of the answers with an unclear score in a file.

    Raises:
        DataError: as `read_scores`.
    """
    found: set[AnswerPlace] = set()
    for frame in _score_frames(path, by_group=False):
        rows = frame.filter(pl.col("read_by") == "unclear").select(_PLACE)
        for task, query, item, number, *variant in rows.unique().iter_rows():
            found.add(AnswerPlace(task, query, item, number, PromptVariant(*variant)))
    return found


class _SharedStats:
    """Equal statistics as one dict, for the first `_MOST_SHARED` different ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, ...], bytes], dict[str, float]] = {}

    def of(self, stored: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """The statistics that are stored as a list of names and values."""
        names = tuple(sys.intern(each["name"]) for each in stored)
        values = array("d", [each["value"] for each in stored])
        place = names, values.tobytes()
        if place in self._known:
            return self._known[place]
        found = dict(zip(names, values, strict=True))
        if len(self._known) < _MOST_SHARED:
            self._known[place] = found
        return found


def _score_frames(path: Path, *, by_group: bool) -> Iterator[pl.DataFrame]:
    """`_frames`, each with the columns of `SCHEMA`."""
    for frame in _frames(path, by_group=by_group):
        if frame.schema != SCHEMA:
            raise DataError(
                "not a table of scores of this version",
                file=path,
                hint="Create it with: keju score RUN",
            )
        yield frame


def _frames(path: Path, *, by_group: bool) -> Iterator[pl.DataFrame]:
    """The file as one table, or as one of each row group if it is large or `by_group`."""
    try:
        if not by_group and path.stat().st_size <= _SMALL:
            yield pl.read_parquet(io.BytesIO(path.read_bytes()))
            return
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

        with ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                frame = pl.from_arrow(file.read_row_group(group, use_threads=False))
                assert isinstance(frame, pl.DataFrame)
                yield frame
    except FileNotFoundError:
        raise DataError("no such file", file=path, hint="Create it with: keju score RUN") from None
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - of damaged files
        reason = next(iter(str(error).splitlines()), "")
        raise DataError("not readable as parquet: {}", reason, file=path) from None

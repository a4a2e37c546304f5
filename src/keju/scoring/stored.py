"""The stored scores of a run: a parquet file for each model, a row for each score.

Scores are refused where the run has changed since they were computed. They are not computed again
on the way, because the encoders, protocols and variants that were asked for are options of
``keju score``, and because showing a run writes nothing to it.
"""

from __future__ import annotations

import sys
import tempfile
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path

import msgspec
import polars as pl

from keju import __version__
from keju.definitions.protocols import PROTOCOLS
from keju.errors import DataError, UsageError
from keju.files import sha256_file, write_atomic
from keju.items import Protocol, Record, Score
from keju.runs import RunFolder, file_name
from keju.texts import Text, _, join_clauses, listed

FORMAT = "keju-scores-7"
"""The format of stored scores. Scores in any other format must be computed again."""


class Fingerprint(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Hashes of everything in a run that the scores of one model depend on.

    `items` is the SHA-256 of items.parquet; the floors of some metrics depend on all items.
    `files` are the SHA-256 of the model's files of responses, by name.
    """

    format: str = FORMAT
    keju: str = __version__
    items: str = ""
    files: dict[str, str] = msgspec.field(default_factory=dict)


def fingerprint_of(run: RunFolder, model: str) -> Fingerprint:
    """The fingerprint of a model's stored responses and the run's items.

    Compute it before the responses are read for scoring. A response that is stored in between then
    counts as a change.
    """
    return Fingerprint(items=run.items_hash(), files=_file_hashes(run, model))


def changed_files(run: RunFolder, model: str, scored: Fingerprint) -> list[str]:
    """The names of a model's files of responses that changed, are new or are gone since scoring."""
    files = _file_hashes(run, model).items() ^ scored.files.items()
    return sorted({name for name, _hash in files})


def _file_hashes(run: RunFolder, model: str) -> dict[str, str]:
    return {path.name: sha256_file(path) for path in run.response_files(model)}


_NAMES = (
    "key", "item", "model", "benchmark", "task", "query", "protocol", "metric", "value", "setting",
    "script", "wording", "round", "group", "status", "verdict", "reason", "extracted",
    "extracted_from", "signature", "read_by",
)  # fmt: skip
_FIELDS: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(_NAMES, pl.String), "value": pl.Float64, "round": pl.Int64
}  # fmt: skip
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
    names = [tuple(score.stats | score.if_right) for score in scores]
    parts = _number_lists("parts", names, [score.stats for score in scores])
    right = [score.if_right for score in scores]
    names_if_right = [own if of_score else () for own, of_score in zip(names, right, strict=True)]
    return pl.DataFrame(columns, schema=_FIELDS).with_columns(
        pl.Series("part_names", list(map(",".join, names)), dtype=pl.String),
        parts,
        _number_lists("if_right", names_if_right, right),
    )


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
    with _reading(path):
        stored = pl.read_parquet_metadata(path).get(_FINGERPRINT)
    try:
        fingerprint = msgspec.json.decode(stored or "null", type=Fingerprint | None)
    except msgspec.DecodeError:
        return None
    return fingerprint if fingerprint and fingerprint.format == FORMAT else None


def iter_scores_of(path: Path, protocols: Collection[Protocol] = PROTOCOLS) -> Iterator[Score]:
    """The scores in a file as records, one after the other; `stored_scores` also checks the run.

    Raises:
        DataError: the file is missing, damaged, or is not a table of scores.
    """
    for frame in read_frames(path):
        yield from scores_of(frame.filter(pl.col("protocol").is_in(protocols)))


def scores_of(frame: pl.DataFrame) -> Iterator[Score]:
    """The rows of a table of scores as records, for views that need them one by one.

    Texts that repeat are shared.
    """
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
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    with _reading(path), ParquetFile(path) as file:
        # Metadata that is not UTF-8 is a panic of polars, which prints its own lines.
        if not file.num_row_groups:
            yield pl.DataFrame(file.schema_arrow.remove_metadata().empty_table())
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, use_threads=False)
            yield pl.DataFrame(table.replace_schema_metadata())


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn the errors of a file that is missing or damaged into one line."""
    hint = _("Create it with: keju score RUN")
    try:
        yield
    except FileNotFoundError:
        raise DataError("no such file", file=path, hint=hint) from None
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - of damaged files
        reason = next(iter(str(error).splitlines()), "")
        raise DataError("not readable as parquet: {}", reason, file=path, hint=hint) from None


def scores_path(run: RunFolder, model: str) -> Path:
    """The file of a model's scores."""
    return run.scores_dir / f"{file_name(model)}.parquet"


def decisions_path(run: RunFolder) -> Path:
    """The file of the decisions on unclear answers with which the scores are computed."""
    return run.scores_dir / "decisions.json"


def stored_frames(
    run: RunFolder, models: Sequence[str] | None = None
) -> Iterator[tuple[str, Iterator[pl.DataFrame]]]:
    """The scores of each model as tables (`read_frames`); none of one without responses.

    Args:
        run: the run.
        models: only these; all that the run asked by default.

    Raises:
        UsageError: the run has no scores, or has changed since they were computed.
        DataError: a file of the run is damaged.
    """
    models = list(run.manifest().models) if models is None else models
    check_scores(run, models)
    for model in models:
        path = scores_path(run, model)
        if path.is_file():
            yield model, read_frames(path)


def stored_scores(
    run: RunFolder,
    models: Sequence[str] | None = None,
    protocols: Collection[Protocol] = PROTOCOLS,
) -> Iterator[Score]:
    """The same as records, one after the other, of some protocols.

    Raises:
        UsageError: as `stored_frames`.
        DataError: as `stored_frames`.
    """
    for _model, frames in stored_frames(run, models):
        for frame in frames:
            yield from scores_of(frame.filter(pl.col("protocol").is_in(protocols)))


def check_scores(run: RunFolder, models: Sequence[str] | None = None) -> None:
    """Refuse scores that are missing, or of other responses or items than the stored ones.

    Raises:
        UsageError: the run must be scored; the message says why.
        DataError: a file of the run is damaged.
    """
    models = list(run.manifest().models) if models is None else models
    if not any(run.scores_dir.glob("*.parquet")):
        raise UsageError(
            "{0}: the run has no scores yet. Compute them with: keju score {0}", run.path
        )
    run.check_items()
    items = run.items_hash()
    stale: list[Text] = []
    again = _("Score it again: keju score {}", run.path)
    for model in models:
        path = scores_path(run, model)
        scored = read_fingerprint(path) if path.is_file() else Fingerprint(items=items)
        if scored is None:
            raise UsageError(
                "{}: the scores of {} are in another format than those of this keju. {}",
                run.path,
                model,
                again,
            )
        if scored.items != items:
            raise UsageError(
                "{}: items.parquet changed since the run was scored. {}", run.path, again
            )
        if files := changed_files(run, model, scored):
            stale.append(_("of {}: {}", model, listed(files)))
    if stale:
        raise UsageError(
            "{}: responses changed since they were scored: {}. {}",
            run.path,
            join_clauses(stale),
            again,
        )

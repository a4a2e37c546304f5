"""The stored scores of a run, for every command that shows them: never those of other responses.

Scores are refused where the run has changed since they were computed. They are not computed again
on the way, because the encoders, protocols and variants that were asked for are options of
``keju score``, and because showing a run writes nothing to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import polars as pl

from keju.errors import UsageError
from keju.items import Protocol, Score
from keju.runs import RunFolder, file_name
from keju.scoring.fingerprints import Fingerprint, changed_files
from keju.scoring.score import PROTOCOLS
from keju.scoring.scores_parquet import iter_scores_of, read_fingerprint, read_frames
from keju.texts import Text, _, join_clauses, listed


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
    for model, path in _scored_files(run, models):
        yield model, read_frames(path)


def iter_stored_scores(
    run: RunFolder,
    models: Sequence[str] | None = None,
    protocols: Collection[Protocol] = PROTOCOLS,
) -> Iterator[tuple[str, Iterator[Score]]]:
    """The same as records, one after the other, of some protocols.

    Raises:
        UsageError: as `stored_frames`.
        DataError: as `stored_frames`.
    """
    for model, path in _scored_files(run, models):
        yield model, iter_scores_of(path, protocols)


def _scored_files(run: RunFolder, models: Sequence[str] | None) -> Iterator[tuple[str, Path]]:
    models = list(run.manifest().models) if models is None else models
    check_scores(run, models)
    for model in models:
        path = scores_path(run, model)
        if path.is_file():
            yield model, path


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
    for model in models:
        path = scores_path(run, model)
        scored = read_fingerprint(path) if path.is_file() else Fingerprint(items=items)
        if scored is None:
            raise UsageError(
                "{}: the scores of {} are in another format than those of this keju. {}",
                run.path,
                model,
                _score_again(run),
            )
        if scored.items != items:
            raise UsageError(
                "{}: items.parquet changed since the run was scored. {}",
                run.path,
                _score_again(run),
            )
        if files := changed_files(run, model, scored):
            stale.append(_("of {}: {}", model, listed(files)))
    if stale:
        raise UsageError(
            "{}: responses changed since they were scored: {}. {}",
            run.path,
            join_clauses(stale),
            _score_again(run),
        )


def _score_again(run: RunFolder) -> str:
    return _("Score it again: keju score {}", run.path)

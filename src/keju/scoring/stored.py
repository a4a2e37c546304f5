"""The stored scores of a run, for every command that shows them: never those of other responses.

Scores are refused where the run has changed since they were computed. They are not computed again
on the way, because the encoders, protocols and variants that were asked for are options of
``keju score``, and because showing a run writes nothing to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from keju.errors import UsageError, shortened
from keju.items import Protocol, Score
from keju.runs import RunFolder, file_name
from keju.scoring.fingerprints import Changes, Fingerprint, changes_since
from keju.scoring.score import PROTOCOLS
from keju.scoring.scores_parquet import (
    AnswerPlace,
    iter_scores_of,
    read_fingerprint,
    unclear_answers,
)
from keju.texts import _


def scores_path(run: RunFolder, model: str) -> Path:
    """The file of a model's scores."""
    return run.scores_dir / f"{file_name(model)}.parquet"


def decisions_path(run: RunFolder) -> Path:
    """The file of the decisions on unclear answers with which the scores are computed."""
    return run.scores_dir / "decisions.json"


def stored_scores(
    run: RunFolder, models: Sequence[str] | None = None
) -> Iterator[tuple[str, list[Score]]]:
    """The scores of each model, one model in memory at a time; none of one without responses.

    Args:
        run: the run.
        models: only these; all that the run asked by default.

    Raises:
        UsageError: the run has no scores, or has changed since they were computed.
        DataError: a file of the run is damaged.
    """
    for model, scores in iter_stored_scores(run, models):
        yield model, list(scores)


def iter_stored_scores(
    run: RunFolder,
    models: Sequence[str] | None = None,
    protocols: Collection[Protocol] = PROTOCOLS,
) -> Iterator[tuple[str, Iterator[Score]]]:
    """The same, with the scores of a model one after the other, of some protocols.

    Raises:
        UsageError: as `stored_scores`.
        DataError: as `stored_scores`.
    """
    for model, path in _scored_files(run, models):
        yield model, iter_scores_of(path, protocols)


def iter_unclear_answers(run: RunFolder) -> Iterator[tuple[str, set[AnswerPlace]]]:
    """For each model, the places of the answers that are unclear in its scores.

    Raises:
        UsageError: as `stored_scores`.
        DataError: as `stored_scores`.
    """
    for model, path in _scored_files(run, None):
        yield model, unclear_answers(path)


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
    stale: list[str] = []
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
        if changes := changes_since(run, model, scored):
            stale.append(_describe_changes(model, changes))
    if stale:
        raise UsageError(
            "{}: the run changed since it was scored: {}. {}",
            run.path,
            "; ".join(stale),
            _score_again(run),
        )


def _describe_changes(model: str, changes: Changes) -> str:
    counts = (
        (changes.changed, "changed", "changed"),
        (changes.new, "is new", "are new"),
        (changes.gone, "is gone", "are gone"),
    )
    parts = [
        f"{count:,} {'response' if count == 1 else 'responses'} {one if count == 1 else many}"
        for count, one, many in counts
        if count
    ]
    such = f" (such as that to {shortened(changes.item)})" if changes.item else ""
    return f"of {model}, {', '.join(parts)}{such}"


def _score_again(run: RunFolder) -> str:
    return _("Score it again: keju score {}", run.path)

"""The scores of a run by response, and texts that a response shares with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import force_setattr, replace

from keju.analysis.packed_scores import ResponseScores
from keju.items import Response, Score
from keju.runs import RunFolder
from keju.scoring import check_scores
from keju.scoring.scores_parquet import iter_scores_of
from keju.scoring.stored import scores_path


def scores_by_model(
    folder: RunFolder, scores: Iterable[Score] | None
) -> Callable[[str], ResponseScores]:
    """A function that gives the scores of one model, by item and key of the response.

    Args:
        folder: the run.
        scores: the scores to use; by default the stored ones are read, one model's at a time.

    Raises:
        UsageError: the run has no scores or has changed since.
        DataError: a file of the run is damaged.
    """
    if scores is not None:
        given: dict[str, list[Score]] = {}
        for score in scores:
            given.setdefault(score.model, []).append(score)
        return lambda model: ResponseScores(given.get(model, ()))
    check_scores(folder)

    def read(model: str) -> ResponseScores:
        path = scores_path(folder, model)
        return ResponseScores(iter_scores_of(path) if path.is_file() else ())

    return read


def renamed_score(score: Score, model: str, item: str) -> Score:
    """The score with other names of its model and item."""
    if (score.model, score.item) == (model, item):
        return score
    return replace(score, model=model, item=item)


def share_texts(response: Response, item: str, scores: Sequence[Score]) -> Response:
    """A response whose item and key are the same texts in memory as those of its scores."""
    if response.item == item:
        force_setattr(response, "item", item)
    if scores and response.key == scores[0].key:
        force_setattr(response, "key", scores[0].key)
    return response

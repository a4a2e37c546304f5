"""`Summary`: the values, counts and reasons of one model's scores, without the scores."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import field
from msgspec.structs import replace

from keju.items import Record, Score
from keju.scoring.aggregate import aggregate
from keju.scoring.export import encode_json, json_by_model
from keju.scoring.results import Result
from keju.scoring.run import ModelScores


class UnscoredReason(Record, frozen=True, kw_only=True):
    """A reason why scores have no value: of which metrics, how many responses, and the first."""

    reason: str
    metrics: tuple[str, ...]
    responses: int
    task: str
    item: str


class Summary(Record, frozen=True, kw_only=True):
    """One model's scores, summed up.

    `failed` counts responses that are failures, `strays` by file those whose item the run does not
    have. `json` is its part of ``keju score --json``, by name, where that was asked for.
    """

    model: str
    results: tuple[Result, ...]
    unscored: tuple[UnscoredReason, ...]
    failed: int
    strays: dict[str, int] = field(default_factory=dict)
    json: dict[str, bytes] = field(default_factory=dict)


def summarise(found: ModelScores) -> Summary:
    """Sum up one model's scores."""
    unscored: dict[str, _Unscored] = {}
    failed: set[int] = set()

    def noted() -> Iterator[Score]:
        for score in found.scores:
            if score.status == "failed":
                failed.add(hash(score.key))
            # Of `with-reasoning` the same metrics have no value, for the same reasons.
            if score.value is None and score.protocol != "with-reasoning":
                if score.reason not in unscored:
                    unscored[score.reason] = _Unscored(score)
                unscored[score.reason].add(score)
            yield score

    # Many scores are on disk, so that they are read once.
    results = tuple(aggregate(noted()))
    return Summary(
        model=found.model,
        results=results,
        unscored=tuple(each.reason() for each in unscored.values()),
        failed=len(failed),
        strays=found.strays,
    )


def summarise_with_json(found: ModelScores) -> Summary:
    """Sum up one model's scores, and keep every number as JSON."""
    summary = summarise(found)
    named = json_by_model(found.scores, summary.results)
    return replace(summary, json=encode_json(named))


def merge_unscored(parts: Iterable[UnscoredReason]) -> list[UnscoredReason]:
    """The reasons of several models together."""
    groups: dict[str, list[UnscoredReason]] = {}
    for part in parts:
        groups.setdefault(part.reason, []).append(part)
    return [
        replace(
            group[0],
            metrics=tuple(dict.fromkeys(name for part in group for name in part.metrics)),
            responses=sum(part.responses for part in group),
        )
        for group in groups.values()
    ]


class _Unscored:
    """The scores without a value for one reason."""

    def __init__(self, first: Score) -> None:
        self.first = first
        self.metrics: dict[str, None] = {}
        self.keys = array("q")

    def add(self, score: Score) -> None:
        self.metrics[score.metric] = None
        self.keys.append(hash(score.key))

    def reason(self) -> UnscoredReason:
        """The reason with its metrics and the number of responses."""
        return UnscoredReason(
            reason=self.first.reason,
            metrics=tuple(self.metrics),
            responses=len(np.unique(self.keys)),
            task=self.first.task,
            item=self.first.item,
        )

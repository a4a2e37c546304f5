"""`score` for responses, and its `Results`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal, get_args

import polars as pl

from keju.api.inputs import AnyPath, item_of, listed, path_of, text_of
from keju.api.leaderboards import Leaderboard, leaderboard_of
from keju.definitions import query_of
from keju.definitions import task as task_named
from keju.encoders import Encoders, default_cache_path
from keju.items import Item, Protocol, Response, Score
from keju.judging.extracting import gather_decisions
from keju.notebook import block, table
from keju.runs import RunFolder
from keju.scoring import (
    PROTOCOLS,
    MetricResult,
    Result,
    TaskResult,
    aggregate,
    score_answers,
    score_responses,
    score_run,
    scores_frame,
)
from keju.scoring.scoring_sample import text_response

ProtocolChoice = Literal["official", "strict", "both"]

_MODEL = "responses"
"""The name of the model of answers in memory, where none is given."""


class Results:
    """The scores of models: one row for each score, and the values of tasks and benchmarks.

    `scores` are the records, in the order of the responses. Tables are polars; convert them to
    pandas with ``.to_pandas()``. All values are fractions.
    """

    def __init__(self, scores: Sequence[Score], run: RunFolder | None = None) -> None:
        self.scores = tuple(scores)
        self._run = run

    def __repr__(self) -> str:
        models = ", ".join(dict.fromkeys(score.model for score in self.scores))
        return f"Results({len(self.scores):,} scores of {models or 'no model'})"

    def _repr_html_(self) -> str:
        main = self.tasks.filter(self.tasks["main"])
        names = ["model", "protocol", "task", "query", "metric", "value", "items"]
        return block(
            f"{len(self.scores):,} scores: the main metric of each task",
            table(names, main.select(names).iter_rows()),
        )

    def to_frame(self) -> pl.DataFrame:
        """A table with one row for each item, metric and protocol: the columns of RUN/scores."""
        return scores_frame(self.scores)

    def leaderboard(self) -> Leaderboard:
        """The models of the run in order, with intervals and ranks.

        Raises:
            ValueError: these are not the scores of a run, so that the models did not necessarily
                answer the same items.
            KejuError: the run has other responses than those that were scored.
        """
        if self._run is None:
            raise ValueError("a leaderboard is of a run. Score one with keju.score(run)")
        return leaderboard_of(self._run, self.scores)

    @cached_property
    def tasks(self) -> pl.DataFrame:
        """A table with one row for each task and metric; `main` marks the task's main metric.

        `value` counts failed responses at the metric's worst value, `without_failures` excludes
        them. Both sum over the items where the metric is a rate over the task (CER), else they are
        the mean of the items; `item_mean` is always that mean. `value_if_right` is `value` if every
        unclear answer were right: the other end of the range.
        """
        return pl.DataFrame(
            [
                _who(result) | _metric_row(each, metric)
                for result in self._aggregated
                for each in result.tasks
                for metric in each.metrics
            ],
            schema=_TASKS,
        )

    @cached_property
    def overall(self) -> pl.DataFrame:
        """A table with one row for each benchmark: the mean over its domains.

        The value is the benchmark's own number only if `missing`, the domains without a value, is
        empty.
        """
        return pl.DataFrame(
            [
                _who(result)
                | {
                    "benchmark": each.benchmark,
                    "value": each.overall.value,
                    "value_if_right": each.overall.value_if_right,
                    "missing": list(each.overall.missing),
                }
                for result in self._aggregated
                for each in result.benchmarks
            ],
            schema=_OVERALL,
        )

    @cached_property
    def _aggregated(self) -> list[Result]:
        return aggregate(self.scores)


_Types = dict[str, pl.DataType | type[pl.DataType]]
_WHO: _Types = dict.fromkeys(("model", "setting", "script", "wording", "protocol"), pl.String)
_TASKS = pl.Schema(
    _WHO
    | {"task": pl.String, "query": pl.String, "metric": pl.String, "main": pl.Boolean}
    | dict.fromkeys(("value", "value_if_right", "without_failures", "item_mean"), pl.Float64)
    | {"items": pl.Int64, "scored": pl.Int64, "signature": pl.String}
)
_OVERALL = pl.Schema(
    _WHO
    | {"benchmark": pl.String, "value": pl.Float64, "value_if_right": pl.Float64}
    | {"missing": pl.List(pl.String)}
)


def _who(result: Result) -> dict[str, object]:
    return {name: getattr(result, name) for name in _WHO}


def _metric_row(task_result: TaskResult, metric: MetricResult) -> dict[str, object]:
    about = {
        "task": task_result.task,
        "query": task_result.query,
        "main": metric is task_result.main,
    }
    names = [name for name in _TASKS if name not in _WHO and name not in about]
    values = {name: getattr(metric, name) for name in names}
    return about | values | {"value_if_right": metric.value_if_right}


def score(
    responses: AnyPath | Iterable[tuple[Item, str]],
    *,
    protocol: ProtocolChoice = "both",
    model: str = "",
    adjudicated: AnyPath | None = None,
    extractor: str = "",
) -> Results:
    """Score responses; no model, key or network is needed.

    Args:
        responses: the path of a run, whose scores are also stored in RUN/scores; the path of a JSON
            file of responses with their items; or a list of items with the text that answers each.
        protocol: ``official`` (as published), ``strict`` (recommended), or ``both``.
        model: the name of the model that gave the answers in a list.
        adjudicated: a file of people's decisions on unclear answers of a run.
        extractor: the model whose stored replies decide the unclear answers of a run that people
            did not decide (``keju judge extract``).

    Raises:
        TypeError: `responses` is neither a path nor a list of items with texts.
        ValueError: `protocol` is not one of these; the list is empty; an item is listed twice, or
            is of a pair task, which only a run can have; `model` is given with a path, or
            `adjudicated` or `extractor` without a run.
        KejuError: the file or run does not exist, or is damaged.
    """
    if protocol not in get_args(ProtocolChoice):
        raise ValueError(f"protocol is {protocol!r}. Use official, strict or both")
    protocols: tuple[Protocol, ...] = PROTOCOLS if protocol == "both" else (protocol,)
    is_run = isinstance(responses, str | os.PathLike) and path_of(responses).is_dir()
    if (adjudicated or extractor) and not is_run:
        raise ValueError("adjudicated and extractor decide the unclear answers of a run")
    if not isinstance(responses, str | os.PathLike):
        pairs = listed("responses", responses, _PAIRS)
        if not pairs:
            raise ValueError("responses is empty, so there is nothing to score")
        return Results(score_answers(_answers(pairs, model or _MODEL), protocols))
    if model:
        raise ValueError("model names the answers of a list; a run or file has its own names")
    path = path_of(responses)
    encoders = Encoders({}, default_cache_path())
    if path.is_dir():
        run = RunFolder.open(path)
        file = path_of(adjudicated) if adjudicated else None
        decisions = gather_decisions(run, file, extractor)
        return Results(score_run(run, protocols, encoders, decisions=decisions), run)
    return Results(score_responses(path, protocols, encoders))


_PAIRS = "a path, or a list of pairs of keju.Item and str"


def _answers(pairs: Sequence[object], model: str) -> Iterator[tuple[Item, Response]]:
    """Items with the responses made from the texts."""
    seen: set[tuple[str, str, str]] = set()
    for place, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"responses {place} is not a pair of keju.Item and str")
        item = item_of(f"responses {place}, the first of the pair,", pair[0])
        text = text_of(f"responses {place}, the second of the pair,", pair[1])
        key = (item.task, item.query, item.id)
        if key in seen:
            raise ValueError(f"item {item.id} of task {item.task} is listed twice")
        seen.add(key)
        query_of(item)
        if task_named(item.task).of_pairs:
            raise ValueError(
                f"item {item.id} is of task {item.task}, which asks about pairs of images. "
                "Make a run with keju run, and score that"
            )
        yield item, text_response(item, text, model)

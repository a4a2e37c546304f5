"""Differences between the two protocols on a model's responses, by task and item, with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from keju.definitions import Query, Task, task
from keju.extraction.rules import explain_origin
from keju.items import AnswerForm, Protocol, Record, Score
from keju.scoring.aggregate import Tally, part_columns
from keju.scoring.decisions import DECIDED_FORMS
from keju.scoring.lookup import list_steps, metric_of
from keju.scoring.metric import PROTOCOLS, Metric
from keju.scoring.model_comparison import PLACE
from keju.scoring.results import MetricResult
from keju.scoring.stored import scores_of
from keju.statistics import Floats
from keju.texts import _, join_clauses

LEAST_DIFFERENCE = 0.005
"""Half a point: items with a smaller difference count as equal."""


class ProtocolDifference(Record, frozen=True, kw_only=True):
    """A step that the two protocols do differently."""

    step: str
    official: str
    strict: str


class ItemDifference(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One item's two values on one scale, errors as 1 - error, and why they differ.

    The fields of a range are those of `TaskDifference`.
    """

    id: str
    round: int
    official: float
    strict: float
    strict_if_right: float
    difference_least: float
    difference_most: float
    why: str


class TaskDifference(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One task's two values, where a model's responses have both.

    The metrics are each protocol's main one, or where that has no value (no weights) the first
    that has. `official` and `strict` are the task's values as reported, `strict_if_right` is
    `strict` if every unclear answer were right (`strict` itself where none is unclear). The
    difference is strict - official on one scale, where errors are 1 - min(1, error): from
    `difference_least` to `difference_most`. `apart` counts the items whose values differ by half a
    point or more whatever their unclear answers are, `apart_most` those whose values may;
    `largest` has those whose values differ with unclear answers as wrong, the largest certain
    differences first. `steps` are the steps from a response to a number in which the two metrics
    differ.
    """

    model: str
    task: str
    query: str
    official_metric: str
    official: float
    strict_metric: str
    strict: float
    strict_if_right: float
    difference_least: float
    difference_most: float
    items: int
    apart: int
    apart_most: int
    steps: tuple[ProtocolDifference, ...]
    largest: tuple[ItemDifference, ...]

    @property
    def name(self) -> str:
        """The task's id, with its query where it has several."""
        return f"{self.task}/{self.query}" if self.query else self.task

    @property
    def certain_difference(self) -> float:
        """The size of the difference, whatever the unclear answers are."""
        least, most = self.difference_least, self.difference_most
        return 0.0 if least <= 0 <= most else min(abs(least), abs(most))


def list_task_differences(scores: pl.DataFrame, *, most: int = 3) -> list[TaskDifference]:
    """The difference of the protocols in each task of one model's scores, with its items.

    Args:
        scores: a table of one model's scores in one setting, under both protocols.
        most: how many items of each task are named.
    """
    mains: dict[Protocol, dict[tuple[str, str], MetricResult]] = {"official": {}, "strict": {}}
    for result in Tally([scores.filter(pl.col("protocol").is_in(PROTOCOLS))]).results():
        for of_task in result.tasks:
            main = next((metric for metric in of_task.metrics if metric.value is not None), None)
            if main is not None:
                mains[result.protocol][of_task.task, of_task.query] = main
    return [
        _difference(where, scores, (official, mains["strict"][where]), most)
        for where, official in mains["official"].items()
        if where in mains["strict"]
    ]


def differing_steps(
    declared: Task, query: Query, metrics: tuple[str, str]
) -> Iterator[ProtocolDifference]:
    """The steps in which an `official` and a `strict` metric of a query differ."""
    official, strict = (
        list_steps(metric, query) for metric in _declarations(declared, query, metrics)
    )
    for step, what in official.items():
        if what != strict[step]:
            yield ProtocolDifference(step=step, official=what, strict=strict[step])


def _declarations(declared: Task, query: Query, metrics: tuple[str, str]) -> Iterator[Metric]:
    for protocol, name in zip(PROTOCOLS, metrics, strict=True):
        metric = metric_of(protocol, declared.benchmark, query.form, name)
        assert metric is not None, name
        yield metric


def _difference(
    where: tuple[str, str],
    scores: pl.DataFrame,
    mains: tuple[MetricResult, MetricResult],
    most: int,
) -> TaskDifference:
    declared = task(where[0])
    query = next(query for query in declared.queries if query.name == where[1])
    own = scores.filter(pl.col("task") == declared.id, pl.col("query") == query.name)
    metrics = (mains[0].metric, mains[1].metric)
    are_errors = [not metric.higher_is_better for metric in _declarations(declared, query, metrics)]
    official, strict, strict_if_right = (
        value or 0.0 for value in (mains[0].value, mains[1].value, mains[1].value_if_right)
    )
    of_official = _higher_is_better(official, are_errors[0])
    least, greatest = (
        float(_higher_is_better(end, are_errors[1]) - of_official)
        for end in (strict, strict_if_right)
    )
    items = _items(own, metrics, are_errors)
    largest = items.head(most).filter(pl.col("difference_least").abs() >= LEAST_DIFFERENCE)
    return TaskDifference(
        model=scores["model"][0],
        task=declared.id,
        query=query.name,
        official_metric=metrics[0],
        official=official,
        strict_metric=metrics[1],
        strict=strict,
        strict_if_right=strict_if_right,
        difference_least=least,
        difference_most=greatest,
        items=len(items),
        apart=int((items["certain"] >= LEAST_DIFFERENCE).sum()),
        apart_most=int((items["possible"] >= LEAST_DIFFERENCE).sum()),
        steps=tuple(differing_steps(declared, query, metrics)),
        largest=tuple(
            ItemDifference(
                **row, why=_describe(own, row["id"], row["round"], query.form, metrics[1])
            )
            for row in largest.drop("certain", "possible").iter_rows(named=True)
        ),
    )


def _items(
    scores: pl.DataFrame, metrics: tuple[str, str], are_errors: Sequence[bool]
) -> pl.DataFrame:
    """The items and rounds with a value under both protocols, largest certain difference first.

    The columns are the fields of `ItemDifference`; `certain` is the size of the difference whatever
    an unclear answer is, `possible` the largest size that it can have.
    """
    sides = []
    for protocol, metric, is_error in zip(PROTOCOLS, metrics, are_errors, strict=True):
        rows = scores.filter(
            pl.col("protocol") == protocol,
            pl.col("metric") == metric,
            pl.col("value").is_not_null(),
        ).unique(PLACE, keep="last", maintain_order=True)
        values = rows["value"].to_numpy()
        parts = part_columns(rows, if_right=True)
        is_unclear = (rows["if_right"].list.len() > 0).to_numpy()
        values_if_right = values.copy()
        if is_unclear.any():
            ratios = parts["numerator"][is_unclear] / parts["denominator"][is_unclear]
            values_if_right[is_unclear] = ratios
        sides.append(
            rows.select(pl.col("item").alias("id"), "round").with_columns(
                pl.Series(protocol, _higher_is_better(values, is_error)),
                pl.Series(f"{protocol}_if_right", _higher_is_better(values_if_right, is_error)),
            )
        )
    difference = pl.col("strict") - pl.col("official")
    least, most = pl.col("difference_least"), pl.col("difference_most")
    sizes = least.abs(), most.abs()
    return (
        sides[0]
        .join(sides[1], on=["id", "round"], maintain_order="left")
        .drop("official_if_right")
        .with_columns(
            difference_least=difference,
            difference_most=pl.col("strict_if_right") - pl.col("official"),
        )
        .with_columns(
            certain=pl.when(least <= 0, most >= 0).then(0.0).otherwise(pl.min_horizontal(*sizes)),
            possible=pl.max_horizontal(*sizes),
        )
        .sort("certain", least.abs(), "id", descending=[True, True, False], maintain_order=True)
    )


def _higher_is_better(values: Floats | float, is_error: bool) -> Any:  # noqa: ANN401
    """Values on the scale where higher is better: of errors, 1 - error, at least 0."""
    return 1 - np.minimum(1.0, values) if is_error else values


def _describe(scores: pl.DataFrame, item: str, number: int, form: AnswerForm, metric: str) -> str:
    """The reasons for a difference that the stored scores of an item show, in short clauses."""
    of_item = scores.filter(pl.col("item") == item, pl.col("round") == number)
    official, strict = (
        {score.metric: score for score in scores_of(of_item.filter(pl.col("protocol") == protocol))}
        for protocol in PROTOCOLS
    )
    return join_clauses(
        [*_reading(form, official, strict[metric]), *_counts(official, strict, strict[metric])]
    )


def _reading(form: AnswerForm, official: Mapping[str, Score], main: Score) -> Iterator[str]:
    """Clauses on the answer that each protocol reads."""
    rule = explain_origin(main.extracted_from)
    if main.verdict != "ok":
        yield main.verdict
    whole_text = ("all", "paragraph") if form == "transcription" else ("all",)
    if form in {"letter", "short", "yes-no"}:
        if next(iter(official.values())).value:
            yield _("official finds the answer inside the response")
        else:
            yield _("official does not find the answer as it is written")
    elif form in {"transcription", "text"} and not (main.extracted_from or "all").startswith(
        whole_text
    ):
        yield _("strict reads {}", rule)
    if form in DECIDED_FORMS and form != "entities":
        if main.extracted:
            yield _("strict takes “{}” ({})", main.extracted[:40], rule)
        else:
            yield _("strict takes no answer ({})", rule)
    if form == "text":
        scored = next((score.metric for score in official.values() if score.value is not None), "")
        yield _("{} and {} measure different things", scored, main.metric)


def _counts(
    official: Mapping[str, Score], strict: Mapping[str, Score], main: Score
) -> Iterator[str]:
    """Clauses on the edits in a transcription, and on the marks or names that are found."""
    counted = official.get("CR") or official.get("CER")
    if counted and (extra := counted.stats.get("insertions")):
        yield _("superfluous characters, which cost official CR nothing: {:,.0f}", extra)
    if counted and "edits" in counted.stats:
        edits, length = counted.stats["edits"], counted.stats["length"]
        yield _("official edits: {:,.0f} of {:,.0f} characters", edits, length)
    if (error := strict.get("CER")) and (layers := error.stats):
        exact, script = layers["edits_exact"], layers["edits_script"]
        if exact > script:
            yield _("edits by variants or other script: {:,.0f} of {:,.0f}", exact - script, exact)
        yield _("strict edits: {:,.0f} of {:,.0f} characters", script, layers["length_script"])
    if "hits" in main.stats:
        hits, predicted, expected = (main.stats[name] for name in ("hits", "predicted", "expected"))
        yield _(
            "strict matches {:,.0f} of {:,.0f} given to {:,.0f} true ones",
            hits,
            predicted,
            expected,
        )
    recall = official.get("Recall")
    if recall and (recall.value or 0) > 1:
        yield _("official counts repeats: recall {:,.0f}", 100 * (recall.value or 0))

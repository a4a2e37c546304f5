"""Differences between the two protocols on a model's responses, by task and item, with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from keju.definitions import Query, Task, task
from keju.definitions.protocols import DECIDED_FORMS, PROTOCOLS
from keju.extraction.rules import explain_origin
from keju.items import AnswerForm, Protocol, Record, Score
from keju.scoring.aggregate import Tally, part_columns
from keju.scoring.lookup import list_steps, metric_of
from keju.scoring.metric import Metric
from keju.scoring.model_comparison import PLACE
from keju.scoring.results import MetricResult
from keju.scoring.stored import scores_of
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
    official, strict = _declarations(declared, query, metrics)
    values = {
        "official": mains[0].value or 0.0,
        "strict": mains[1].value or 0.0,
        "strict_if_right": mains[1].value_if_right or 0.0,
    }
    ends = _with_differences(pl.DataFrame([values]), official, strict).row(0, named=True)
    items = _items(own, official, strict)
    largest = items.head(most).filter(pl.col("difference_least").abs() >= LEAST_DIFFERENCE)
    return TaskDifference(
        **(ends | values),
        model=scores["model"][0],
        task=declared.id,
        query=query.name,
        official_metric=metrics[0],
        strict_metric=metrics[1],
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


def _items(scores: pl.DataFrame, official: Metric, strict: Metric) -> pl.DataFrame:
    """The items and rounds with a value under both protocols, largest certain difference first.

    The columns are the fields of `ItemDifference`; `certain` is the size of the difference whatever
    an unclear answer is, `possible` the largest size that it can have.
    """
    of_official, of_strict = (
        scores.filter(
            pl.col("protocol") == metric.protocol,
            pl.col("metric") == metric.name,
            pl.col("value").is_not_null(),
        ).unique(PLACE, keep="last", maintain_order=True)
        for metric in (official, strict)
    )
    parts = part_columns(of_strict, if_right=True)
    top, bottom = pl.Series(parts["numerator"]), pl.Series(parts["denominator"])
    # As `Score.value_if_right`: where there is nothing to count, the value stays.
    has_range = (pl.col("if_right").list.len() > 0) & pl.lit(bottom != 0)
    of_strict = of_strict.select(
        *PLACE,
        strict="value",
        strict_if_right=pl.when(has_range).then(pl.lit(top / bottom)).otherwise("value"),
    )
    values = of_official.select(*PLACE, official="value").join(
        of_strict, on=PLACE, maintain_order="left"
    )
    least, most = pl.col("difference_least"), pl.col("difference_most")
    sizes = least.abs(), most.abs()
    return (
        _with_differences(values.rename({"item": "id"}), official, strict)
        .with_columns(
            certain=pl.when(least <= 0, most >= 0).then(0.0).otherwise(pl.min_horizontal(*sizes)),
            possible=pl.max_horizontal(*sizes),
        )
        .sort("certain", least.abs(), "id", descending=[True, True, False], maintain_order=True)
    )


def _with_differences(values: pl.DataFrame, official: Metric, strict: Metric) -> pl.DataFrame:
    """Values on the scale where higher is better, and the ends of their difference.

    Of an error that is 1 - error, at least 0.
    """
    metrics = {"official": official, "strict": strict, "strict_if_right": strict}
    return values.with_columns(
        (1 - pl.col(name).clip(upper_bound=1.0)).alias(name)
        for name, metric in metrics.items()
        if not metric.higher_is_better
    ).with_columns(
        difference_least=pl.col("strict") - pl.col("official"),
        difference_most=pl.col("strict_if_right") - pl.col("official"),
    )


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
    if form in {"letter", "short", "yes-no"}:
        if next(iter(official.values())).value:
            yield _("official finds the answer inside the response")
        else:
            yield _("official does not find the answer as it is written")
    whole_text = ("all", "paragraph") if form == "transcription" else ("all",)
    is_part = not (main.extracted_from or "all").startswith(whole_text)
    if form in {"transcription", "text"} and is_part:
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
    if counted := official.get("CR") or official.get("CER"):
        stats = counted.stats
        if extra := stats.get("insertions"):
            yield _("superfluous characters, which cost official CR nothing: {:,.0f}", extra)
        if "edits" in stats:
            edits, length = stats["edits"], stats["length"]
            yield _("official edits: {:,.0f} of {:,.0f} characters", edits, length)
    if (error := strict.get("CER")) and (stats := error.stats):
        exact, script = stats["edits_exact"], stats["edits_script"]
        if exact > script:
            yield _("edits by variants or other script: {:,.0f} of {:,.0f}", exact - script, exact)
        yield _("strict edits: {:,.0f} of {:,.0f} characters", script, stats["length_script"])
    if "hits" in main.stats:
        counts = [main.stats[name] for name in ("hits", "predicted", "expected")]
        yield _("strict matches {:,.0f} of {:,.0f} given to {:,.0f} true ones", *counts)
    recall = official.get("Recall")
    if recall and (recall.value or 0) > 1:
        yield _("official counts repeats: recall {:,.0f}", 100 * (recall.value or 0))

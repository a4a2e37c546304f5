"""Differences between the two protocols on a model's responses, by task and item, with reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from msgspec.structs import replace

from keju.definitions import Query, Task, task
from keju.extraction.rules import explain_origin
from keju.items import AnswerForm, Protocol, Record, Score
from keju.scoring.aggregate import Tally, part_columns
from keju.scoring.lookup import list_steps, lower_is_better
from keju.scoring.model_comparison import PLACE
from keju.scoring.results import MetricResult, TaskResult
from keju.scoring.scores_parquet import scores_of
from keju.statistics.resampling import Floats
from keju.texts import _, join_clauses

PROTOCOLS: tuple[Protocol, Protocol] = ("official", "strict")

LEAST_DIFFERENCE = 0.005
"""Half a point: items with a smaller difference count as equal."""

_Where = tuple[str, str]


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

    @property
    def certain_difference(self) -> float:
        """The size of the difference, whatever an unclear answer is."""
        return smallest_size(self.difference_least, self.difference_most)

    @property
    def possible_difference(self) -> float:
        """The largest size that the difference can have."""
        return max(abs(self.difference_least), abs(self.difference_most))


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
        return smallest_size(self.difference_least, self.difference_most)


class _Both(NamedTuple):
    """One response's scores under both protocols, by metric."""

    official: dict[str, Score]
    strict: dict[str, Score]


def list_task_differences(scores: pl.DataFrame, *, most: int = 3) -> list[TaskDifference]:
    """The difference of the protocols in each task of one model's scores, with its items.

    Args:
        scores: a table of one model's scores in one setting, under both protocols.
        most: how many items of each task are named.
    """
    results: dict[Protocol, dict[_Where, TaskResult]] = {"official": {}, "strict": {}}
    for result in Tally([scores.filter(pl.col("protocol").is_in(PROTOCOLS))]).results():
        results[result.protocol] |= {(each.task, each.query): each for each in result.tasks}
    return [
        _difference(where, scores, mains, most)
        for where, official in results["official"].items()
        if where in results["strict"]
        and (mains := _mains(official, results["strict"][where])) is not None
    ]


def differing_steps(
    declared: Task, query: Query, metrics: tuple[str, str]
) -> Iterator[ProtocolDifference]:
    """The steps in which an `official` and a `strict` metric of a query differ.

    Raises:
        KeyError: a metric of these has no rule.
    """
    both = (
        list_steps(protocol, declared, query, metric)
        for protocol, metric in zip(PROTOCOLS, metrics, strict=True)
    )
    for official, strict in zip(*both, strict=True):
        if official.what != strict.what:
            yield ProtocolDifference(step=official.name, official=official.what, strict=strict.what)


def smallest_size(least: float, most: float) -> float:
    """The smallest absolute value of the numbers from `least` to `most`."""
    return 0.0 if least <= 0 <= most else min(abs(least), abs(most))


def _mains(official: TaskResult, strict: TaskResult) -> tuple[MetricResult, MetricResult] | None:
    """Each protocol's first metric that has a value; None where one has none."""
    first = [
        next((each for each in result.metrics if each.value is not None), None)
        for result in (official, strict)
    ]
    return (first[0], first[1]) if first[0] and first[1] else None


def _difference(
    where: _Where, scores: pl.DataFrame, mains: tuple[MetricResult, MetricResult], most: int
) -> TaskDifference:
    declared, query = _declared(where)
    own = scores.filter(pl.col("task") == declared.id, pl.col("query") == query.name)
    metrics = mains[0].metric, mains[1].metric
    are_errors = [
        lower_is_better(protocol, declared, query, metric)
        for protocol, metric in zip(PROTOCOLS, metrics, strict=True)
    ]
    items = sorted(
        _items(own, metrics, are_errors),
        key=lambda item: (-item.certain_difference, -abs(item.difference_least), item.id),
    )
    official, strict = (main.value or 0.0 for main in mains)
    strict_if_right = mains[1].better_end or 0.0
    least, greatest = (
        float(_higher_is_better(end, are_errors[1]) - _higher_is_better(official, are_errors[0]))
        for end in (strict, strict_if_right)
    )
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
        apart=sum(item.certain_difference >= LEAST_DIFFERENCE for item in items),
        apart_most=sum(item.possible_difference >= LEAST_DIFFERENCE for item in items),
        steps=tuple(differing_steps(declared, query, metrics)),
        largest=tuple(
            _explained(item, own, query.form, metrics[1])
            for item in items[:most]
            if abs(item.difference_least) >= LEAST_DIFFERENCE
        ),
    )


def _items(
    scores: pl.DataFrame, metrics: tuple[str, str], are_errors: Sequence[bool]
) -> Iterator[ItemDifference]:
    """The items and rounds with a value under both protocols, without reasons."""
    sides = []
    for protocol, metric, is_error in zip(PROTOCOLS, metrics, are_errors, strict=True):
        rows = scores.filter(
            pl.col("protocol") == protocol,
            pl.col("metric") == metric,
            pl.col("value").is_not_null(),
        ).unique(PLACE, keep="last", maintain_order=True)
        ends = _higher_is_better(rows["value"].to_numpy(), is_error)
        ends_if_right = _higher_is_better(_values_if_right(rows), is_error)
        sides.append(rows.select(PLACE).with_columns(value=ends, if_right=ends_if_right))
    columns = (*PLACE, "value", "value_strict", "if_right_strict")
    both = sides[0].join(sides[1], on=PLACE, suffix="_strict", maintain_order="left")
    for item, number, official, strict, strict_if_right in both.select(columns).iter_rows():
        yield ItemDifference(
            id=item,
            round=number,
            official=official,
            strict=strict,
            strict_if_right=strict_if_right,
            difference_least=strict - official,
            difference_most=strict_if_right - official,
            why="",
        )


def _values_if_right(rows: pl.DataFrame) -> Floats:
    """The values of scores, those of unclear answers as if they were right."""
    values, parts = rows["value"].to_numpy(), part_columns(rows, if_right=True)
    is_unclear = (rows["if_right"].list.len() > 0).to_numpy()
    if not is_unclear.any():
        return values
    return np.where(is_unclear, parts["numerator"] / parts["denominator"], values)


def _higher_is_better(values: Floats | float, is_error: bool) -> Any:  # noqa: ANN401
    """Values on the scale where higher is better: of errors, 1 - error, at least 0."""
    return 1 - np.minimum(1.0, values) if is_error else values


def _explained(
    item: ItemDifference, scores: pl.DataFrame, form: AnswerForm, metric: str
) -> ItemDifference:
    both = _Both({}, {})
    of_item = scores.filter(pl.col("item") == item.id, pl.col("round") == item.round)
    for score in scores_of(of_item):
        if score.protocol in PROTOCOLS:
            (both.official if score.protocol == "official" else both.strict)[score.metric] = score
    return replace(item, why=join_clauses(_why(form, both, both.strict[metric])))


def _declared(where: _Where) -> tuple[Task, Query]:
    declared = task(where[0])
    return declared, next(each for each in declared.queries if each.name == where[1])


def _why(form: AnswerForm, both: _Both, strict: Score) -> Iterator[str]:
    """The reasons for the difference that the stored scores show, in short clauses."""
    if strict.verdict != "ok":
        yield strict.verdict
    yield from _WHY.get(form, _of_text)(both, strict)


def _of_choice(both: _Both, strict: Score) -> Iterator[str]:
    official = next(iter(both.official.values()))
    if official.value:
        yield _("official finds the answer inside the response")
    else:
        yield _("official does not find the answer as it is written")
    yield _describe_extraction(strict)


def _of_extraction(_both: _Both, strict: Score) -> Iterator[str]:
    yield _describe_extraction(strict)


def _describe_extraction(strict: Score) -> str:
    rule = explain_origin(strict.extracted_from)
    if not strict.extracted:
        return _("strict takes no answer ({})", rule)
    return _("strict takes “{}” ({})", strict.extracted[:40], rule)


def _of_transcription(both: _Both, strict: Score) -> Iterator[str]:
    if not strict.extracted_from.startswith(("all", "paragraph")):
        yield _("strict reads {}", explain_origin(strict.extracted_from))
    plain = both.official.get("CR") or both.official.get("CER")
    error = both.strict.get("CER")
    if plain is None or error is None or not error.stats:
        return
    stats, layered = plain.stats, error.stats
    if extra := stats.get("insertions"):
        yield _("{:,.0f} characters too many, which cost official CR nothing", extra)
    if "edits" in stats and any(
        stats[name] != layered[f"{name}_exact"] for name in ("edits", "length")
    ):
        yield _(
            "official counts white space and punctuation: {:,.0f} edits of {:,.0f} characters, "
            "without them {:,.0f} of {:,.0f}",
            stats["edits"],
            stats["length"],
            layered["edits_exact"],
            layered["length_exact"],
        )
    same = layered["edits_exact"] - layered["edits_script"]
    if same > 0:
        yield _(
            "{:,.0f} of {:,.0f} edits are variants or other script", same, layered["edits_exact"]
        )
    yield _(
        "strict counts {:,.0f} edits of {:,.0f}",
        layered["edits_script"],
        layered["length_script"],
    )


def _of_names(both: _Both, strict: Score) -> Iterator[str]:
    hits, predicted, expected = (
        strict.stats.get(name, 0.0) for name in ("hits", "predicted", "expected")
    )
    yield _(
        "strict matches {:,.0f} of {:,.0f} given to {:,.0f} true ones", hits, predicted, expected
    )
    recall = both.official.get("Recall")
    if recall is not None and recall.value is not None and recall.value > 1:
        yield _("official counts repeats: recall {:,.0f}", 100 * recall.value)


def _of_text(both: _Both, strict: Score) -> Iterator[str]:
    if strict.extracted_from and not strict.extracted_from.startswith("all"):
        yield _("strict reads the text {}", explain_origin(strict.extracted_from))
    left = next((each.metric for each in both.official.values() if each.value is not None), "")
    yield _("{} and {} measure different things", left, strict.metric)


_WHY: dict[AnswerForm, Callable[[_Both, Score], Iterator[str]]] = {
    "letter": _of_choice,
    "short": _of_choice,
    "yes-no": _of_choice,
    "number": _of_extraction,
    "boxes": _of_extraction,
    "probability": _of_extraction,
    "transcription": _of_transcription,
    "punctuated": _of_names,
    "entities": _of_names,
    "text": _of_text,
}

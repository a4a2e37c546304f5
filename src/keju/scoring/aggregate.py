"""`Tally`: the values of tasks, domains and benchmarks, computed from the scores of items.

Sums are exact (`math.fsum`), so no value depends on the order of the scores.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from keju.definitions import Query, task, tasks
from keju.items import AnswerForm, PromptVariant, Protocol, Score
from keju.registry import PluginError
from keju.scoring.lookup import metric_of
from keju.scoring.means import benchmark_result
from keju.scoring.metric import Metric, Stats
from keju.scoring.results import MetricResult, Result, Summary, TaskResult, UnscoredReason
from keju.scoring.scores_parquet import frames_of, scores_frame
from keju.scoring.signatures import origin_of
from keju.statistics.resampling import Floats
from keju.text import LAYERS
from keju.texts import _, join_clauses

_RESULT = ("model", "setting", "script", "wording", "protocol")
_METRIC = ("task", "query", "metric")

Columns = Mapping[str, Floats]
"""The sufficient statistics of some scores by name, one number a score; NaN where it has none."""

Numbers = Mapping[str, "array[float] | Floats"]
"""Statistics by name: one number a score, or fewer numbers with the same exact sum."""


def aggregate(scores: Iterable[Score]) -> list[Result]:
    """Task, domain and overall values of every model, prompt variant and protocol among the scores.

    A task's value follows its metric (mean of items, or ratio of sums); a domain's is the plain
    mean of its tasks' main metrics; a benchmark's the plain mean of its domains. Parts without a
    value are listed as missing, never dropped silently. `printed` has no means.
    """
    return Tally(frames_of(scores)).results()


class Tally:
    """The values of scores, which are added as tables; few of them are in memory at a time.

    Args:
        frames: the first tables.
    """

    def __init__(self, frames: Iterable[pl.DataFrame] = ()) -> None:
        self._metrics: dict[tuple[Any, ...], dict[tuple[str, str], dict[str, _MetricTally]]] = {}
        self._without_value: list[pl.DataFrame] = []
        for frame in frames:
            self.add(frame)

    def add(self, frame: pl.DataFrame) -> None:
        """Add a table of scores."""
        by_metric = frame.partition_by(*_RESULT, *_METRIC, as_dict=True, include_key=False)
        for (*result, name, query, metric), rows in by_metric.items():
            by_query = self._metrics.setdefault(tuple(result), {})
            tallies = by_query.setdefault((name, query), {})
            if metric not in tallies:
                form = _declared_query(name, query).form
                protocol, signature = result[-1], _first_text(rows["signature"])
                benchmark = task(name).benchmark
                declared = declared_metric(protocol, benchmark, form, metric, signature)
                tallies[metric] = _MetricTally(declared)
            tallies[metric].add(rows)
        self._without_value.append(_select_without_value(frame))

    def results(self) -> list[Result]:
        """The values of each model, prompt variant and protocol."""
        models = list(dict.fromkeys(model for model, *_ in self._metrics))
        results = [
            _result(model, PromptVariant(*variant), protocol, by_query)
            for (model, *variant, protocol), by_query in self._metrics.items()
        ]
        return sorted(results, key=lambda result: (models.index(result.model), result.variant.rank))

    def summary(self, model: str, strays: Mapping[str, int]) -> Summary:
        """The values, counts and reasons of one model, whose scores these are."""
        rows = pl.concat(self._without_value or [_select_without_value(scores_frame([]))])
        # Of `with-reasoning` the same metrics have no value, for the same reasons.
        unscored = rows.filter(pl.col("reason") != "", pl.col("protocol") != "with-reasoning")
        return Summary(
            model=model,
            results=tuple(self.results()),
            unscored=tuple(
                UnscoredReason(
                    reason=reason,
                    metrics=tuple(group["metric"].unique(maintain_order=True)),
                    responses=group["keys"].explode().n_unique(),
                    **group.select("task", "item").sort("task", "item").row(0, named=True),
                )
                for (reason,), group in unscored.group_by("reason", maintain_order=True)
            ),
            failed=rows.filter("is_failed")["keys"].explode().n_unique(),
            strays=dict(strays),
        )


def _select_without_value(frame: pl.DataFrame) -> pl.DataFrame:
    """The failures and the scores without a value, counted: of a million items, few rows.

    `keys` are hashes of the keys of the responses, `task` and `item` name the first item.
    """
    by = ["reason", "metric", "protocol", "is_failed"]
    is_failed = (pl.col("status") == "failed").alias("is_failed")
    rows = frame.with_columns(is_failed).filter(pl.col("is_failed") | pl.col("value").is_null())
    return rows.group_by(by, maintain_order=True).agg(
        pl.col("key").hash().alias("keys"), pl.col("task", "item").sort_by("task", "item").first()
    )


class _MetricTally:
    """The scores of one metric in a task: counts of their texts, and sums of their statistics.

    Of a metric whose value is not made of sums (a median), every number is kept.
    """

    def __init__(self, declared: Metric | None) -> None:
        self.declared = declared
        self.signature = ""
        self.items = self.scored = self.answered = 0
        self.statuses, self.verdicts, self.reasons, self.read_by = (
            Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        )  # fmt: skip
        self._values: dict[str, array[float]] = {}
        self._every: dict[str, array[float]] = {}
        self._answered: dict[str, array[float]] = {}
        self._if_right: dict[str, array[float]] = {}

    def add(self, rows: pl.DataFrame) -> None:
        """Add some scores of the metric."""
        scored = rows.filter(pl.col("value").is_not_null())
        self.items += len(rows)
        self.scored += len(scored)
        for counter, texts in (
            (self.statuses, rows["status"]),
            (self.verdicts, rows["verdict"]),
            (self.reasons, rows.filter(pl.col("value").is_null())["reason"]),
            (self.read_by, scored["read_by"]),
        ):
            counter.update(dict(texts.value_counts().iter_rows()))
        self.signature = self.signature or _first_text(scored["signature"])
        parts, answered = part_columns(scored), (scored["status"] == "answered").to_numpy()
        self.answered += int(answered.sum())
        self._collect(self._values, {"value": scored["value"].to_numpy()}, is_sum=True)
        self._collect(self._every, parts)
        self._collect(self._answered, {name: column[answered] for name, column in parts.items()})
        self._collect(self._if_right, part_columns(scored, if_right=True))

    def _collect(
        self, numbers: dict[str, array[float]], columns: Columns, *, is_sum: bool = False
    ) -> None:
        declared = self.declared
        is_sum = is_sum or declared is None or declared.over.value is None
        for name, column in columns.items():
            collected = numbers.setdefault(name, array("d"))
            collected.frombytes(column.astype(float).tobytes())
            if is_sum:
                numbers[name] = array("d", _exact_parts(collected))

    def result(self, metric: str) -> MetricResult:
        """The values of the metric over all items."""
        about: Any = {
            "metric": metric,
            "items": self.items,
            "scored": self.scored,
            "unscored": _most_frequent_first(self.reasons),
        }
        if not self.scored:
            return MetricResult(value=None, without_failures=None, item_mean=None, **about)
        return MetricResult(
            value=pooled_value(self.declared, self._every),
            without_failures=pooled_value(self.declared, self._answered) if self.answered else None,
            item_mean=exact_sum(self._values["value"]) / self.scored,
            layers=_layers(self._every),
            signature=self.signature,
            note=join_clauses(
                filter(None, (_one_sided(self._every), _unranked_pairs(self._every)))
            ),
            value_if_right=pooled_value(self.declared, self._if_right),
            **about,
        )


def _exact_parts(numbers: Sequence[float]) -> list[float]:
    """Few numbers with the same exact sum as many: mostly one or two."""
    parts: list[float] = []
    while remainder := exact_sum([*numbers, *(-part for part in parts)]):
        parts.append(remainder)
        if not math.isfinite(remainder):
            break
    return parts


def _result(
    model: str,
    variant: PromptVariant,
    protocol: Protocol,
    by_query: Mapping[tuple[str, str], dict[str, _MetricTally]],
) -> Result:
    queries = [(declared.id, query.name) for declared in tasks() for query in declared.queries]
    order = {query: place for place, query in enumerate(queries)}
    task_results = [
        _task_result(name, query, protocol, by_query[name, query])
        for name, query in sorted(by_query, key=lambda key: order.get(key, len(order)))
    ]
    benchmarks = dict.fromkeys(task(result.task).benchmark for result in task_results)
    return Result(
        model=model,
        setting=variant.setting,
        script=variant.script,
        wording=variant.wording,
        protocol=protocol,
        tasks=tuple(task_results),
        benchmarks=()
        if protocol == "printed"
        else tuple(benchmark_result(name, protocol, task_results) for name in benchmarks),
    )


def _task_result(
    name: str, query: str, protocol: Protocol, tallies: Mapping[str, _MetricTally]
) -> TaskResult:
    own_metrics = _declared_query(name, query).metrics(protocol)
    order = [metric for metric in own_metrics if metric in tallies]
    order += [
        metric
        for metric, tally in tallies.items()
        if metric not in own_metrics and tally.declared and tally.declared.origin
    ]
    first = tallies[order[0]] if order else _MetricTally(None)
    read_by = _most_frequent_first(first.read_by)
    read_by.pop("", None)
    return TaskResult(
        task=name,
        query=query,
        metrics=tuple(tallies[metric].result(metric) for metric in order),
        items=first.items,
        statuses=_most_frequent_first(first.statuses),
        verdicts=_most_frequent_first(first.verdicts),
        read_by=read_by,
    )


def _declared_query(name: str, query: str) -> Query:
    return next(form for form in task(name).queries if form.name == query)


def _most_frequent_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda row: (-row[1], row[0])))


def _first_text(texts: pl.Series) -> str:
    """The first text that is not empty; empty where there is none."""
    return next(filter(None, texts.unique(maintain_order=True)), "")


def part_columns(rows: pl.DataFrame, *, if_right: bool = False) -> dict[str, Floats]:
    """The statistics of scores with a value, by name.

    Args:
        rows: rows of a table of scores.
        if_right: of unclear answers, those if they were right.
    """
    columns: dict[str, Floats] = {}
    parts = rows["parts"]
    if if_right:
        is_unclear = rows["if_right"].list.len() > 0
        parts = rows["if_right"].zip_with(is_unclear, parts)
    for names in rows["part_names"].unique(maintain_order=True):
        places = (rows["part_names"] == names).to_numpy()
        numbers = parts.filter(places).explode().to_numpy().reshape(int(places.sum()), -1)
        for name, column in zip(filter(None, names.split(",")), numbers.T, strict=True):
            columns.setdefault(name, np.full(len(rows), np.nan))[places] = column
    return columns


def columns_of(stats: Sequence[Stats]) -> dict[str, Floats]:
    """The statistics of some scores, by name."""
    names = dict.fromkeys(name for of_score in stats for name in of_score)
    return {
        name: np.array([of_score.get(name, np.nan) for of_score in stats], float) for name in names
    }


def task_value(scored: Sequence[Score]) -> float | None:
    """The value of a task, from its scores of one metric, all with a value; None without scores."""
    if not scored:
        return None
    return pooled_value(metric_of_score(scored[0]), columns_of([score.stats for score in scored]))


def pooled_value(metric: Metric | None, parts: Numbers) -> float:
    """The value of a metric, from the statistics of the items."""
    if metric and metric.over.value:
        rows = zip(*(column.tolist() for column in parts.values()), strict=True)
        return metric.over.value([dict(zip(parts, row, strict=True)) for row in rows])
    denominator = exact_sum(parts["denominator"])
    return exact_sum(parts["numerator"]) / denominator if denominator else 0.0


def exact_sum(numbers: Iterable[float] | Floats) -> float:
    """The sum of numbers, in whatever order they are.

    It is infinite, or not a number, only for scores that somebody wrote by hand.
    """
    numbers = numbers.tolist() if isinstance(numbers, np.ndarray) else list(numbers)
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        return float(np.sum(numbers))


def is_ratio_of_sums(score: Score) -> bool:
    """Whether a task's value of this metric is ``sum(numerator) / sum(denominator)``.

    Only then can it be resampled by summing the two again.
    """
    metric = metric_of_score(score)
    return metric is None or metric.over.value is None


def metric_of_score(score: Score) -> Metric | None:
    """The metric of a score (`declared_metric`)."""
    form = next(each.form for each in task(score.task).queries if each.name == score.query)
    return declared_metric(score.protocol, score.benchmark, form, score.metric, score.signature)


def declared_metric(
    protocol: Protocol, benchmark: str, form: AnswerForm, metric: str, signature: str
) -> Metric | None:
    """The metric with which scores were computed; None for one without a declaration.

    Raises:
        PluginError: a plug-in declares it, as the signature says, and is missing.
    """
    declaration = metric_of(protocol, benchmark, form, metric)
    if declaration is None and (origin := origin_of(signature)):
        raise PluginError(
            "the metric {} comes from the plug-in {}, which is missing. Install it, load it with "
            "--plugin FILE.py, or score the run again without it",
            metric,
            origin,
        )
    return declaration


def _one_sided(parts: Numbers) -> str:
    """The note on a yes-or-no task of which every item has the same true answer."""
    if "positive" not in parts:
        return ""
    positive = exact_sum(parts["positive"])
    if positive == exact_sum(parts["denominator"]):
        return _(
            "one-sided: the true answer is always yes, so answering yes always gets the full score"
        )
    if not positive:
        return _(
            "one-sided: the true answer is always no, so answering no always gets the full score"
        )
    return ""


def _unranked_pairs(parts: Numbers) -> str:
    """A note on the pairs that have no answer or no extracted answer; empty if there are none."""
    failed, unparsable, pairs = (
        exact_sum(parts[name]) if name in parts else 0.0
        for name in ("failed", "unparsable", "pairs")
    )
    if not failed and not unparsable:
        return ""
    if not failed:
        return _(
            "the answers of {:,.0f} of {:,.0f} pairs could not be extracted; these pairs rank last",
            unparsable,
            pairs,
        )
    if not unparsable:
        return _("{:,.0f} of {:,.0f} pairs have no answer; these pairs rank last", failed, pairs)
    return _(
        "{:,.0f} of {:,.0f} pairs have no answer, and the answers of {:,.0f} could not be "
        "extracted; these pairs rank last",
        failed,
        pairs,
        unparsable,
    )


def _layers(parts: Numbers) -> dict[str, float]:
    if "edits_exact" not in parts:
        return {}
    rates: dict[str, float] = {}
    for layer in LAYERS:
        length = exact_sum(parts[f"length_{layer}"])
        rates[layer] = exact_sum(parts[f"edits_{layer}"]) / length if length else 0.0
    return rates

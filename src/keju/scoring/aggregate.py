"""`Tally`: the values of tasks, domains and benchmarks, computed from the scores of items.

Sums are exact (`math.fsum`), so no value depends on the order of the scores.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from msgspec.structs import replace

from keju.definitions import Query, Task, benchmark, task, tasks
from keju.definitions.protocols import PROTOCOL_ROWS
from keju.items import Protocol, Score
from keju.registry import PluginError
from keju.scoring.lookup import metric_of
from keju.scoring.metric import Metric, Stats, origin_of
from keju.scoring.results import (
    BenchmarkResult,
    MeanResult,
    MetricResult,
    Result,
    Summary,
    TaskResult,
    UnscoredReason,
)
from keju.scoring.stored import frames_of, scores_frame
from keju.statistics.resampling import Floats
from keju.text import LAYERS
from keju.texts import _

NO_RESPONSES = _("no responses")
"""The reason why a task without requests is missing from a mean."""

_RESULT = ("model", "setting", "script", "wording", "protocol")
_METRIC = ("task", "query", "metric")

Columns = Mapping[str, Floats]
"""The sufficient statistics of some scores by name, one number a score; NaN where it has none."""

Numbers = Mapping[str, "array[float] | Floats"]
"""Statistics by name: one number a score, or fewer numbers with the same exact sum."""

_TaskResults = Mapping[tuple[str, str], TaskResult]
"""The values of tasks, by task and query."""


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
        self._sums: dict[tuple[Any, ...], dict[tuple[str, str], dict[str, _MetricSums]]] = {}
        self._without_value = [_select_without_value(scores_frame([]))]
        for frame in frames:
            self.add(frame)

    def add(self, frame: pl.DataFrame) -> None:
        """Add a table of scores."""
        by_metric = frame.partition_by(*_RESULT, *_METRIC, as_dict=True, include_key=False)
        for (*result, name, query, metric), rows in by_metric.items():
            by_query = self._sums.setdefault(tuple(result), {})
            by_name = by_query.setdefault((name, query), {})
            if metric not in by_name:
                signature = _first_text(rows["signature"])
                by_name[metric] = _MetricSums(
                    declared_metric(result[-1], name, query, metric, signature)
                )
            by_name[metric].add(rows)
        self._without_value.append(_select_without_value(frame))

    def results(self) -> list[Result]:
        """The values of each model, prompt variant and protocol."""
        models = list(dict.fromkeys(model for model, *_ in self._sums))
        queries = [(declared.id, query.name) for declared in tasks() for query in declared.queries]
        order = {query: place for place, query in enumerate(queries)}
        results = []
        for (model, setting, script, wording, protocol), by_query in self._sums.items():
            task_results = {
                key: _task_result(*key, protocol, by_query[key])
                for key in sorted(by_query, key=lambda key: order.get(key, len(order)))
            }
            names = dict.fromkeys(task(name).benchmark for name, _query in task_results)
            means = [benchmark_result(name, protocol, task_results) for name in names]
            results.append(
                Result(
                    model=model,
                    setting=setting,
                    script=script,
                    wording=wording,
                    protocol=protocol,
                    tasks=tuple(task_results.values()),
                    benchmarks=tuple(means) if PROTOCOL_ROWS[protocol].means else (),
                )
            )
        return sorted(results, key=lambda result: (models.index(result.model), result.variant.rank))

    def summary(self, model: str, strays: Mapping[str, int]) -> Summary:
        """The values, counts and reasons of one model, whose scores these are."""
        rows = pl.concat(self._without_value)
        # Under a view the same metrics have no value, for the same reasons.
        views = [row.name for row in PROTOCOL_ROWS.values() if row.view]
        unscored = rows.filter(pl.col("reason") != "", ~pl.col("protocol").is_in(views))
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


class _MetricSums:
    """The scores of one metric in a task: counts of their texts, and sums of their statistics.

    Of a metric whose value is not made of sums (a median), every number is kept.
    """

    def __init__(self, declared: Metric | None) -> None:
        self.declared = declared
        self.signature = ""
        self.counts = {name: Counter[str]() for name in ("status", "verdict", "reason", "read_by")}
        self._answered = 0
        self._sums: dict[str, dict[str, array[float]]] = {"all": {}, "answered": {}, "right": {}}

    def add(self, rows: pl.DataFrame) -> None:
        """Add some scores of the metric."""
        has_value = pl.col("value").is_not_null()
        scored, unscored = rows.filter(has_value), rows.filter(~has_value)
        for name, counted in zip(self.counts, (rows, rows, unscored, scored), strict=True):
            self.counts[name].update(dict(counted[name].value_counts().iter_rows()))
        self.signature = self.signature or _first_text(scored["signature"])
        parts = part_columns(scored) | {"value": scored["value"].to_numpy()}
        answered = (scored["status"] == "answered").to_numpy()
        self._answered += int(answered.sum())
        self._add_numbers("all", parts)
        self._add_numbers("answered", {name: column[answered] for name, column in parts.items()})
        self._add_numbers("right", part_columns(scored, if_right=True))

    def _add_numbers(self, scores: str, columns: Columns) -> None:
        for name, column in columns.items():
            numbers = self._sums[scores].setdefault(name, array("d"))
            numbers.frombytes(column.astype(float).tobytes())
            if self.declared is None or self.declared.over.value is None:
                self._sums[scores][name] = _exact_parts(numbers)

    def result(self, metric: str) -> MetricResult:
        """The values of the metric over all items."""
        items, unscored = self.counts["status"].total(), self.counts["reason"]
        result = MetricResult(
            metric=metric,
            items=items,
            scored=items - unscored.total(),
            unscored=_most_frequent_first(unscored),
        )
        if not result.scored:
            return result
        sums = self._sums["all"]
        answered = pooled_value(self.declared, self._sums["answered"]) if self._answered else None
        return replace(
            result,
            value=pooled_value(self.declared, sums),
            without_failures=answered,
            item_mean=exact_sum(sums["value"]) / result.scored,
            layers=_layers(sums),
            signature=self.signature,
            note=_note(sums),
            value_if_right=pooled_value(self.declared, self._sums["right"]),
        )


def _exact_parts(numbers: Sequence[float]) -> array[float]:
    """Few numbers with the same exact sum as many: mostly one or two."""
    parts: array[float] = array("d")
    while remainder := exact_sum([*numbers, *(-part for part in parts)]):
        parts.append(remainder)
        if not math.isfinite(remainder):
            break
    return parts


def _task_result(
    name: str, query: str, protocol: Protocol, sums: Mapping[str, _MetricSums]
) -> TaskResult:
    own_metrics = _declared_query(name, query).metrics(protocol)
    order = [metric for metric in own_metrics if metric in sums]
    order += [
        metric
        for metric, of_metric in sums.items()
        if metric not in own_metrics and of_metric.declared and of_metric.declared.origin
    ]
    first = sums[order[0]] if order else _MetricSums(None)
    read_by = _most_frequent_first(first.counts["read_by"])
    read_by.pop("", None)
    return TaskResult(
        task=name,
        query=query,
        metrics=tuple(sums[metric].result(metric) for metric in order),
        items=first.counts["status"].total(),
        statuses=_most_frequent_first(first.counts["status"]),
        verdicts=_most_frequent_first(first.counts["verdict"]),
        read_by=read_by,
    )


def _declared_query(name: str, query: str) -> Query:
    return next(form for form in task(name).queries if form.name == query)


def _most_frequent_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda row: (-row[1], row[0])))


def _first_text(texts: pl.Series) -> str:
    """The first text that is not empty; empty where there is none."""
    return next(filter(None, texts.unique(maintain_order=True)), "")


# Means of tasks.


def benchmark_result(name: str, protocol: Protocol, results: _TaskResults) -> BenchmarkResult:
    """The values of one benchmark, from those of its tasks."""
    definition = benchmark(name)
    domains = domain_means(definition.tasks, protocol, results)
    directions = {
        domain: _group_means(
            [member for member in definition.tasks if member.direction and member.domain == domain],
            protocol,
            results,
            lambda member: member.direction,
        )
        for domain in domains
    }
    return BenchmarkResult(
        benchmark=name,
        domains=domains,
        overall=mean_over_domains(domains),
        formats={
            title: mean_over_domains(
                domain_means(mean.tasks_of(definition.tasks), protocol, results)
            )
            for title, mean in definition.means.items()
        },
        directions={domain: means for domain, means in directions.items() if means},
    )


def domain_means(
    declared: Iterable[Task], protocol: Protocol, results: _TaskResults
) -> dict[str, MeanResult]:
    """The mean of each domain: the plain mean of the main values of its `declared` tasks.

    `results` are by task and query; those that are missing are listed in the mean.
    """
    return _group_means(declared, protocol, results, lambda member: member.domain)


def _group_means(
    declared: Iterable[Task],
    protocol: Protocol,
    results: _TaskResults,
    group_of: Callable[[Task], str],
) -> dict[str, MeanResult]:
    """The plain mean of the main values of each group of tasks."""
    mains: dict[str, dict[str, MetricResult | str]] = {}
    for member in declared:
        for query in member.queries:
            if query.metrics(protocol):
                name = f"{member.id}/{query.name}" if query.name else member.id
                result = results.get((member.id, query.name))
                main = _main_value(member, query, protocol, result)
                mains.setdefault(group_of(member), {})[name] = main
    return {
        group: _mean_of(
            (main for main in of_group.values() if not isinstance(main, str)),
            parts=of_group,
            missing={name: main for name, main in of_group.items() if isinstance(main, str)},
        )
        for group, of_group in mains.items()
    }


def _main_value(
    declared: Task, query: Query, protocol: Protocol, result: TaskResult | None
) -> MetricResult | str:
    """The main metric, which has a value, or the reason why the mean lacks it."""
    if result is None or result.main is None:
        return NO_RESPONSES
    main = result.main
    if main.value is None:
        return next(iter(main.unscored), "unscored")
    metric = metric_of(protocol, declared.benchmark, query.form, main.metric)
    if metric is not None and not metric.higher_is_better:
        return _("{} is an error rate, which is not part of a mean of scores", main.metric)
    return main


def mean_over_domains(domains: Mapping[str, MeanResult]) -> MeanResult:
    """The mean over domains; `missing` lists the incomplete domains and the tasks they lack."""
    return _mean_of(
        domains.values(),
        parts=domains,
        missing={
            name: "lacks " + ", ".join(mean.missing)
            for name, mean in domains.items()
            if mean.missing
        },
    )


def _mean_of(
    values: Iterable[MetricResult | MeanResult], parts: Iterable[str], missing: dict[str, str]
) -> MeanResult:
    """The mean of the values that exist, at both ends; None where none does."""
    ends = [(value.value, value.value_if_right) for value in values]
    return MeanResult(
        value=_mean(value for value, _ in ends),
        parts=tuple(parts),
        missing=missing,
        value_if_right=_mean(better for _, better in ends),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None


# Sums of statistics.


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
    return declared_metric(score.protocol, score.task, score.query, score.metric, score.signature)


def declared_metric(
    protocol: Protocol, name: str, query: str, metric: str, signature: str
) -> Metric | None:
    """The metric with which the scores of a task were computed; None if it is not declared.

    Raises:
        PluginError: a plug-in declares it, as the signature says, and is missing.
    """
    form = _declared_query(name, query).form
    declaration = metric_of(protocol, task(name).benchmark, form, metric)
    if declaration is None and (origin := origin_of(signature)):
        raise PluginError(
            "the metric {} comes from the plug-in {}, which is missing. Install it, load it with "
            "--plugin FILE.py, or score the run again without it",
            metric,
            origin,
        )
    return declaration


def _note(parts: Numbers) -> str:
    """The remark on a value that says less than it seems to; mostly empty."""
    if "positive" in parts:
        positive = exact_sum(parts["positive"])
        if positive == exact_sum(parts["denominator"]):
            return _(
                "one-sided: the true answer is always yes, so answering yes always gets the full "
                "score"
            )
        if not positive:
            return _(
                "one-sided: the true answer is always no, so answering no always gets the full "
                "score"
            )
    names = ("failed", "pairs", "unparsable")
    failed, pairs, unparsable = (exact_sum(parts.get(name, ())) for name in names)
    if failed and not unparsable:
        return _("{:,.0f} of {:,.0f} pairs have no answer; these pairs rank last", failed, pairs)
    if unparsable and not failed:
        return _(
            "the answers of {:,.0f} of {:,.0f} pairs could not be extracted; these pairs rank last",
            unparsable,
            pairs,
        )
    if failed:
        return _(
            "{:,.0f} of {:,.0f} pairs have no answer, and the answers of {:,.0f} could not be "
            "extracted; these pairs rank last",
            failed,
            pairs,
            unparsable,
        )
    return ""


def _layers(parts: Numbers) -> dict[str, float]:
    if "edits_exact" not in parts:
        return {}
    rates: dict[str, float] = {}
    for layer in LAYERS:
        length = exact_sum(parts[f"length_{layer}"])
        rates[layer] = exact_sum(parts[f"edits_{layer}"]) / length if length else 0.0
    return rates

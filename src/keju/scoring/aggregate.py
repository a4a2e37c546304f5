"""`aggregate`: the values of tasks, domains and benchmarks, computed from the scores of items.

Sums are exact (`math.fsum`), so no value depends on the order of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from keju.definitions import Query, Task, task, tasks
from keju.items import AnswerForm, PromptVariant, Protocol, Score
from keju.registry import PluginError
from keju.scoring.lookup import find_metrics
from keju.scoring.means import benchmark_result
from keju.scoring.metric import Metric, Stats
from keju.scoring.results import MetricResult, Result, TaskResult
from keju.scoring.scores_parquet import SCHEMA, frames_of
from keju.scoring.signatures import origin_of
from keju.statistics.resampling import Floats
from keju.text import LAYERS
from keju.texts import _

_RESULT = ("model", "setting", "script", "wording", "protocol")
_METRIC = ("task", "query", "metric")
_COUNTED = ("status", "verdict", "reason", "read_by", "signature", "part_names")
"""Columns of texts of which a metric has few, so that each is in memory once."""

_ByQuery = dict[tuple[str, str], dict[str, list[pl.DataFrame]]]
"""The scores of one model in tables, by task and query, then by metric."""

_Find = Callable[[str], Metric | None]
"""The metric of a name, among those of one protocol, benchmark and form."""

Columns = Mapping[str, Floats]
"""The sufficient statistics of some scores by name, one number a score; NaN where it has none."""


def aggregate(scores: Iterable[Score]) -> list[Result]:
    """Task, domain and overall values of every model, prompt variant and protocol among the scores.

    A task's value follows its metric (mean of items, or ratio of sums); a domain's is the plain
    mean of its tasks' main metrics; a benchmark's the plain mean of its domains. Parts without a
    value are listed as missing, never dropped silently. `printed` has no means.
    """
    return aggregate_frames(frames_of(scores))


def aggregate_frames(frames: Iterable[pl.DataFrame]) -> list[Result]:
    """The same of tables of scores, few of which need be in memory at a time."""
    keys = (*_RESULT, *_METRIC)
    needed = [*keys, pl.col(_COUNTED).cast(pl.Categorical), "value", "parts", "if_right"]
    groups: dict[tuple[Any, ...], _ByQuery] = {}
    for frame in frames:
        # Each table is divided when it comes: all of them together would be in memory twice.
        by_metric = frame.select(needed).partition_by(keys, as_dict=True, include_key=False)
        for (*result, name, query, metric), rows in by_metric.items():
            by_query = groups.setdefault(tuple(result), {})
            by_query.setdefault((name, query), {}).setdefault(metric, []).append(rows)
    models = list(dict.fromkeys(model for model, *_ in groups))
    results = [
        _result(model, PromptVariant(*variant), protocol, groups[model, *variant, protocol])
        for model, *variant, protocol in groups
    ]
    return sorted(results, key=lambda result: (models.index(result.model), result.variant.rank))


def _result(model: str, variant: PromptVariant, protocol: Protocol, by_query: _ByQuery) -> Result:
    order = {(each.id, query.name): place for place, (each, query) in enumerate(_all_queries())}
    found = [
        _task_result(name, query, protocol, by_query.pop((name, query)))
        for name, query in sorted(by_query, key=lambda key: order.get(key, len(order)))
    ]
    named = dict.fromkeys(task(result.task).benchmark for result in found)
    return Result(
        model=model,
        setting=variant.setting,
        script=variant.script,
        wording=variant.wording,
        protocol=protocol,
        tasks=tuple(found),
        benchmarks=()
        if protocol == "printed"
        else tuple(benchmark_result(name, protocol, found) for name in named),
    )


def _all_queries() -> list[tuple[Task, Query]]:
    return [(each, query) for each in tasks() for query in each.queries]


def _task_result(
    name: str, query: str, protocol: Protocol, tables: Mapping[str, list[pl.DataFrame]]
) -> TaskResult:
    by_metric = {metric: pl.concat(frames) for metric, frames in tables.items()}
    whole = task(name)
    declared = next(each for each in whole.queries if each.name == query)
    find = find_metrics(protocol, whole.benchmark, declared.form)
    named = declared.metrics(protocol)
    order = [metric for metric in named if metric in by_metric]
    order += [
        metric
        for metric, rows in by_metric.items()
        if metric not in named and (own := _declared(metric, _signature(rows), find)) and own.origin
    ]
    first = by_metric[order[0]] if order else pl.DataFrame(schema=SCHEMA)
    scored = first.filter(first["value"].is_not_null())
    return TaskResult(
        task=name,
        query=query,
        metrics=tuple(_metric_result(metric, by_metric[metric], find) for metric in order),
        items=len(first),
        statuses=_counts(first["status"]),
        verdicts=_counts(first["verdict"]),
        read_by=_counts(scored["read_by"].filter(scored["read_by"] != "")),
    )


def _counts(texts: pl.Series) -> dict[str, int]:
    """How often each text occurs, the most frequent first."""
    counted = texts.cast(pl.String).value_counts()
    return dict(sorted(counted.iter_rows(), key=lambda row: (-row[1], row[0])))


def _signature(rows: pl.DataFrame) -> str:
    """The first signature of some scores; empty where none has one."""
    signatures = rows["signature"].unique(maintain_order=True).to_list()
    return next(filter(None, signatures), "")


def _metric_result(metric: str, rows: pl.DataFrame, find: _Find) -> MetricResult:
    has_value = rows["value"].is_not_null()
    scored = rows.filter(has_value)
    unscored = _counts(rows.filter(~has_value)["reason"])
    if scored.is_empty():
        return MetricResult(
            metric=metric,
            value=None,
            without_failures=None,
            item_mean=None,
            items=len(rows),
            scored=0,
            unscored=unscored,
        )
    signature = _signature(scored)
    declared = _declared(metric, signature, find)
    parts = part_columns(scored)
    answered = (scored["status"] == "answered").to_numpy()
    return MetricResult(
        metric=metric,
        value=pooled_value(declared, parts),
        without_failures=pooled_value(
            declared, {name: column[answered] for name, column in parts.items()}
        )
        if answered.any()
        else None,
        item_mean=exact_sum(scored["value"]) / len(scored),
        items=len(rows),
        scored=len(scored),
        unscored=unscored,
        layers=_layers(parts),
        signature=signature,
        one_sided=_one_sided(parts),
        unranked_pairs=_unranked_pairs(parts),
        value_if_right=pooled_value(declared, part_columns(scored, if_right=True)),
    )


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


def pooled_value(metric: Metric | None, parts: Columns) -> float:
    """The value of a metric, from the statistics of the items."""
    if metric and metric.over.value:
        rows = zip(*(column.tolist() for column in parts.values()), strict=True)
        return metric.over.value([dict(zip(parts, row, strict=True)) for row in rows])
    denominator = exact_sum(parts["denominator"])
    return exact_sum(parts["numerator"]) / denominator if denominator else 0.0


def exact_sum(numbers: Floats | pl.Series) -> float:
    """The sum of numbers, in whatever order they are.

    It is infinite, or not a number, only for scores that somebody wrote by hand.
    """
    try:
        return math.fsum(numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)
    except (OverflowError, ValueError):
        return float(np.sum(np.asarray(numbers)))


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
    return _declared(metric, signature, find_metrics(protocol, benchmark, form))


def _declared(metric: str, signature: str, find: _Find) -> Metric | None:
    declaration = find(metric)
    if declaration is None and (origin := origin_of(signature)):
        raise PluginError(
            "the metric {} comes from the plug-in {}, which is missing. Install it, load it with "
            "--plugin FILE.py, or score the run again without it",
            metric,
            origin,
        )
    return declaration


def _one_sided(parts: Columns) -> str:
    classes = set(parts["positive"].tolist()) if "positive" in parts else set()
    return one_sided_note(yes=classes == {1.0}) if len(classes) == 1 else ""


def one_sided_note(*, yes: bool) -> str:
    """The note on a yes-or-no task of which every item has the same true answer."""
    if yes:
        return _(
            "one-sided: the true answer is always yes, so answering yes always gets the full score"
        )
    return _("one-sided: the true answer is always no, so answering no always gets the full score")


def _unranked_pairs(parts: Columns) -> str:
    """A note on the pairs that have no answer or no extracted answer; empty if there are none."""
    failed, unparsable, pairs = (
        exact_sum(parts[name]) if name in parts else 0 for name in ("failed", "unparsable", "pairs")
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


def _layers(parts: Columns) -> dict[str, float]:
    if "edits_exact" not in parts:
        return {}
    rates: dict[str, float] = {}
    for layer in LAYERS:
        length = exact_sum(parts[f"length_{layer}"])
        rates[layer] = exact_sum(parts[f"edits_{layer}"]) / length if length else 0.0
    return rates

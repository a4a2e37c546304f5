"""`aggregate`: the values of tasks, domains and benchmarks, computed from the scores of items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from keju.definitions import Query, Task, task, tasks
from keju.items import (
    PromptScript,
    PromptVariant,
    Protocol,
    Score,
    Setting,
)
from keju.registry import PluginError
from keju.scoring.lookup import find_metrics
from keju.scoring.means import benchmark_result
from keju.scoring.metric import Metric, Stats
from keju.scoring.results import MetricResult, Result, TaskResult
from keju.scoring.score_columns import MetricColumns, StatsColumn
from keju.scoring.signatures import origin_of
from keju.text import LAYERS
from keju.texts import _

_ByQuery = dict[tuple[str, str], dict[str, MetricColumns]]
"""The scores of one model, by task and query, then by metric."""

_Find = Callable[[str], Metric | None]
"""The metric of a name, among those of one protocol, benchmark and form."""


def aggregate(scores: Iterable[Score]) -> list[Result]:
    """Task, domain and overall values of every model, prompt variant and protocol among the scores.

    A task's value follows its metric (mean of items, or ratio of sums); a domain's is the plain
    mean of its tasks' main metrics; a benchmark's the plain mean of its domains. Parts without a
    value are listed as missing, never dropped silently. `printed` has no means.
    """
    groups: dict[tuple[str, Setting, PromptScript, str, Protocol], _ByQuery] = {}
    for score in scores:
        group = (score.model, score.setting, score.script, score.wording, score.protocol)
        by_query = groups.setdefault(group, {})
        by_metric = by_query.setdefault((score.task, score.query), {})
        if score.metric not in by_metric:
            by_metric[score.metric] = MetricColumns(score)
        by_metric[score.metric].add(score)
    return [
        _result(model, PromptVariant(setting, script, wording), protocol, by_query)
        for (model, setting, script, wording, protocol), by_query in groups.items()
    ]


def _result(model: str, variant: PromptVariant, protocol: Protocol, by_query: _ByQuery) -> Result:
    order = {(each.id, query.name): place for place, (each, query) in enumerate(_all_queries())}
    found = [
        _task_result(name, query, protocol, by_query[name, query])
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
    name: str, query: str, protocol: Protocol, by_metric: Mapping[str, MetricColumns]
) -> TaskResult:
    whole = task(name)
    declared = next(each for each in whole.queries if each.name == query)
    find = find_metrics(protocol, whole.benchmark, declared.form)
    named = declared.metrics(protocol)
    order = [metric for metric in named if metric in by_metric]
    order += [
        metric
        for metric, columns in by_metric.items()
        if metric not in named and (own := _declared(columns.signed, find)) and own.origin
    ]
    first = by_metric[order[0]] if order else None
    return TaskResult(
        task=name,
        query=query,
        metrics=tuple(_metric_result(metric, by_metric[metric], find) for metric in order),
        items=first.count if first else 0,
        statuses=dict(first.statuses) if first else {},
        verdicts=dict(first.verdicts) if first else {},
        read_by=dict(first.read_by) if first else {},
    )


def _metric_result(metric: str, columns: MetricColumns, find: _Find) -> MetricResult:
    first, stats, answered = columns.first_scored, columns.stats, columns.answered
    declared = _declared(first, find) if first else None
    value = pooled_value(declared, stats) if first else None
    if_right = columns.stats_if_right
    return MetricResult(
        metric=metric,
        value=value,
        without_failures=value if answered is stats else _value_of_some(declared, answered),
        item_mean=_mean(columns.values) if first else None,
        items=columns.count,
        scored=len(columns.values),
        unscored=dict(columns.unscored),
        layers=_layers(stats) if first else {},
        signature=first.signature if first else "",
        one_sided=_one_sided(stats),
        unranked_pairs=_unranked_pairs(stats),
        value_if_right=value if if_right is stats else _value_of_some(declared, if_right),
    )


def _mean(values: Sequence[float]) -> float:
    """The mean; infinite where the sum is, as of scores that somebody wrote by hand."""
    try:
        return fmean(values)
    except OverflowError:
        return math.inf


def _value_of_some(metric: Metric | None, scored: StatsColumn) -> float | None:
    return pooled_value(metric, scored) if scored else None


def task_value(scored: Sequence[Score]) -> float | None:
    """The value of a task, from its scores of one metric, all with a value; None without scores."""
    if not scored:
        return None
    return pooled_value(metric_of_score(scored[0]), [score.stats for score in scored])


def pooled_value(metric: Metric | None, scored: Sequence[Stats]) -> float:
    """The value of a metric, from the statistics of the items."""
    if metric and metric.over.value:
        return metric.over.value(scored)
    if isinstance(scored, StatsColumn):
        numerator, denominator = scored.totals("numerator", "denominator")
    else:
        numerator = sum(stats["numerator"] for stats in scored)
        denominator = sum(stats["denominator"] for stats in scored)
    return numerator / denominator if denominator else 0.0


def is_ratio_of_sums(score: Score) -> bool:
    """Whether a task's value of this metric is ``sum(numerator) / sum(denominator)``.

    Only then can it be resampled by summing the two again.
    """
    metric = metric_of_score(score)
    return metric is None or metric.over.value is None


def metric_of_score(score: Score) -> Metric | None:
    """The metric of a score; None for a variant of a metric, which has no declaration.

    Raises:
        PluginError: a plug-in declares it, and is missing.
    """
    form = next(each.form for each in task(score.task).queries if each.name == score.query)
    return _declared(score, find_metrics(score.protocol, score.benchmark, form))


def _declared(score: Score, find: _Find) -> Metric | None:
    found = find(score.metric)
    if found is None and (origin := origin_of(score.signature)):
        raise PluginError(
            "the metric {} comes from the plug-in {}, which is missing. Install it, load it with "
            "--plugin FILE.py, or score the run again without it",
            score.metric,
            origin,
        )
    return found


def _one_sided(stats: StatsColumn) -> str:
    if "positive" not in stats.names:
        return ""
    classes = {each["positive"] for each in stats if "positive" in each}
    if len(classes) != 1:
        return ""
    return one_sided_note(yes=classes == {1.0})


def one_sided_note(*, yes: bool) -> str:
    """The note on a yes-or-no task of which every item has the same true answer."""
    if yes:
        return _(
            "one-sided: the true answer is always yes, so answering yes always gets the full score"
        )
    return _("one-sided: the true answer is always no, so answering no always gets the full score")


def _unranked_pairs(stats: StatsColumn) -> str:
    """A note on the pairs that have no answer or no extracted answer; empty if there are none."""
    failed, unparsable = (
        sum(each.get(name, 0) for each in stats) if name in stats.names else 0
        for name in ("failed", "unparsable")
    )
    if not failed and not unparsable:
        return ""
    (pairs,) = stats.totals("pairs")
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


def _layers(stats: StatsColumn) -> dict[str, float]:
    if "edits_exact" not in stats.names or "edits_exact" not in stats[0]:
        return {}
    rates: dict[str, float] = {}
    for layer in LAYERS:
        length, edits = stats.totals(f"length_{layer}", f"edits_{layer}")
        rates[layer] = edits / length if length else 0.0
    return rates

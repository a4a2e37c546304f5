"""`aggregate`: the values of tasks, domains and benchmarks, computed from the scores of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from msgspec import field

from keju.definitions import Query, Task, benchmark, task, tasks
from keju.items import (
    PromptScript,
    PromptVariant,
    Protocol,
    Record,
    Score,
    Setting,
)
from keju.messages import message
from keju.registry import PluginError
from keju.scoring.lookup import find_metrics, metric_of
from keju.scoring.metric import Metric, Stats
from keju.scoring.metric_value import CUT
from keju.scoring.score_columns import MetricColumns, StatsColumn
from keju.scoring.signatures import origin_of
from keju.text import LAYERS

_ByQuery = dict[tuple[str, str], dict[str, MetricColumns]]
"""The scores of one model, by task and query, then by metric."""

_Find = Callable[[str], Metric | None]
"""The metric of a name, among those of one protocol, benchmark and form."""

_Values = Mapping[str, float | str]
"""Main values by task and query; a text is the reason why there is none."""

NO_RESPONSES = "no responses"
"""The reason why a task without requests is missing from a mean."""


class MetricResult(Record, frozen=True, kw_only=True):
    """One metric over the items of one task.

    `value` counts a failure as the worst value of the metric; `without_failures` omits failures.
    Both are ``sum(numerator) / sum(denominator)`` (for CER a corpus rate), except for metrics that
    are not such a ratio (`is_ratio_of_sums`). `item_mean` is the plain mean of the items' values.
    All three are None if no item has a value. `unscored` counts the items without a value by
    reason. `layers`, for CER in `strict`, is the corpus CER after each layer of normalisation: the
    decrease from one to the next is the part of the error that the layer removes. `note` is a
    remark for readers of the value.
    """

    metric: str
    value: float | None
    without_failures: float | None
    item_mean: float | None
    items: int
    scored: int
    unscored: dict[str, int] = field(default_factory=dict)
    layers: dict[str, float] = field(default_factory=dict)
    signature: str = ""
    note: str = ""


class TaskResult(Record, frozen=True, kw_only=True):
    """All metrics of one task (or one query of it), the main one first.

    `statuses` counts the responses by their status (answered, failed …), and `verdicts` by the
    result of extraction.
    """

    task: str
    query: str
    metrics: tuple[MetricResult, ...]
    items: int
    statuses: dict[str, int]
    verdicts: dict[str, int]

    @property
    def name(self) -> str:
        """The task's id, followed by the query if the task has several."""
        return f"{self.task}/{self.query}" if self.query else self.task

    @property
    def main(self) -> MetricResult | None:
        """The main metric, which represents the task in means."""
        return self.metrics[0] if self.metrics else None


class MeanResult(Record, frozen=True, kw_only=True):
    """A plain mean, and the parts that are missing from it.

    `value` is the mean over the parts that have a value; None if none has. `parts` names all parts
    of the complete mean, and `missing` those without a value, with the reason. Only if `missing` is
    empty is `value` the number that the benchmark defines.
    """

    value: float | None
    parts: tuple[str, ...]
    missing: dict[str, str] = field(default_factory=dict)


class BenchmarkResult(Record, frozen=True, kw_only=True):
    """One benchmark: its domains, and the mean over them.

    `formats` are further means that the definition declares over some of the tasks
    (`Definition.means`).
    """

    benchmark: str
    domains: dict[str, MeanResult]
    overall: MeanResult
    formats: dict[str, MeanResult] = field(default_factory=dict)


class Result(Record, frozen=True, kw_only=True):
    """All values of one model under one protocol in one prompt variant."""

    model: str
    setting: Setting
    script: PromptScript = "released"
    wording: str = "released"
    protocol: Protocol
    tasks: tuple[TaskResult, ...]
    benchmarks: tuple[BenchmarkResult, ...]

    @property
    def variant(self) -> PromptVariant:
        """The prompt variant of the responses."""
        return PromptVariant(self.setting, self.script, self.wording)


def aggregate(scores: Iterable[Score]) -> list[Result]:
    """Task, domain and overall values of every model, prompt variant and protocol among the scores.

    A task's value follows its metric (mean of items, or ratio of sums); a domain's is the plain
    mean of its tasks' main metrics; a benchmark's the plain mean of its domains. Parts without a
    value are listed as missing, never dropped silently.
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
        benchmarks=tuple(_benchmark(name, protocol, found) for name in named),
    )


def _all_queries() -> list[tuple[Task, Query]]:
    return [(each, query) for each in tasks() for query in each.queries]


def _task_result(
    name: str, query: str, protocol: Protocol, by_metric: Mapping[str, MetricColumns]
) -> TaskResult:
    whole = task(name)
    declared = next(each for each in whole.queries if each.name == query)
    find = find_metrics(protocol, whole.benchmark, declared.form)
    named = getattr(declared, protocol)
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
    )


def _metric_result(metric: str, columns: MetricColumns, find: _Find) -> MetricResult:
    first, stats, answered = columns.first_scored, columns.stats, columns.answered
    declared = _declared(first, find) if first else None
    value = pooled_value(declared, stats) if first else None
    notes = (_one_sided(stats), _silent_pairs(stats), _cut_note(stats))
    return MetricResult(
        metric=metric,
        value=value,
        without_failures=value if answered is stats else _value_of_some(declared, answered),
        item_mean=fmean(columns.values) if first else None,
        items=columns.count,
        scored=len(columns.values),
        unscored=dict(columns.unscored),
        layers=_layers(stats) if first else {},
        signature=first.signature if first else "",
        note="; ".join(filter(None, notes)),
    )


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
            message("scoring.metric-of-missing-plugin", metric=score.metric, plugin=origin)
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
    always = "yes" if yes else "no"
    return (
        f"one-sided: the true answer is always {always}, "
        f"so answering {always} always gets the full score"
    )


CUT_NOTE = (
    "stored by keju 0.1.0, which removed reasoning and the white space around it before storing: "
    "official scores the rest, not the content as it was returned"
)


def _cut_note(stats: StatsColumn) -> str:
    """A note on official scores of a run of keju 0.1.0; empty if no response was cut."""
    return CUT_NOTE if CUT in stats.names else ""


_SILENT = {"failed": "have no answer", "unparsable": "have one that could not be extracted"}


def _silent_pairs(stats: StatsColumn) -> str:
    counts = {
        name: sum(each.get(name, 0) for each in stats) if name in stats.names else 0
        for name in _SILENT
    }
    said = [f"{count:,.0f} {_SILENT[name]}" for name, count in counts.items() if count]
    if not said:
        return ""
    (pairs,) = stats.totals("pairs")
    return f"of {pairs:,.0f} pairs {' and '.join(said)}: these rank last"


def _layers(stats: StatsColumn) -> dict[str, float]:
    if "edits_exact" not in stats.names or "edits_exact" not in stats[0]:
        return {}
    rates: dict[str, float] = {}
    for layer in LAYERS:
        length, edits = stats.totals(f"length_{layer}", f"edits_{layer}")
        rates[layer] = edits / length if length else 0.0
    return rates


def _benchmark(name: str, protocol: Protocol, found: Sequence[TaskResult]) -> BenchmarkResult:
    definition = benchmark(name)
    declared = definition.tasks
    results = {(result.task, result.query): result for result in found}
    mains = {each.id: _main_values(each, protocol, results) for each in declared}
    domains = _domain_means(declared, mains)
    formats = {
        title: mean_over_domains(_domain_means(mean.tasks_of(declared), mains))
        for title, mean in definition.means.items()
    }
    return BenchmarkResult(
        benchmark=name, domains=domains, overall=mean_over_domains(domains), formats=formats
    )


def domain_means(
    declared: Sequence[Task],
    protocol: Protocol,
    results: Mapping[tuple[str, str], TaskResult],
) -> dict[str, MeanResult]:
    """The mean of each domain: the plain mean of the main values of its `declared` tasks.

    `results` are by task and query; those that are missing are listed in the mean.
    """
    return _domain_means(
        declared, {each.id: _main_values(each, protocol, results) for each in declared}
    )


def _domain_means(declared: Iterable[Task], mains: Mapping[str, _Values]) -> dict[str, MeanResult]:
    parts: dict[str, dict[str, float | str]] = {}
    for each in declared:
        if mains[each.id]:
            parts.setdefault(each.domain, {}).update(mains[each.id])
    return {domain: _mean_result(values) for domain, values in parts.items()}


def _main_values(
    declared: Task, protocol: Protocol, results: Mapping[tuple[str, str], TaskResult]
) -> _Values:
    """The main value of each query of a task, or the reason why the mean lacks it, by name."""
    return {
        f"{declared.id}/{query.name}" if query.name else declared.id: _main_value(
            declared, query, protocol, results.get((declared.id, query.name))
        )
        for query in declared.queries
        if getattr(query, protocol)
    }


def _main_value(
    declared: Task, query: Query, protocol: Protocol, result: TaskResult | None
) -> float | str:
    """The main metric's value, or the reason why the mean lacks it."""
    if result is None or result.main is None:
        return NO_RESPONSES
    main = result.main
    if main.value is None:
        return next(iter(main.unscored), "unscored")
    metric = metric_of(protocol, declared.benchmark, query.form, main.metric)
    if metric is not None and not metric.higher_is_better:
        return f"{main.metric} is an error rate, which is not part of a mean of scores"
    return main.value


def mean_over_domains(domains: Mapping[str, MeanResult]) -> MeanResult:
    """The mean over domains; `missing` lists the incomplete domains and the tasks they lack."""
    values = {name: found.value for name, found in domains.items()}
    present = [value for value in values.values() if value is not None]
    return MeanResult(
        value=sum(present) / len(present) if present else None,
        parts=tuple(domains),
        missing={
            name: "lacks " + ", ".join(found.missing)
            for name, found in domains.items()
            if found.missing
        },
    )


def _mean_result(values: _Values) -> MeanResult:
    present = [value for value in values.values() if not isinstance(value, str)]
    return MeanResult(
        value=sum(present) / len(present) if present else None,
        parts=tuple(values),
        missing={name: value for name, value in values.items() if isinstance(value, str)},
    )

"""Means of tasks: `domain_means`, `mean_over_domains`, and `benchmark_result` with both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from keju.definitions import Query, Task, benchmark
from keju.items import Protocol
from keju.scoring.lookup import metric_of
from keju.scoring.results import BenchmarkResult, MeanResult, TaskResult
from keju.texts import _


class _Range(NamedTuple):
    """A value, and the value if every unclear answer were right."""

    value: float
    if_right: float


_Values = Mapping[str, _Range | str]
"""Main values by task and query; a text is the reason why there is none."""

NO_RESPONSES = _("no responses")
"""The reason why a task without requests is missing from a mean."""


def benchmark_result(name: str, protocol: Protocol, found: Sequence[TaskResult]) -> BenchmarkResult:
    """The values of one benchmark, from those of its tasks."""
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
        benchmark=name,
        domains=domains,
        overall=mean_over_domains(domains),
        formats=formats,
        directions=_direction_means(declared, mains),
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
    parts: dict[str, dict[str, _Range | str]] = {}
    for each in declared:
        if mains[each.id]:
            parts.setdefault(each.domain, {}).update(mains[each.id])
    return {domain: _mean_result(values) for domain, values in parts.items()}


def _direction_means(
    declared: Iterable[Task], mains: Mapping[str, _Values]
) -> dict[str, dict[str, MeanResult]]:
    """The plain mean of the main values of each direction's tasks, by domain and direction."""
    parts: dict[str, dict[str, dict[str, _Range | str]]] = {}
    for each in declared:
        if each.direction and mains[each.id]:
            of_domain = parts.setdefault(each.domain, {})
            of_domain.setdefault(each.direction, {}).update(mains[each.id])
    return {
        domain: {direction: _mean_result(values) for direction, values in found.items()}
        for domain, found in parts.items()
    }


def _main_values(
    declared: Task, protocol: Protocol, results: Mapping[tuple[str, str], TaskResult]
) -> _Values:
    """The main value of each query of a task, or the reason why the mean lacks it, by name."""
    return {
        f"{declared.id}/{query.name}" if query.name else declared.id: _main_value(
            declared, query, protocol, results.get((declared.id, query.name))
        )
        for query in declared.queries
        if query.metrics(protocol)
    }


def _main_value(
    declared: Task, query: Query, protocol: Protocol, result: TaskResult | None
) -> _Range | str:
    """The main metric's value, or the reason why the mean lacks it."""
    if result is None or result.main is None:
        return NO_RESPONSES
    main = result.main
    if main.value is None:
        return next(iter(main.unscored), "unscored")
    metric = metric_of(protocol, declared.benchmark, query.form, main.metric)
    if metric is not None and not metric.higher_is_better:
        return _("{} is an error rate, which is not part of a mean of scores", main.metric)
    assert main.better_end is not None
    return _Range(main.value, main.better_end)


def mean_over_domains(domains: Mapping[str, MeanResult]) -> MeanResult:
    """The mean over domains; `missing` lists the incomplete domains and the tasks they lack."""
    return MeanResult(
        value=_mean(found.value for found in domains.values()),
        value_if_right=_mean(found.value_if_right for found in domains.values()),
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
        value=_mean(value.value for value in present),
        value_if_right=_mean(value.if_right for value in present),
        parts=tuple(values),
        missing={name: value for name, value in values.items() if isinstance(value, str)},
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that exist; None where none does."""
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None

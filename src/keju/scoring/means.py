"""Means of tasks: `domain_means`, `mean_over_domains`, and `benchmark_result` with both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from keju.definitions import Query, Task, benchmark
from keju.items import Protocol
from keju.scoring.lookup import metric_of
from keju.scoring.results import BenchmarkResult, MeanResult, MetricResult, TaskResult
from keju.texts import _

NO_RESPONSES = _("no responses")
"""The reason why a task without requests is missing from a mean."""

_Results = Mapping[tuple[str, str], TaskResult]
"""The values of tasks, by task and query."""


def benchmark_result(name: str, protocol: Protocol, found: Sequence[TaskResult]) -> BenchmarkResult:
    """The values of one benchmark, from those of its tasks."""
    definition = benchmark(name)
    results = {(result.task, result.query): result for result in found}
    domains = domain_means(definition.tasks, protocol, results)
    directions = {
        domain: _means(
            [task for task in definition.tasks if task.direction and task.domain == domain],
            protocol,
            results,
            lambda task: task.direction,
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
    declared: Iterable[Task], protocol: Protocol, results: _Results
) -> dict[str, MeanResult]:
    """The mean of each domain: the plain mean of the main values of its `declared` tasks.

    `results` are by task and query; those that are missing are listed in the mean.
    """
    return _means(declared, protocol, results, lambda task: task.domain)


def _means(
    declared: Iterable[Task],
    protocol: Protocol,
    results: _Results,
    group_of: Callable[[Task], str],
) -> dict[str, MeanResult]:
    """The plain mean of the main values of each group of tasks."""
    mains: dict[str, dict[str, MetricResult | str]] = {}
    for task in declared:
        for query in task.queries:
            if query.metrics(protocol):
                name = f"{task.id}/{query.name}" if query.name else task.id
                main = _main_value(task, query, protocol, results.get((task.id, query.name)))
                mains.setdefault(group_of(task), {})[name] = main
    return {
        group: MeanResult(
            value=_mean(main.value for main in of_group.values() if isinstance(main, MetricResult)),
            value_if_right=_mean(
                main.better_end for main in of_group.values() if isinstance(main, MetricResult)
            ),
            parts=tuple(of_group),
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


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that exist; None where none does."""
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None

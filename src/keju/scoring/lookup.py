"""The metrics that exist, those of keju and those of plug-ins, and which of them a query has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypedDict

from keju import __version__
from keju.definitions import Query, official_source
from keju.items import AnswerForm, Protocol
from keju.scoring.metric import Metric, keju_metrics, metrics_by_key
from keju.scoring.own_metrics import broken_plugins, own_metrics


def metric_of(protocol: Protocol, benchmark: str, form: AnswerForm, name: str) -> Metric | None:
    """The metric of that name, a benchmark's own before a general one; None if there is none.

    Raises:
        PluginError: two plug-ins declare the same metric.
    """
    return find_metrics(protocol, benchmark, form)(name)


def find_metrics(
    protocol: Protocol, benchmark: str, form: AnswerForm
) -> Callable[[str], Metric | None]:
    """A function like `metric_of` for the metrics of one protocol, benchmark and form, by name.

    Raises:
        PluginError: two plug-ins declare the same metric.
    """
    own, ours, source = own_metrics(), metrics_by_key(), official_source(benchmark)
    protocol = "official" if protocol == "with-reasoning" else protocol

    def find(name: str) -> Metric | None:
        general = (protocol, "", form, name)
        found = own.get((protocol, benchmark, form, name)) or own.get(general)
        return found or ours.get((protocol, source, form, name)) or ours.get(general)

    return find


def metrics() -> Iterator[Metric]:
    """Every metric: those of keju in the order of the declarations, then those of plug-ins."""
    return chain(keju_metrics(), own_metrics().values())


def metric_names(
    query: Query, protocol: Protocol, benchmark: str, *, of_pairs: bool = False
) -> tuple[str, ...]:
    """The metrics of a query: those that its task names, then those of plug-ins for its form.

    A plug-in's metric that is for all benchmarks is not added to a protocol without metrics.
    """
    named = query.metrics(protocol)
    protocol = "official" if protocol == "with-reasoning" else protocol
    places = {benchmark, ""} if named else {benchmark}
    own = (
        each.name
        for each in own_metrics().values()
        if (each.protocol, each.form, each.of_pairs) == (protocol, query.form, of_pairs)
        and each.benchmark in places
    )
    return tuple(dict.fromkeys((*named, *own)))


class MetricRow(TypedDict):
    """One line of ``keju metrics --json``."""

    name: str
    form: AnswerForm
    protocol: Protocol
    benchmark: str
    higher_is_better: bool
    worst: float
    preparation: str
    rule: str
    aggregation: str
    source: str
    plugin: str


def metric_row(metric: Metric) -> MetricRow:
    """A metric as ``keju metrics --json`` lists it."""
    return MetricRow(
        name=metric.name, form=metric.form, protocol=metric.protocol, benchmark=metric.benchmark,
        higher_is_better=metric.higher_is_better, worst=metric.worst,
        preparation=metric.prepare.rule, rule=metric.rule, aggregation=metric.over.rule,
        source=metric.source, plugin=metric.origin,
    )  # fmt: skip


def unavailable_reason(metric: str) -> str:
    """Why a metric that a task names and that is not declared has no value."""
    return "; ".join([f"keju {__version__} does not compute {metric} yet", *broken_plugins()])

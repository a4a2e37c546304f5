"""The metrics that exist, of keju and of plug-ins: which a query has, and each in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, product

import msgspec

from keju import __version__
from keju.definitions import Definition, Query, Task, definition
from keju.definitions.protocols import PROTOCOL_ROWS
from keju.errors import DataError, did_you_mean, nearest_names, shortened
from keju.files import shipped_toml
from keju.items import AnswerForm, Protocol
from keju.scoring.metric import Metric, keju_metrics
from keju.scoring.own_metrics import broken_plugins, own_metrics
from keju.texts import _


def metric_of(protocol: Protocol, benchmark: str, form: AnswerForm, name: str) -> Metric | None:
    """The metric of that name, a benchmark's own before a general one; None if there is none.

    Raises:
        PluginError: two plug-ins declare the same metric.
    """
    own, ours = own_metrics(), keju_metrics()
    protocol = PROTOCOL_ROWS[protocol].metrics
    general = (protocol, "", form, name)
    own_metric = own.get((protocol, benchmark, form, name)) or own.get(general)
    declared = definition(benchmark)
    source = (declared and declared.official_as) or benchmark
    official = (protocol, source, form, name)
    return own_metric or ours.get(official) or ours.get(general)


def metrics() -> Iterator[Metric]:
    """Every metric: those of keju in the order of the declarations, then those of plug-ins."""
    return chain(keju_metrics().values(), own_metrics().values())


def metric_names(
    query: Query, protocol: Protocol, benchmark: str, *, of_pairs: bool = False
) -> tuple[str, ...]:
    """The metrics of a query: those that its task names, then those of plug-ins for its form.

    A plug-in's metric that is for all benchmarks is not added to a protocol without metrics.
    """
    named = query.metrics(protocol)
    protocol = PROTOCOL_ROWS[protocol].metrics
    places = {benchmark, ""} if named else {benchmark}
    own = (
        each.name
        for each in own_metrics().values()
        if (each.protocol, each.form, each.of_pairs) == (protocol, query.form, of_pairs)
        and each.benchmark in places
    )
    return tuple(dict.fromkeys((*named, *own)))


def metric_row(metric: Metric) -> dict[str, object]:
    """A metric as ``keju metrics --json`` lists it."""
    return {
        "name": metric.name,
        "form": metric.form,
        "protocol": metric.protocol,
        "benchmark": metric.benchmark,
        "higher_is_better": metric.higher_is_better,
        "worst": metric.worst,
        "preparation": metric.prepare.rule,
        "rule": metric.rule,
        "aggregation": metric.over.rule,
        "source": metric.source,
        "plugin": metric.origin,
    }


def unavailable_reason(metric: str) -> str:
    """Why a metric that a task names and that is not declared has no value."""
    return "; ".join([f"keju {__version__} does not compute {metric} yet", *broken_plugins()])


class _Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    extraction: dict[Protocol, dict[str, str]]


@cache
def _extraction_rules() -> dict[Protocol, dict[str, str]]:
    return shipped_toml("keju.scoring", "rules.toml", _Rules).extraction


def list_steps(metric: Metric, query: Query) -> dict[str, str]:
    """The steps from a response to a task's value, by name: what the metric's protocol does."""
    rules = _extraction_rules()[metric.protocol]
    return {
        "what is taken of the response": rules.get(query.form) or rules["any"],
        "how texts are prepared": metric.prepare.rule,
        "what is counted": metric.rule,
        "a task's value": metric.over.rule,
        "a failed call": metric.failure,
    }


def strict_metrics() -> dict[str, list[str]]:
    """The general metrics of `strict` for each kind of answer; ``*`` marks one with an encoder."""
    names: dict[str, list[str]] = {}
    for metric in metrics():
        if metric.protocol == "strict" and not (metric.benchmark or metric.origin):
            kind = f"{metric.form} (pairs)" if metric.of_pairs else metric.form
            names.setdefault(kind, []).append(metric.name + "*" * bool(metric.encoder))
    return names


def check_metrics(definition: Definition, place: str) -> None:
    """Refuse a definition with a metric that keju does not compute for its answer form.

    Args:
        definition: of a benchmark that keju does not ship.
        place: the file, for messages.

    Raises:
        DataError: naming the task, the metric, and those that there are.
    """
    if definition.shipped:
        return
    protocols = [row.name for row in PROTOCOL_ROWS.values() if not row.view]
    for task, protocol in product(definition.tasks, protocols):
        for query in task.queries:
            for metric in query.metrics(protocol):
                if not _exists(protocol, task, query, metric):
                    raise _unknown_metric(protocol, task, query, metric, place)


def _exists(protocol: Protocol, task: Task, query: Query, metric: str) -> bool:
    declaration = metric_of(protocol, task.benchmark, query.form, metric)
    return declaration is not None and declaration.of_pairs == task.of_pairs


def _unknown_metric(
    protocol: Protocol, task: Task, query: Query, metric: str, place: str
) -> DataError:
    every = dict.fromkeys(each.name for each in metrics())
    names = [name for name in every if _exists(protocol, task, query, name)]
    published = dict.fromkeys(
        f'official_as = "{each.benchmark}"'
        for each in metrics()
        if (each.protocol, each.form) == ("official", query.form) and not each.origin
    )
    hint = _("Metrics: {}", ", ".join(names)) if names else _("Leave the list empty")
    if not names and protocol == "official" and published:
        hint = _("Leave the list empty, or name a published benchmark: {}", " or ".join(published))
    return DataError(
        "no {} metric {!r} for answers of the form {}{}.{}",
        protocol,
        shortened(metric),
        query.form,
        _(" in pairs") if task.of_pairs else "",
        did_you_mean(nearest_names(metric, names)),
        file=place,
        item=f"tasks.{task.id}" + (f".queries.{query.name}" if query.name else ""),
        hint="; ".join([hint, *broken_plugins()]),
    )

"""Whether the metrics that a benchmark's definition names exist for its answer forms."""

from __future__ import annotations

from keju.definitions import Definition, Query, Task, is_shipped
from keju.errors import DataError, did_you_mean, nearest_names, shortened
from keju.items import Protocol
from keju.scoring.lookup import metric_of, metrics
from keju.texts import _


def known_metrics(protocol: Protocol, task: Task, query: Query) -> list[str]:
    """The metrics that a query of a task may have under a protocol, as they are declared."""
    names = dict.fromkeys(each.name for each in metrics())
    return [name for name in names if _exists(protocol, task, query, name)]


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
    if is_shipped(definition.name):
        return
    protocols: tuple[Protocol, ...] = ("official", "strict", "printed")
    for task in definition.tasks:
        for query in task.queries:
            for protocol in protocols:
                for metric in query.metrics(protocol):
                    if not _exists(protocol, task, query, metric):
                        raise _unknown(protocol, task, query, metric, place)


def _exists(protocol: Protocol, task: Task, query: Query, metric: str) -> bool:
    found = metric_of(protocol, task.benchmark, query.form, metric)
    return found is not None and found.of_pairs == task.of_pairs


def _with_official(query: Query) -> str:
    """The published benchmarks with official metrics for a form, as a definition names them."""
    known = (each for each in metrics() if (each.form, each.protocol) == (query.form, "official"))
    named = dict.fromkeys(each.benchmark for each in known if is_shipped(each.benchmark))
    return " or ".join(f'official_as = "{name}"' for name in named)


def _unknown(protocol: Protocol, task: Task, query: Query, metric: str, place: str) -> DataError:
    known = known_metrics(protocol, task, query)
    if known:
        hint = _("Metrics: {}", ", ".join(known))
    elif protocol == "official" and (published := _with_official(query)):
        hint = _("Leave the list empty, or name a published benchmark: {}", published)
    else:
        hint = _("Leave the list empty")
    return DataError(
        "no {} metric {!r} for answers of the form {}{}.{}",
        protocol,
        shortened(metric),
        query.form,
        _(" in pairs") if task.of_pairs else "",
        did_you_mean(nearest_names(metric, known)),
        file=place,
        item=f"tasks.{task.id}" + (f".queries.{query.name}" if query.name else ""),
        hint=hint,
    )

"""Whether the metrics that a benchmark's definition names exist for its answer forms."""

from __future__ import annotations

from difflib import get_close_matches

from keju.definitions import Definition, Query, Task, is_shipped
from keju.errors import DataError, shortened
from keju.items import Protocol
from keju.scoring.lookup import metric_of, metrics


def known_metrics(protocol: Protocol, task: Task, query: Query) -> list[str]:
    """The metrics that a query of a task may have under a protocol, as they are declared."""
    names = dict.fromkeys(each.name for each in metrics())
    return [name for name in names if _exists(protocol, task, query, name)]


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
    protocols: tuple[Protocol, ...] = ("official", "strict")
    for task in definition.tasks:
        for query in task.queries:
            for protocol in protocols:
                for metric in getattr(query, protocol):
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
    near = get_close_matches(metric, known, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    hint += f"Metrics: {', '.join(known)}" if known else "Leave the list empty"
    if protocol == "official" and not known and (published := _with_official(query)):
        hint += f", or name a published benchmark: {published}"
    return DataError(
        f"no {protocol} metric {shortened(metric)!r} for answers of the form {query.form}"
        + " in pairs" * task.of_pairs,
        file=place,
        item=f"tasks.{task.id}" + (f".queries.{query.name}" if query.name else ""),
        hint=hint,
    )

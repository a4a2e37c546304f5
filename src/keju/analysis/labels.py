"""Labels of metrics and tasks."""

from __future__ import annotations

import re

from keju.definitions import task
from keju.items import Protocol
from keju.scoring import Metric, metric_of

_NUMBERED = re.compile(r"[A-Za-z]{0,2}[0-9]+")


def task_name(name: str, query: str) -> str:
    """A task's id, with its query where it has several."""
    return f"{name}/{query}" if query else name


def is_numbered(task_id: str) -> bool:
    """Whether a task's id is a number, as in ``T12``, which needs the task's name in addition."""
    return _NUMBERED.fullmatch(task_id) is not None


def metric_label(name: str, query: str, protocol: Protocol, metric: str) -> str:
    """A metric's name, with an arrow where lower is better."""
    return metric if higher_is_better(name, query, protocol, metric) else f"{metric} ↓"


def label_of(metric: Metric) -> str:
    """The same of a declared metric."""
    return metric.name if metric.higher_is_better else f"{metric.name} ↓"


def higher_is_better(name: str, query: str, protocol: Protocol, metric: str) -> bool:
    """Whether a higher value of a task's metric is better.

    True for metrics that keju does not compute.
    """
    found = _find(name, query, protocol, metric)
    return found is None or found.higher_is_better


def metric_definition(name: str, query: str, protocol: Protocol, metric: str) -> str:
    """The definition of a task's metric, in one sentence."""
    return metric_of_task(name, query, protocol, metric).rule


def metric_of_task(name: str, query: str, protocol: Protocol, metric: str) -> Metric:
    """A task's metric.

    Raises:
        KeyError: keju does not compute it.
    """
    found = _find(name, query, protocol, metric)
    if found is None:
        raise KeyError(metric)
    return found


def _find(name: str, query: str, protocol: Protocol, metric: str) -> Metric | None:
    known = task(name)
    form = next(each.form for each in known.queries if each.name == query)
    return metric_of(protocol, known.benchmark, form, metric)

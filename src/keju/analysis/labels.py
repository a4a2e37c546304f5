"""Labels of metrics and tasks."""

from __future__ import annotations

import re

from keju.definitions import task
from keju.items import AnswerForm, Protocol
from keju.scoring import counting_rule, metric_of, pooling_rule

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


def higher_is_better(name: str, query: str, protocol: Protocol, metric: str) -> bool:
    """Whether a higher value of a task's metric is better.

    True for metrics that keju does not compute.
    """
    found = metric_of(protocol, task(name).benchmark, _form(name, query), metric)
    return found is None or found.higher_is_better


def metric_pooling(name: str, query: str, protocol: Protocol, metric: str) -> str:
    """How a task's value of a metric is computed from its items' values."""
    return pooling_rule(protocol, task(name).benchmark, _form(name, query), metric)


def metric_definition(name: str, query: str, protocol: Protocol, metric: str) -> str:
    """The definition of a task's metric, in one sentence."""
    return counting_rule(protocol, task(name).benchmark, _form(name, query), metric)


def _form(name: str, query: str) -> AnswerForm:
    return next(each.form for each in task(name).queries if each.name == query)

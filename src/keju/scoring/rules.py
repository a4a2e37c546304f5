"""The rules of each number, in sentences: extraction, preparation, counting and pooling."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import msgspec

from keju.definitions import Query, Task
from keju.files import shipped_toml
from keju.items import AnswerForm, Protocol
from keju.scoring.lookup import metric_of
from keju.scoring.metric import Metric

_FILE = "rules.toml"


class Step(NamedTuple):
    """One step from a response to a number, as one protocol does it."""

    name: str
    what: str


class _Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    extraction: dict[Protocol, dict[str, str]]


@cache
def _extraction_rules() -> dict[Protocol, dict[str, str]]:
    return shipped_toml("keju.scoring", _FILE, _Rules).extraction


def counting_rule(protocol: Protocol, benchmark: str, form: AnswerForm, metric: str) -> str:
    """How a metric counts, in one sentence."""
    return _declared(protocol, benchmark, form, metric).rule


def list_steps(protocol: Protocol, task: Task, query: Query, metric: str) -> list[Step]:
    """The steps from a response to a task's value: taken, prepared, counted, summed, failures.

    Raises:
        KeyError: the metric is not declared.
    """
    taken, found = (
        _extraction_rules()[protocol],
        _declared(protocol, task.benchmark, query.form, metric),
    )
    return [
        Step("what is taken of the response", taken.get(query.form) or taken["any"]),
        Step("how texts are prepared", found.prepare.rule),
        Step("what is counted", found.rule),
        Step("a task's value", found.over.rule),
        Step("a failed call", found.failure),
    ]


def lower_is_better(protocol: Protocol, task: Task, query: Query, metric: str) -> bool:
    """Whether a metric is an error."""
    found = metric_of(protocol, task.benchmark, query.form, metric)
    return found is not None and not found.higher_is_better


def _declared(protocol: Protocol, benchmark: str, form: AnswerForm, metric: str) -> Metric:
    found = metric_of(protocol, benchmark, form, metric)
    if found is None:
        raise KeyError(metric)
    return found

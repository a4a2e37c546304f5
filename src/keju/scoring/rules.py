"""What each number is, in sentences: how an answer is taken, prepared, counted and summed up."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec
from msgspec import field

from keju.benchmarks import Query, Task, official_source
from keju.errors import DataError
from keju.items import AnswerForm, Protocol
from keju.scoring.protocols import binding_of
from keju.scoring.rankings import text_of
from keju.scoring.semantic import semantic_binding

_FILE = "rules.toml"
_MEAN = "the mean over the items"


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a metric counts, and how a task's value comes of its items' values."""

    rule: str
    over: str = _MEAN
    where: dict[str, str] = field(default_factory=dict)


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file: what is taken, how texts are prepared, how a metric counts."""

    taken: dict[Protocol, dict[str, str]]
    prepared: dict[Protocol, dict[str, str]]
    counted: dict[Protocol, dict[AnswerForm, dict[str, Rule]]]


class Step(NamedTuple):
    """One step from a response to a number, as one protocol does it."""

    name: str
    what: str


@cache
def rules() -> Rules:
    """The rules, read from the file beside this module.

    Raises:
        DataError: it does not have the form declared here.
    """
    text = files("keju.scoring").joinpath(_FILE).read_text("utf-8")
    try:
        return msgspec.convert(tomllib.loads(text), Rules)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DataError(f"not the rules of the metrics: {error}", file=_FILE) from None


def counting(protocol: Protocol, benchmark: str, form: AnswerForm, metric: str) -> str:
    """How a metric counts, in one sentence."""
    found = rules().counted[protocol][form][metric]
    return found.where.get(official_source(benchmark), found.rule)


def pooling(protocol: Protocol, form: AnswerForm, metric: str) -> str:
    """How a task's value comes of its items' values, in a few words."""
    return rules().counted[protocol][form][metric].over


def steps(protocol: Protocol, task: Task, query: Query, metric: str) -> list[Step]:
    """The steps from a response to a task's value: taken, prepared, counted, summed, failures.

    Raises:
        KeyError: the file lacks a rule for this metric.
    """
    taken, text = rules().taken[protocol], _text(protocol, task, query, metric)
    found = rules().counted[protocol][query.form][metric]
    return [
        Step("what is taken of the response", taken.get(query.form) or taken["any"]),
        Step("how texts are prepared", rules().prepared[protocol][text]),
        Step("what is counted", counting(protocol, task.benchmark, query.form, metric)),
        Step("a task's value", found.over),
        Step("a failed call", _failure(protocol, task, query, metric)),
    ]


def lower_is_better(protocol: Protocol, task: Task, query: Query, metric: str) -> bool:
    """Whether a metric is an error."""
    binding = None if task.of_pairs else binding_of(protocol, task.benchmark, query.form, metric)
    return binding is not None and not binding.higher_is_better


def _text(protocol: Protocol, task: Task, query: Query, metric: str) -> str:
    if task.of_pairs:
        return text_of(protocol, query.form)
    found = semantic_binding(protocol, task.benchmark, query.form, metric) or binding_of(
        protocol, task.benchmark, query.form, metric
    )
    if found is None:
        raise KeyError(metric)
    return found.text


def _failure(protocol: Protocol, task: Task, query: Query, metric: str) -> str:
    if task.of_pairs:
        return "its pair ranks last"
    binding = binding_of(protocol, task.benchmark, query.form, metric)
    return f"{binding.worst:g}" if binding else "0"

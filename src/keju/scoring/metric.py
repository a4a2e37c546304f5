"""`Metric`: the declaration of a metric.

Everything else is derived from the declaration: how a response becomes a value, how values of items
become a task's, the direction, the value of a failure, the signature, and the sentences in reports
and documentation. General metrics are declared in `keju.scoring.strict`, the official ones of a
published benchmark in its folder of `keju.benchmarks`, and others in plug-ins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from numbers import Real
from typing import Any, NamedTuple, TypeVar

from keju.encoders import Encoders, Pair
from keju.errors import describe_exception, english_problem, shortened
from keju.items import AnswerForm, Protocol
from keju.metrics import UndefinedMetricError
from keju.registry import PluginError, list_provided
from keju.scoring.preparations import Preparation
from keju.texts import _

GROUP = "metrics"
"""The entry-point group of plug-ins and of benchmarks' folders that declare metrics."""

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

Key = tuple[Protocol, str, AnswerForm, str]
"""Protocol, benchmark, answer form and name of a metric."""

Stats = Mapping[str, float]
"""The sufficient statistics of one item."""


class MetricValue(NamedTuple):
    """The result of a metric for one scoring sample: a value and the sufficient statistics of it.

    A task's value is ``sum(numerator) / sum(denominator)`` over its items: the mean of items where
    every denominator is 1, a corpus rate where it is a length or a count.
    """

    value: float
    stats: dict[str, float]


def mean(value: float, **stats: float) -> MetricValue:
    """A value that a task averages over its items."""
    return ratio(value, 1, value, **stats)


def ratio(numerator: float, denominator: float, value: float, **stats: float) -> MetricValue:
    """A value whose parts a task sums before dividing."""
    return MetricValue(value, {"numerator": numerator, "denominator": denominator, **stats})


class Pooling(NamedTuple):
    """How a task's value is made of its items' values.

    `value` is None where it is ``sum(numerator) / sum(denominator)``; only then can intervals and
    tests re-sum these two.
    """

    rule: str
    value: Callable[[Sequence[Stats]], float] | None = None


MEAN = Pooling("the mean over the items")


@dataclass(frozen=True, kw_only=True, eq=False)
class Metric:
    """A metric of one answer form under one protocol.

    `benchmark` is empty where it is the same for all benchmarks. `function` returns a value, which
    a task averages, or a `MetricValue`. `worst` is the value of a failure; for unbounded errors it
    is that of an empty answer. `of_pairs` marks a metric of the answers to all pairs of an item,
    which rank its candidates. `source` names where the definition is from.

    A metric with an `encoder` is computed for many samples at once: `prepare` gives candidate and
    reference, and `function` takes the encoders, the name of this one, the pairs, and all
    references of the task, which set the floor. Its value is averaged with that of the metric of
    the same form that `beside` names, if it does.

    `origin` names the plug-in of a metric that is not keju's; it is part of the signature. What its
    function returns is checked against `lowest` and `highest` (None: open).
    """

    name: str
    form: AnswerForm
    protocol: Protocol
    prepare: Preparation
    function: Callable[..., Any]
    rule: str
    benchmark: str = ""
    over: Pooling = MEAN
    worst: float = 0.0
    higher_is_better: bool = True
    encoder: str = ""
    beside: str = ""
    of_pairs: bool = False
    lowest: float | None = None
    highest: float | None = None
    source: str = ""
    rule_zh: str = ""
    origin: str = ""

    @property
    def key(self) -> Key:
        """The identity of the metric."""
        return self.protocol, self.benchmark, self.form, self.name

    @property
    def pooled(self) -> bool:
        """Whether a task's value is more than the mean of its items' values."""
        return self.over is not MEAN

    @property
    def failure(self) -> str:
        """The value of a failed call, in words."""
        ranks_last = self.of_pairs and not self.origin
        return "its pair ranks last" if ranks_last else f"{self.worst:g}"

    def measure(self, case: Any) -> MetricValue:  # noqa: ANN401 - a sample, or a gallery
        """The value of one scoring sample, or of one gallery.

        Raises:
            UndefinedMetricError: it has no value; the reason is in it.
            PluginError: the function of a plug-in returned something that is not a value.
        """
        return self._compute(case, *self.prepare.inputs(case))

    def measure_if_right(self, sample: Any) -> MetricValue:  # noqa: ANN401 - as measure
        """The value of a scoring sample if its answer were the reference.

        Raises:
            UndefinedMetricError: as `measure`.
        """
        if self.of_pairs:
            measured = self.measure(sample.if_right())
            return measured._replace(stats=measured.stats | sample.stats)
        reference, _answer, *others = self.prepare.inputs(sample)
        return self._compute(sample, reference, reference, *others)

    def values(
        self, encoders: Encoders, pairs: Sequence[Pair], references: Iterable[str]
    ) -> Sequence[float | str]:
        """The value of each pair of a metric that an encoder computes, or why it has none.

        Raises:
            UndefinedMetricError: no pair has a value; the reason is in it.
            PluginError: the function of a plug-in returned something that is not a value.
        """
        if not self.origin:
            values: list[float] = self.function(encoders, self.encoder, pairs, references)
            return values
        texts = [text for pair in pairs for text in pair]
        vectors = encoders.sentence_vectors(texts, name=self.encoder)

        def value(candidate: str, reference: str) -> float | str:
            try:
                return self._value_of_plugin("", vectors[reference], vectors[candidate]).value
            except UndefinedMetricError as error:
                return english_problem(error)

        return [
            value(candidate, reference) if candidate else self.worst
            for candidate, reference in pairs
        ]

    def _compute(self, case: Any, *inputs: Any) -> MetricValue:  # noqa: ANN401 - as measure
        if self.origin:
            measured = self._value_of_plugin(_(" for item {}", case.item.id), *inputs)
        else:
            value = self.function(*inputs)
            measured = value if isinstance(value, MetricValue) else mean(value)
        return mean(measured.value, **case.stats) if self.of_pairs else measured

    def _value_of_plugin(self, place: str, *inputs: object) -> MetricValue:
        """The value of a plug-in's function, which is checked: it is other people's code."""
        answer = inputs[-1]
        empty = not self.encoder and (answer is None or (isinstance(answer, Sized) and not answer))
        if empty and not self.pooled:
            return mean(self.worst)
        try:
            result = self.function(*inputs)
        except Exception as error:  # noqa: BLE001 - whatever other people's code raises
            reason = describe_exception(error)
            if not empty:
                raise UndefinedMetricError(
                    _("{} of {}: {}", self.name, self.origin, reason)
                ) from None
            problem = f"raised {reason} on an empty answer"
        else:
            parts = (result, 1) if not self.pooled else result
            if isinstance(parts, tuple) and len(parts) == 2 and all(map(_is_number, parts)):
                numerator, denominator = map(float, parts)
                value = numerator / denominator if denominator else 0.0
                is_divided = denominator > 0 or not (numerator or denominator)
                if is_divided and _is_between(self.lowest, value, self.highest):
                    return ratio(numerator, denominator, value)
            problem = f"returned {shortened(repr(result), 60)}"
        expectation = _("a finite number {}", range_text(self.lowest, self.highest))
        if self.pooled:
            expectation = _("(numerator, denominator) with a quotient that is {}", expectation)
        raise PluginError(
            "the metric {} of {} {}{}. Return {}, or raise ValueError with the reason if an item "
            "has no value",
            self.name,
            self.origin,
            problem,
            place,
            expectation,
        )


def range_text(low: float | None, high: float | None) -> str:
    """The range of a metric, in words."""
    if low is None and high is None:
        return _("of any size")
    if low is None or high is None:
        return _("of at least {:g}", low) if high is None else _("of at most {:g}", high)
    return _("between {:g} and {:g}", low, high)


def _is_between(low: float | None, value: float, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _is_number(value: object) -> bool:
    """Whether it is a finite number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return math.isfinite(value)


_METRICS: dict[Key, Metric] = {}


def keju_metrics() -> Mapping[Key, Metric]:
    """Every metric of keju, in the order of the declarations."""
    _load_declared()
    return _METRICS


@cache
def _load_declared() -> None:
    """Import the modules that declare metrics of keju, general ones before benchmarks'."""
    for module in ("keju.scoring.strict", *list_provided(GROUP).values()):
        import_module(module)


def declare(
    name: str,
    rule: str,
    *,
    part: str = "",
    **about: Any,  # noqa: ANN401 - the other fields of Metric
) -> Callable[[F], F]:
    """Declare the decorated function as a metric of keju's own.

    Args:
        name: of the metric.
        rule: one sentence that says what it counts.
        part: the attribute of the function's result that is the value, e.g. ``f1`` of a `PRF`.
        about: the other fields of `Metric`.

    Raises:
        ValueError: there is one of that name, form, protocol and benchmark.
    """

    def declared(function: F) -> F:
        measured = (lambda *inputs: getattr(function(*inputs), part)) if part else function
        metric = Metric(name=name, rule=rule, function=measured, **about)
        if metric.key in _METRICS:
            raise ValueError(f"the metric {name} is declared twice: {metric.key}")
        _METRICS[metric.key] = metric
        return function

    return declared

"""`Metric`: the declaration of a metric.

Everything else is derived from the declaration: how a response becomes a value, how values of items
become a task's, the direction, the value of a failure, the signature, and the sentences in reports
and documentation. General metrics are declared in `keju.scoring.declared`, the official ones of a
published benchmark in its folder of `keju.benchmarks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from keju.definitions import official_source
from keju.encoders import Encoders, Pair
from keju.items import AnswerForm, Protocol
from keju.registry import list_provided
from keju.scoring.metric_value import MetricValue, mean
from keju.scoring.plugin_values import value_of_plugin, values_of_vectors

GROUP = "metrics"
"""The entry-point group of plug-ins and of benchmarks' folders that declare metrics."""

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

Key = tuple[Protocol, str, AnswerForm, str]
"""Protocol, benchmark, answer form and name of a metric."""

Stats = Mapping[str, float]
"""The sufficient statistics of one item."""


class Preparation(NamedTuple):
    """The arguments of a metric's function, made from a scoring sample or from a gallery of pairs.

    `name` is part of the signature; `rule` says in one sentence how both sides are prepared;
    `inputs` returns the function's arguments, most often the reference and the answer.
    """

    name: str
    rule: str
    inputs: Callable[[Any], tuple[Any, ...]]


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
        if self.origin:
            return values_of_vectors(self, encoders, pairs)
        values: list[float] = self.function(encoders, self.encoder, pairs, references)
        return values

    def _compute(self, case: Any, *inputs: Any) -> MetricValue:  # noqa: ANN401 - as measure
        if self.origin:
            return value_of_plugin(self, case, *inputs)
        value = self.function(*inputs)
        return value if isinstance(value, MetricValue) else mean(value)


_METRICS: dict[Key, Metric] = {}


def keju_metric(protocol: Protocol, benchmark: str, form: AnswerForm, name: str) -> Metric | None:
    """Keju's metric of that name, a benchmark's own before a general one; None without one."""
    load_declared()
    source = official_source(benchmark)
    return _METRICS.get((protocol, source, form, name)) or _METRICS.get((protocol, "", form, name))


def metrics_by_key() -> Mapping[Key, Metric]:
    """Every metric of keju, in the order of the declarations."""
    load_declared()
    return _METRICS


def keju_metrics() -> Iterator[Metric]:
    """Every metric of keju, in the order of the declarations."""
    return iter(metrics_by_key().values())


@cache
def load_declared() -> None:
    """Import the modules that declare metrics of keju, general ones before benchmarks'."""
    for module in ("keju.scoring.declared", *list_provided(GROUP).values()):
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
        measured = _part_of(function, part) if part else function
        metric = Metric(name=name, rule=rule, function=measured, **about)
        if metric.key in _METRICS:
            raise ValueError(f"the metric {name} is declared twice: {metric.key}")
        _METRICS[metric.key] = metric
        return function

    return declared


def _part_of(function: Function, part: str) -> Function:
    return lambda *inputs: getattr(function(*inputs), part)

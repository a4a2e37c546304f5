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
from keju.metrics import PRF, prf
from keju.registry import list_provided
from keju.scoring.metric_value import MetricValue, mean, ratio

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
    is that of an empty answer. `source` names where the definition is from. `origin` names the
    plug-in of a metric that is not keju's; it is part of the signature.
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
    source: str = ""
    rule_zh: str = ""
    origin: str = ""

    @property
    def key(self) -> Key:
        """The identity of the metric."""
        return self.protocol, self.benchmark, self.form, self.name

    @property
    def of_pairs(self) -> bool:
        """Whether it is of the answers to all pairs of an item."""
        return False

    @property
    def failure(self) -> str:
        """The value of a failed call, in words."""
        return f"{self.worst:g}"

    def measure(self, case: Any) -> MetricValue:  # noqa: ANN401 - a sample, or a gallery
        """The value of one scoring sample, or of one gallery.

        Raises:
            UndefinedMetricError: it has no value; the reason is in it.
        """
        return self._compute(case, *self.prepare.inputs(case))

    def measure_if_right(self, sample: Any) -> MetricValue:  # noqa: ANN401 - as measure
        """The value of a scoring sample if its answer were the reference.

        Raises:
            UndefinedMetricError: as `measure`.
        """
        reference, _answer, *others = self.prepare.inputs(sample)
        return self._compute(sample, reference, reference, *others)

    def _compute(self, case: Any, *inputs: Any) -> MetricValue:  # noqa: ANN401, ARG002 - as measure
        value = self.function(*inputs)
        return value if isinstance(value, MetricValue) else mean(value)


@dataclass(frozen=True, kw_only=True, eq=False)
class EncoderMetric(Metric):
    """A metric that an encoder computes, for many samples at once.

    `prepare` gives candidate and reference. `function` takes the encoders, the name of this one,
    the pairs, and all references of the task, which set the floor. The value is averaged with that
    of the metric of the same form that `beside` names, if it does.
    """

    function: Callable[..., Any]
    encoder: str
    beside: str = ""

    def values(
        self, encoders: Encoders, pairs: Sequence[Pair], references: Iterable[str]
    ) -> Sequence[float | str]:
        """The value of each pair, or the reason why it has none.

        Raises:
            UndefinedMetricError: no pair has a value; the reason is in it.
        """
        found: list[float] = self.function(encoders, self.encoder, pairs, references)
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class RankingMetric(Metric):
    """A metric of the answers to all pairs of an item, which rank its candidates."""

    @property
    def of_pairs(self) -> bool:
        """Whether it is of the answers to all pairs of an item."""
        return True

    @property
    def failure(self) -> str:
        """The value of a failed call, in words."""
        return "its pair ranks last"


_METRICS: dict[Key, Metric] = {}


def register(metric: Metric) -> Metric:
    """Add a metric of keju's own.

    Raises:
        ValueError: there is one of that name, form, protocol and benchmark.
    """
    if metric.key in _METRICS:
        raise ValueError(f"the metric {metric.name} is declared twice: {metric.key}")
    _METRICS[metric.key] = metric
    return metric


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


def declare(name: str, rule: str, **about: Any) -> Callable[[F], F]:  # noqa: ANN401 - of Metric
    """Declare the decorated function as a metric; `about` are the other fields of `Metric`."""

    def declared(function: F) -> F:
        register(Metric(name=name, rule=rule, function=function, **about))
        return function

    return declared


def declare_rates(
    declare: Callable[..., Callable[[Function], Function]], rules: Mapping[str, str]
) -> Callable[[Callable[..., PRF]], Callable[..., PRF]]:
    """Declare the parts of a `PRF` that the decorated function returns, each with its rule."""

    def declared(function: Callable[..., PRF]) -> Callable[..., PRF]:
        for name, rule in rules.items():
            part = PRF._fields.index(name.removeprefix("Char").lower())
            declare(name, rule)(lambda *given, part=part: function(*given)[part])
        return function

    return declared


def declare_pooled_rates(
    declare: Callable[..., Callable[[Function], Function]], over: str, rules: Mapping[str, str]
) -> Callable[[Callable[..., Hits]], Callable[..., Hits]]:
    """Declare rates of hits that the decorated function counts, over all items together.

    ``F1_macro`` is the mean of the items' F1.
    """

    def declared(function: Callable[..., Hits]) -> Callable[..., Hits]:
        for name, rule in rules.items():
            pooling = {} if name.endswith("_macro") else {"over": Pooling(over)}
            declare(name, rule, **pooling)(
                lambda *given, rate=_RATES[name]: rate(*function(*given))
            )
        return function

    return declared


Hits = tuple[int, int, int]
"""How many of the predicted are right, how many were predicted, how many the reference has."""


def _rate(hits: int, total: int) -> MetricValue:
    return ratio(hits, total, hits / total if total else 0.0)


def _f1(hits: int, predicted: int, expected: int) -> MetricValue:
    """F1 as a ratio of sums; nothing predicted where nothing was to be found is right."""
    value = prf(hits, predicted, expected).f1 if predicted or expected else 1.0
    return ratio(
        2 * hits, predicted + expected, value, hits=hits, predicted=predicted, expected=expected
    )


_RATES: dict[str, Callable[[int, int, int], MetricValue]] = {
    "Precision": lambda hits, predicted, _expected: _rate(hits, predicted),
    "Recall": lambda hits, _predicted, expected: _rate(hits, expected),
    "F1": _f1,
    "F1_macro": lambda *counts: mean(_f1(*counts).value),
}

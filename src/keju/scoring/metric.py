"""`Metric`: the declaration of a metric, and the signature of its numbers.

Everything else is derived from the declaration: how a response becomes a value, how values of items
become a task's, the direction, the value of a failure, and the sentences in reports and
documentation. General metrics are declared in `keju.scoring.strict`, the official ones of a
published benchmark in its folder of `keju.benchmarks`, and others in plug-ins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any, NamedTuple, TypeVar

from keju import __version__
from keju.definitions.protocols import DECIDED_FORMS, PROTOCOL_ROWS
from keju.definitions.wordings import RELEASED
from keju.errors import describe_exception, shortened
from keju.extraction import READER
from keju.items import AnswerForm, Protocol
from keju.metrics import UndefinedMetricError
from keju.registry import PluginError, list_provided
from keju.scoring.decisions import Decisions
from keju.scoring.preparations import Preparation
from keju.text import normalisation_signature
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
        empty = answer is None or (isinstance(answer, Sized) and not answer)
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


@cache
def keju_metrics() -> Mapping[Key, Metric]:
    """Every metric of keju: general ones before benchmarks', in the order of the declarations."""
    for module in ("keju.scoring.strict", *list_provided(GROUP).values()):
        import_module(module)
    return _METRICS


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


_AS_IT_IS = frozenset(
    {"one letter", "first-yes-no", "yes-no", "one-number", "one-probability", "boxes", "raw"}
)
"""Preparations that take the answer out and change nothing in it."""

_BY = "by:"


def origin_of(signature: str) -> str:
    """The plug-in that declares the metric of a signature; empty for metrics of keju."""
    parts = (part for part in signature.split("|") if part.startswith(_BY))
    return next(parts, "").removeprefix(_BY)


@lru_cache(maxsize=1024)
def metric_signature(metric: Metric, encoder: str = "") -> str:
    """The signature of a metric's values; `encoder` is that of its encoder."""
    protocol = PROTOCOL_ROWS[metric.protocol].signature or metric.protocol
    parts = [metric.name, protocol, f"text:{_preparation(metric)}"]
    if encoder:
        parts.append(f"encoder:{encoder}")
    if metric.origin:
        parts.append(_BY + metric.origin)
    return "|".join([*parts, f"keju:{__version__}"])


def sample_part(protocol: Protocol, form: AnswerForm, decisions: Decisions, wording: str) -> str:
    """The part of a signature for the prompt's wording and for how answers are read.

    It names the version of the rules where they read the answer, and who decided unclear ones.
    """
    parts: list[str] = []
    if PROTOCOL_ROWS[protocol].reads(form):
        parts = [READER, decisions.signature if form in DECIDED_FORMS else ""]
    if wording != RELEASED:
        parts.append(f"wording:{wording}")
    return "".join(f"|{part}" for part in parts if part)


def reading_of(signature: str) -> str:
    """How the answers of a score were read: the parts ``reader:`` and ``unclear:``, or ""."""
    parts = signature.split("|")
    return "|".join(part for part in parts if part.startswith(("reader:", "unclear:")))


def _preparation(metric: Metric) -> str:
    text = metric.prepare.name
    if text in _AS_IT_IS:
        return text
    if metric.protocol == "strict":
        return f"{text}+{normalisation_signature('script')}"
    steps = text.replace("convert", f"convert(response,zhconv-{_version('zhconv')}-zh-cn)")
    return steps.replace("jieba", f"jieba-{_version('jieba')}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"

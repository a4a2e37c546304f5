"""The values of plug-ins' metrics, which are checked: it is other people's code."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from numbers import Real
from typing import TYPE_CHECKING, Any

from keju.encoders import Encoders, Pair
from keju.encoders.text import Vector
from keju.errors import describe_exception
from keju.metrics import UndefinedMetricError
from keju.registry import PluginError
from keju.scoring.metric_value import MetricValue, mean, ratio
from keju.texts import _

if TYPE_CHECKING:
    from keju.scoring.metric import Metric


def value_of_plugin(
    metric: Metric,
    case: Any,  # noqa: ANN401 - a sample, or a gallery
    reference: Any,  # noqa: ANN401 - by answer form
    answer: Any,  # noqa: ANN401 - as the reference
) -> MetricValue:
    """The value of one sample or gallery.

    Raises:
        UndefinedMetricError: the function raised an exception, which is the reason.
        PluginError: the function returned something that is not a value of this metric.
    """
    empty = answer is None or (isinstance(answer, Sized) and not answer)
    if empty and not metric.pooled:
        return mean(metric.worst)
    try:
        result = metric.function(reference, answer)
    except Exception as error:  # noqa: BLE001 - whatever other people's code raises
        reason = describe_exception(error)
        if empty:
            raise _refused(metric, case, f"raised {reason} on an empty answer") from None
        raise UndefinedMetricError(_("{} of {}: {}", metric.name, metric.origin, reason)) from None
    return _checked(metric, result, case)


def values_of_vectors(
    metric: Metric, encoders: Encoders, pairs: Sequence[Pair]
) -> list[float | str]:
    """The value of each pair by the sentence vectors of its texts, or the reason why it has none.

    Raises:
        PluginError: the function returned something that is not a value of this metric.
    """
    texts = [text for pair in pairs for text in pair]
    vectors = encoders.sentence_vectors(texts, name=metric.encoder)
    return [
        _value_of_vectors(metric, vectors[reference], vectors[candidate])
        if candidate
        else metric.worst
        for candidate, reference in pairs
    ]


def range_text(low: float | None, high: float | None) -> str:
    """The range of a metric, in words."""
    if low is None and high is None:
        return _("of any size")
    if low is None or high is None:
        return _("of at least {:g}", low) if high is None else _("of at most {:g}", high)
    return _("between {:g} and {:g}", low, high)


def _value_of_vectors(metric: Metric, reference: Vector, answer: Vector) -> float | str:
    try:
        result = metric.function(reference, answer)
    except Exception as error:  # noqa: BLE001 - whatever other people's code raises
        return f"{metric.name} of {metric.origin}: {describe_exception(error)}"
    return _checked(metric, result, None).value


def _checked(metric: Metric, result: object, case: Any) -> MetricValue:  # noqa: ANN401
    if not metric.pooled:
        number = _number(result)
        if number is None or not _is_in_range(metric, number):
            raise _refused(metric, case, f"returned {_short_repr(result)}")
        return mean(number)
    parts = [_number(part) for part in result] if isinstance(result, tuple) else []
    if len(parts) != 2 or parts[0] is None or parts[1] is None or parts[1] < 0:
        raise _refused(metric, case, f"returned {_short_repr(result)}")
    numerator, denominator = parts[0], parts[1]
    value = numerator / denominator if denominator else 0.0
    if (numerator and not denominator) or not _is_in_range(metric, value):
        raise _refused(metric, case, f"returned {_short_repr(result)}")
    return ratio(numerator, denominator, value)


def _is_in_range(metric: Metric, value: float) -> bool:
    low, high = metric.lowest, metric.highest
    return (low is None or value >= low) and (high is None or value <= high)


def _refused(metric: Metric, case: Any, problem: str) -> PluginError:  # noqa: ANN401
    wanted = _("a finite number {}", range_text(metric.lowest, metric.highest))
    if metric.pooled:
        wanted = _("(numerator, denominator) with a quotient that is {}", wanted)
    place = _(" for item {}", case.item.id) if case else ""
    return PluginError(
        "the metric {} of {} {}{}. Return {}, or raise ValueError with the reason if an item "
        "has no value",
        metric.name,
        metric.origin,
        problem,
        place,
        wanted,
    )


def _number(value: object) -> float | None:
    """A finite number; None for anything else, also for true and false."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    return float(value) if math.isfinite(value) else None


def _short_repr(value: object) -> str:
    text = repr(value)
    return f"{text[:60]}… ({type(value).__name__})" if len(text) > 60 else text

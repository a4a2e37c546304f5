"""Conversion of keju's scores to Inspect: a scorer per protocol, a value per metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspect_ai.log import EvalMetric, EvalResults, EvalScore
from inspect_ai.scorer import Score as InspectScore

from keju.items import Item, Score
from keju.scoring import MetricResult, aggregate

_REASONS = {
    "refused": "refusal", "empty": "no_response", "failed": "no_response",
    "filtered": "no_response", "unparsable": "invalid_response_format",
    "off-format": "invalid_response_format",
}  # fmt: skip


def scores_of(scores: Iterable[Score], item: Item, text: str) -> dict[str, InspectScore]:
    """The scores of one response by protocol; *unscored* is distinguished from wrong."""
    by_protocol: dict[str, list[Score]] = {}
    for score in scores:
        by_protocol.setdefault(score.protocol, []).append(score)
    return {protocol: score_of(own, item, text) for protocol, own in by_protocol.items()}


def score_of(scores: Sequence[Score], item: Item, text: str) -> InspectScore:
    """All metrics of one response under one protocol.

    Without an extracted answer, the text is shown.
    """
    first = scores[0]
    words = "\n".join(_explained(scores, item))
    answer = next((each.extracted for each in scores if each.extracted), text)
    about = {
        "verdict": first.verdict,
        "status": first.status,
        "signatures": {each.metric: each.signature for each in scores if each.signature},
    }
    reason = _REASONS.get(first.verdict)
    values = {_title(each.protocol, each.metric): each.value for each in scores}
    if not any(value is not None for value in values.values()):
        return InspectScore.unscored(
            reason=reason, answer=answer, explanation=words, metadata=about
        )
    return InspectScore(
        value=values, answer=answer, explanation=words, reason=reason, metadata=about
    )


def results_of(scores: Sequence[Score], samples: int, failures: int) -> EvalResults:
    """The values of one task in both versions: failures at the worst value, and excluded."""
    found = []
    for result in aggregate(scores):
        for task in result.tasks:
            for metric in task.metrics:
                values = {
                    name: EvalMetric(name=name, value=value)
                    for name, value in _values(metric).items()
                }
                found.append(
                    EvalScore(
                        name=_title(result.protocol, metric.metric),
                        scorer=result.protocol,
                        scored_samples=metric.scored,
                        unscored_samples=metric.items - metric.scored,
                        metrics=values,
                        metadata={"signature": metric.signature, "note": metric.note},
                    )
                )
    return EvalResults(
        total_samples=samples,
        completed_samples=samples - failures,
        logged_samples=samples,
        scores=found,
    )


def _title(protocol: str, metric: str) -> str:
    """The heading of a column in the viewer: both protocols have an ``Acc``."""
    return f"{protocol} {metric}"


def _values(metric: MetricResult) -> dict[str, float]:
    values = {
        "value": metric.value,
        "value_if_right": None if metric.value_if_right == metric.value else metric.value_if_right,
        "without_failures": metric.without_failures,
        "item_mean": metric.item_mean,
    }
    return {name: value for name, value in values.items() if value is not None}


def _explained(scores: Sequence[Score], item: Item) -> list[str]:
    """The explanation of each value, one line each."""
    first = scores[0]
    lines = [f"verdict: {first.verdict}"]
    if first.extracted_from:
        lines.append(f"answer taken from: {first.extracted_from}")
    if item.answer:
        lines.append(f"true answer: {item.answer}")
    for each in scores:
        value = f"unscored, {each.reason}" if each.value is None else f"{each.value:.4f}"
        lines.append(f"{each.metric}: {value}")
    return [f"- {line}" for line in lines]

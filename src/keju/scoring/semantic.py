"""The metrics that need an encoder, computed for many scores at once: encoding is what costs.

Every unique text is encoded once, whichever models share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from keju.definitions import has_reference
from keju.encoders import ENCODERS, Encoders, Pair
from keju.errors import english_problem
from keju.items import Item, Score
from keju.metrics import UndefinedMetricError
from keju.metrics.base import TooLongError
from keju.metrics.semantic import above_floor, rescale
from keju.scoring.lookup import metric_of
from keju.scoring.metric import Metric, mean, metric_signature
from keju.scoring.scoring_sample import ScoringSample, text_response
from keju.text import unrepeated_share
from keju.texts import _, in_english

WITHOUT_ANSWER = frozenset({"failed", "filtered"})
"""The statuses of responses that are worth the worst value of each metric."""

LONGEST = 200_000
"""Responses of more characters are not encoded: no answer is so long, and each takes minutes."""


class EncoderRequest(NamedTuple):
    """A score whose value an encoder computes; of an unclear one also that of the reference."""

    score: Score
    pair: Pair
    value_beside: float | None
    unclear: bool


def encoder_request(
    sample: ScoringSample, metric: Metric, score: Score, *, unclear: bool
) -> EncoderRequest:
    """The request for the value of a metric with an encoder.

    Raises:
        UndefinedMetricError: it has no value; the reason is in it.
    """
    candidate, reference = metric.prepare.inputs(sample)
    if len(candidate) > LONGEST:
        raise TooLongError(_("too long to encode: {:,} characters", len(candidate)))
    second_value = None
    if metric.beside:
        second_metric = metric_of(metric.protocol, metric.benchmark, metric.form, metric.beside)
        second_value = second_metric.measure(sample).value if second_metric else None
    return EncoderRequest(score, (candidate, reference), second_value, unclear)


def encode_scores(
    encoders: Encoders,
    metric: Metric,
    requests: Sequence[EncoderRequest],
    items: Iterable[Item] = (),
) -> Iterator[Score]:
    """The scores of one metric in one task with their values, or the reasons why they have none.

    Args:
        encoders: the available encoders.
        metric: the metric.
        requests: the scores, of the same task and query.
        items: further items; the references of those of this task also set the floor.
    """
    pairs = [request.pair for request in requests]
    task_query = requests[0].score.task, requests[0].score.query
    references = chain(
        (reference for _candidate, reference in pairs),
        _references(metric, (item for item in items if (item.task, item.query) == task_query)),
    )
    identical = [(request.pair[1],) * 2 for request in requests if request.unclear]
    try:
        values: list[float | str] = metric.function(
            encoders, metric.encoder, [*pairs, *identical], references
        )
    except UndefinedMetricError as error:
        values = [english_problem(error)] * (len(pairs) + len(identical))
    values_if_right = iter(values[len(pairs) :])
    without_encoder = metric_signature(metric)
    signature = metric_signature(metric, encoders.signature(metric.encoder))
    for request, value in zip(requests, values[: len(pairs)], strict=True):
        second_value = request.value_beside
        parts = request.score.signature.removeprefix(without_encoder)
        score = replace(request.score, signature=signature + parts)
        value_if_right = next(values_if_right) if request.unclear else None
        if isinstance(value, str):
            yield replace(score, reason=in_english(value))
            continue
        joined = value if second_value is None else (value + second_value) / 2
        measured = mean(metric.worst if score.status in WITHOUT_ANSWER else joined)
        if_right = mean(value_if_right).stats if isinstance(value_if_right, float) else {}
        stats = score.stats | measured.stats
        yield replace(score, value=measured.value, stats=stats, if_right=if_right)


def _references(metric: Metric, items: Iterable[Item]) -> Iterator[str]:
    """The true answers of items, prepared as the metric has them."""
    for item in items:
        if has_reference(item):
            with suppress(UndefinedMetricError):
                yield metric.prepare.inputs(ScoringSample(item, text_response(item, "")))[1]


def first_token_cosine(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    """The cosine of mean first-token vectors."""
    return encoders.first_token_cosine(pairs, name=name)


def token_match_f1(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    """F1 by token matching."""
    return [score.f1 for score in encoders.bert_score(name, pairs)]


def token_match_f1_rescaled(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    """F1 by token matching, rescaled by the published baseline."""
    baseline = ENCODERS[name].baseline
    if baseline is None:
        raise UndefinedMetricError(_("{} has no published baseline for rescaling", name))
    return [rescale(score, baseline).f1 for score in encoders.bert_score(name, pairs)]


def token_match_f1_above_floor(
    encoders: Encoders, name: str, pairs: Sequence[Pair], references: Iterable[str]
) -> list[float]:
    """F1 by token matching, rescaled by the task's floor."""
    values = [score.f1 for score in encoders.bert_score(name, pairs)]
    return _above_floor(values, encoders.bert_score_floor(name, list(references)), pairs)


def sentence_cosine(
    encoders: Encoders, name: str, pairs: Sequence[Pair], _references: Iterable[str]
) -> list[float]:
    """The cosine of sentence vectors."""
    return encoders.sentence_cosine(pairs, name=name)


def sentence_cosine_above_floor(
    encoders: Encoders, name: str, pairs: Sequence[Pair], references: Iterable[str]
) -> list[float]:
    """The cosine of sentence vectors, rescaled by the task's floor."""
    values = encoders.sentence_cosine(pairs, empty=0.0, name=name)
    return _above_floor(values, encoders.sentence_floor(list(references), name=name), pairs)


def _above_floor(
    values: Sequence[float], floor: float | None, pairs: Sequence[Pair]
) -> list[float]:
    """Values above a floor, each cut by what the candidate repeats and its reference does not.

    An encoder hardly sees that a text is said three times over: each repeat finds its match again.
    """
    if floor is None:
        raise UndefinedMetricError(
            _("the floor needs two items of this task with different references")
        )
    return [
        above_floor(value, floor)
        * min(1.0, unrepeated_share(candidate) / unrepeated_share(reference))
        for value, (candidate, reference) in zip(values, pairs, strict=True)
    ]

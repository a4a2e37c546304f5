"""`score_answer`, `score_samples`: compute the scores of responses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from msgspec.structs import replace

from keju.encoders import Encoders
from keju.errors import PrerequisiteError, english_problem
from keju.items import Item, Protocol, Response, Score
from keju.metrics import UndefinedMetricError
from keju.metrics.base import TooLongError
from keju.scoring.decisions import DECIDED_FORMS
from keju.scoring.lookup import metric_names, metric_of, unavailable_reason
from keju.scoring.metric import Metric, MetricValue, mean
from keju.scoring.rankings import Gallery, add_to_gallery
from keju.scoring.scoring_sample import ScoringSample, json_kind
from keju.scoring.semantic import WITHOUT_ANSWER, EncoderRequest, encode_scores, encoder_request
from keju.scoring.signatures import metric_signature, reading_part, wording_part
from keju.texts import in_english

PROTOCOLS: tuple[Protocol, ...] = ("official", "strict")
"""The protocols that every table shows side by side."""

STORED: tuple[Protocol, ...] = (*PROTOCOLS, "with-reasoning")
"""The protocols under which a run is scored by default."""


def score_answer(
    item: Item, response: Response, protocols: Sequence[Protocol] = PROTOCOLS
) -> list[Score]:
    """Compute the scores of one response: one for each metric of the item's query.

    A metric that cannot be computed has a score without a value, with the reason. A response that
    failed or was filtered gets the worst value of each metric.

    Raises:
        DataError: the item's task or query is not in the catalogue.
    """
    return score_samples([ScoringSample(item, response)], protocols)


def score_samples(
    samples: Iterable[ScoringSample],
    protocols: Sequence[Protocol] = PROTOCOLS,
    encoders: Encoders | None = None,
) -> list[Score]:
    """The scores of `iter_scores`, all in memory."""
    return list(iter_scores(samples, protocols, encoders))


def iter_scores(
    samples: Iterable[ScoringSample],
    protocols: Sequence[Protocol] = PROTOCOLS,
    encoders: Encoders | None = None,
    items: Iterable[Item] = (),
) -> Iterator[Score]:
    """Compute the scores of many samples; metrics with encoders are computed for all in one batch.

    Scores of metrics with encoders follow all others, and then those of galleries: the samples of
    one gallery form one ranking. Only these scores and the answers of galleries are in memory.

    Args:
        samples: items with their responses.
        protocols: the protocols to score under.
        encoders: the available encoders. Default: only those that need no weights.
        items: further items, which are iterated several times. Their references also set the floors
            of metrics with encoders, so that the floors do not depend on which items have a
            response yet.
    """
    encoders = encoders or Encoders({})
    galleries: dict[tuple[object, ...], Gallery] = {}
    waiting: dict[tuple[Metric, str, str], list[EncoderRequest]] = {}
    metrics_of_query: _MetricsOfQuery = {}
    for sample in samples:
        if sample.response.candidate:
            add_to_gallery(galleries, sample)
            continue
        for protocol in protocols:
            view = sample.with_reasoning if protocol == "with-reasoning" else sample
            for name, metric in _find_metrics(sample, protocol, metrics_of_query):
                score = _score(view, protocol, name, metric, encoders)
                if isinstance(score, Score):
                    yield score
                elif metric is not None:
                    query = (metric, sample.item.task, sample.item.query)
                    waiting.setdefault(query, []).append(score)
    for (metric, _task, _query), requests in waiting.items():
        yield from encode_scores(encoders, metric, requests, items)
    of_galleries = [protocol for protocol in protocols if protocol in PROTOCOLS]
    for gallery, protocol in product(galleries.values(), of_galleries):
        for name, metric in _find_metrics(gallery, protocol, metrics_of_query):
            score = _score(gallery, protocol, name, metric, encoders)
            assert isinstance(score, Score)
            yield score


_MetricsOfQuery = dict[tuple[str, str, Protocol], list[tuple[str, Metric | None]]]


def _find_metrics(
    sample: ScoringSample, protocol: Protocol, metrics_of_query: _MetricsOfQuery
) -> list[tuple[str, Metric | None]]:
    """The metrics of a sample's query, looked up once for all samples of it."""
    benchmark, query = sample.item.benchmark, (sample.item.task, sample.item.query, protocol)
    if query not in metrics_of_query:
        names: tuple[str, ...] = ()
        if protocol != "with-reasoning" or sample.counts_reasoning():
            of_pairs = isinstance(sample, Gallery)
            names = metric_names(sample.query, protocol, benchmark, of_pairs=of_pairs)
        metrics_of_query[query] = [
            (name, metric_of(protocol, benchmark, sample.form, name)) for name in names
        ]
    return metrics_of_query[query]


def _score(
    sample: ScoringSample,
    protocol: Protocol,
    name: str,
    metric: Metric | None,
    encoders: Encoders,
) -> Score | EncoderRequest:
    """The score of one metric, or a request for its value if an encoder computes it."""
    reason = _unscored_reason(sample, protocol, name, metric)
    if metric is None or reason:
        return _record(sample, protocol, name, reason=reason)
    if metric.encoder and (missing := encoders.unavailable_reason(metric.encoder)):
        return _record(sample, protocol, name, reason=missing)
    signature = metric_signature(metric)
    # `official` has no range: its values are those of the papers, which print single numbers.
    unclear = protocol == "strict" and sample.form in DECIDED_FORMS and sample.read_by == "unclear"
    if_right: Mapping[str, float] = {}
    try:
        if sample.defect.too_long:
            metric_value, reason = _value_of_empty(sample, metric), sample.defect.too_long
        elif metric.encoder:
            score = _record(sample, protocol, name, signature)
            return encoder_request(sample, metric, score, unclear=unclear)
        else:
            metric_value = metric.measure(sample)
            if_right = metric.measure_if_right(sample).stats if unclear else {}
    except TooLongError as error:
        # Without a value the response would not count in the mean: a model must not gain by length.
        metric_value, reason = _value_of_empty(sample, metric), english_problem(error)
    except (UndefinedMetricError, PrerequisiteError) as error:
        return _record(sample, protocol, name, reason=english_problem(error))
    if sample.response.status in WITHOUT_ANSWER:
        metric_value = _as_failed(metric_value, metric)
    if metric.encoder:
        signature = metric_signature(metric, encoders.signature(metric.encoder))
    return _record(sample, protocol, name, signature, metric_value, if_right, reason=reason)


def _unscored_reason(
    sample: ScoringSample, protocol: Protocol, name: str, metric: Metric | None
) -> str:
    """Why a sample has no value of a metric, whatever the response is; empty where it has one."""
    defect = sample.defect
    # The authors' script compares responses with an empty ``Answer_Simplified`` too. Scores of a
    # file in the authors' form do the same, but for `strict`.
    needs_reference = protocol == "strict" or not defect.in_file
    reason = defect.answer or (sample.missing_reference if needs_reference else "")
    if not reason and metric is None:
        reason = unavailable_reason(name)
    reason = reason or defect.response
    if reason or protocol != "strict" or not sample.response.not_text or sample.response.text:
        return reason
    # A list is scored by the texts in it, and a response with both (of a server) by its text.
    value = json.loads(sample.response.not_text)
    return "" if isinstance(value, list) else f"Response is {json_kind(value)}"


def _value_of_empty(sample: ScoringSample, metric: Metric) -> MetricValue:
    """The value of an empty response, which one that is too long gets (our reading)."""
    if metric.encoder:
        return mean(metric.worst)
    empty = replace(sample.response, text="", not_text="")
    return _as_failed(metric.measure(ScoringSample(sample.item, empty, sample.defect)), metric)


def _as_failed(metric_value: MetricValue, metric: Metric) -> MetricValue:
    """The worst value of a metric. The authors' scripts can give an empty answer another value."""
    if metric_value.value == metric.worst:
        return metric_value
    denominator = metric_value.stats["denominator"]
    stats = metric_value.stats | {"numerator": metric.worst * denominator}
    return MetricValue(metric.worst, stats)


def _record(
    sample: ScoringSample,
    protocol: Protocol,
    metric: str,
    signature: str = "",
    metric_value: MetricValue | None = None,
    if_right: Mapping[str, float] = {},
    *,
    reason: str = "",
) -> Score:
    parts = sample.pairs_part + reading_part(protocol, sample.form, sample.decisions)
    parts += wording_part(sample.response.wording) + sample.signature_part
    with_answer = protocol == "strict" and sample.form in DECIDED_FORMS and not reason
    return Score(
        **sample.score_fields,
        protocol=protocol,
        metric=metric,
        value=None if metric_value is None else metric_value.value,
        reason=in_english(reason),
        extracted=(sample.answer or "") if with_answer else "",
        extracted_from=sample.reading.origin if protocol == "strict" else "",
        stats={} if metric_value is None else metric_value.stats,
        read_by=sample.read_by if with_answer else "",
        if_right=dict(if_right),
        signature=signature + parts if signature else "",
    )

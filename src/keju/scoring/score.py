"""`score_answer`, `score_samples`: compute the scores of responses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from msgspec.structs import replace

from keju.encoders import Encoders
from keju.errors import PrerequisiteError, english_problem
from keju.items import Item, Protocol, Response, Score
from keju.metrics import UndefinedMetricError
from keju.metrics.base import TooLongError
from keju.scoring.decisions import DECIDED_FORMS
from keju.scoring.lookup import find_metrics, metric_names, unavailable_reason
from keju.scoring.metric import Metric, MetricValue, mean
from keju.scoring.rankings import Galleries, Gallery
from keju.scoring.scoring_sample import ScoringSample, json_kind
from keju.scoring.semantic import Batch
from keju.scoring.signatures import metric_signature, reading_part, wording_part
from keju.texts import in_english

PROTOCOLS: tuple[Protocol, ...] = ("official", "strict")
"""The protocols that every table shows side by side."""

STORED: tuple[Protocol, ...] = (*PROTOCOLS, "with-reasoning")
"""The protocols under which a run is scored by default."""

_WITHOUT_ANSWER = frozenset({"failed", "filtered"})


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
    items: Sequence[Item] = (),
) -> list[Score]:
    """Compute the scores of many samples; metrics with encoders are computed for all in one batch.

    Scores of metrics with encoders follow all others, and then those of galleries: the samples of
    one gallery form one ranking.

    Args:
        samples: items with their responses.
        protocols: the protocols to score under.
        encoders: the available encoders. Default: only those that need no weights.
        items: further items. Their references also set the floors of metrics with encoders, so that
            the floors do not depend on which items have a response yet.
    """
    return list(iter_scores(samples, protocols, encoders, items))


def iter_scores(
    samples: Iterable[ScoringSample],
    protocols: Sequence[Protocol] = PROTOCOLS,
    encoders: Encoders | None = None,
    items: Iterable[Item] = (),
) -> Iterator[Score]:
    """The scores of `score_samples`, as they are computed.

    Only scores of metrics with encoders and the answers of galleries are in memory.

    Args:
        samples: as `score_samples`.
        protocols: as `score_samples`.
        encoders: as `score_samples`.
        items: as `score_samples`; they can be iterated several times.
    """
    batch = Batch(encoders or Encoders({}), items)
    galleries, metrics = Galleries(), _MetricLookup()
    waiting: list[Score] = []
    for sample in samples:
        if sample.response.candidate:
            galleries.add(sample)
            continue
        for protocol, view in _views(sample, protocols):
            for name, metric in metrics(sample, protocol):
                place = len(waiting)
                score = _score(view, protocol, name, metric, batch, place)
                if batch.last == place:
                    waiting.append(score)
                else:
                    yield score
    for place, result, if_right in batch.values():
        score = waiting[place]
        if isinstance(result, str):
            yield replace(score, reason=in_english(result))
        else:
            stats = score.stats | result.stats
            yield replace(score, value=result.value, stats=stats, if_right=dict(if_right))
    for gallery, protocol in product(galleries, protocols):
        for name, metric in metrics(gallery, protocol) if protocol in PROTOCOLS else ():
            yield _score(gallery, protocol, name, metric, batch, len(waiting))


def _views(
    sample: ScoringSample, protocols: Sequence[Protocol]
) -> Iterator[tuple[Protocol, ScoringSample]]:
    """The sample as each protocol sees it; `with-reasoning` sees none without such reasoning."""
    for protocol in protocols:
        if protocol != "with-reasoning":
            yield protocol, sample
        elif sample.counts_reasoning():
            yield protocol, sample.with_reasoning


class _MetricLookup:
    """The metrics of each query and protocol, each looked up only once."""

    def __init__(self) -> None:
        self._metrics: dict[tuple[str, str, Protocol], list[tuple[str, Metric | None]]] = {}

    def __call__(
        self, sample: ScoringSample, protocol: Protocol
    ) -> list[tuple[str, Metric | None]]:
        benchmark, query = sample.item.benchmark, (sample.item.task, sample.item.query, protocol)
        if query not in self._metrics:
            find = find_metrics(protocol, benchmark, sample.form)
            of_pairs = isinstance(sample, Gallery)
            names = metric_names(sample.query, protocol, benchmark, of_pairs=of_pairs)
            self._metrics[query] = [(name, find(name)) for name in names]
        return self._metrics[query]


def _score(
    sample: ScoringSample,
    protocol: Protocol,
    name: str,
    metric: Metric | None,
    batch: Batch,
    place: int,
) -> Score:
    """The score of one metric; one that needs an encoder is added to the batch by its place."""
    reason = sample.defect.answer or _without_reference(sample, protocol)
    if not reason and metric is None:
        reason = unavailable_reason(name)
    reason = reason or sample.defect.response or _not_text_reason(sample, protocol)
    if metric is None or reason:
        return _record(sample, protocol, name, reason=reason)
    try:
        if sample.defect.too_long:
            return _too_long(sample, protocol, metric, batch, sample.defect.too_long)
        if metric.encoder:
            batch.add(place, sample, metric, unclear=_is_unclear(sample, protocol))
            return _record(sample, protocol, name, batch.signature(metric))
        metric_value = metric.measure(sample)
        unclear = _is_unclear(sample, protocol)
        if_right = metric.measure_if_right(sample).stats if unclear else None
    except TooLongError as error:
        # Without a value the response would not count in the mean: a model must not gain by length.
        return _too_long(sample, protocol, metric, batch, english_problem(error))
    except (UndefinedMetricError, PrerequisiteError) as error:
        return _record(sample, protocol, name, reason=english_problem(error))
    if sample.response.status in _WITHOUT_ANSWER:
        metric_value = _as_failed(metric_value, metric)
    signature = metric_signature(metric)
    return _record(sample, protocol, name, signature, metric_value=metric_value, if_right=if_right)


def _is_unclear(sample: ScoringSample, protocol: Protocol) -> bool:
    """Whether the value is the lower end of a range: `strict` could not read the answer.

    `official` has no range: its values are those of the papers, which print single numbers.
    """
    return protocol == "strict" and sample.form in DECIDED_FORMS and sample.read_by == "unclear"


def _too_long(
    sample: ScoringSample, protocol: Protocol, metric: Metric, batch: Batch, why: str
) -> Score:
    """A score with the value of an empty response, and the reason (our reading)."""
    if metric.encoder:
        metric_value, signature = mean(metric.worst), batch.signature(metric)
    else:
        empty = ScoringSample(
            sample.item, replace(sample.response, text="", not_text=""), sample.defect
        )
        metric_value = _as_failed(metric.measure(empty), metric)
        signature = metric_signature(metric)
    return _record(sample, protocol, metric.name, signature, metric_value=metric_value, reason=why)


def _without_reference(sample: ScoringSample, protocol: Protocol) -> str:
    """The reason why an item has no reference; empty if it has one.

    The authors' script compares responses with an empty ``Answer_Simplified`` too. Scores of a file
    in the authors' form do the same, but for `strict`.
    """
    if sample.defect.in_file and protocol != "strict":
        return ""
    return sample.missing_reference


def _not_text_reason(sample: ScoringSample, protocol: Protocol) -> str:
    """The reason why `strict` does not score a response that is not text; empty if it does.

    A list is scored by the texts in it. A response with both (of a server) is scored by its text.
    """
    if protocol != "strict" or not sample.response.not_text or sample.response.text:
        return ""
    value = json.loads(sample.response.not_text)
    return "" if isinstance(value, list) else f"Response is {json_kind(value)}"


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
    *,
    metric_value: MetricValue | None = None,
    if_right: dict[str, float] | None = None,
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
        if_right=if_right or {},
        signature=signature + parts if signature else "",
    )

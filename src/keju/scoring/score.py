"""From items and responses to scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from keju.definitions import missing_reference
from keju.encoders import Encoders
from keju.errors import PrerequisiteError, english_problem
from keju.items import Item, Protocol, Response, Score
from keju.metrics import UndefinedMetricError
from keju.metrics.base import TooLongError
from keju.scoring.lookup import metric_names, metric_of, unavailable_reason
from keju.scoring.metric import EncoderMetric, Metric
from keju.scoring.metric_value import CUT, MetricValue, mean
from keju.scoring.rankings import Galleries
from keju.scoring.scoring_sample import ScoringSample, json_kind
from keju.scoring.semantic import Batch
from keju.scoring.signatures import metric_signature, wording_part

PROTOCOLS: tuple[Protocol, ...] = ("official", "strict")

_WITHOUT_ANSWER = frozenset({"failed", "filtered"})
_LISTED = frozenset({
    "letter", "short", "entities", "yes-no", "number", "boxes", "probability",
})  # fmt: skip


def score_answer(
    item: Item, response: Response, protocols: Sequence[Protocol] = PROTOCOLS
) -> list[Score]:
    """All metrics that the catalogue names for an item, of one response.

    A metric without a value is there too, unscored, with the reason. A response that failed or was
    filtered has each metric's worst value.

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
    """All metrics of many cases; what needs an encoder is computed for all of them together.

    The cases of one gallery make one ranking, whose scores come after all others.

    Args:
        samples: items with their responses.
        protocols: which of the two.
        encoders: those that are there; without, only what an installed package brings along.
        items: further items whose true answers set the floors of encoders' metrics, so that they
            don't depend on which items have a response yet.
    """
    batch = Batch(encoders or Encoders({}), items)
    galleries, known = Galleries(), _Known()
    scores: list[Score] = []
    for sample in samples:
        if sample.response.candidate:
            galleries.add(sample)
            continue
        for protocol in protocols:
            for name, metric in known(sample, protocol):
                scores.append(_score(sample, protocol, name, metric, batch, len(scores)))
    for place, found in batch.values():
        if isinstance(found, str):
            scores[place] = replace(scores[place], reason=found)
        else:
            stats = scores[place].stats | found.stats
            scores[place] = replace(scores[place], value=found.value, stats=stats)
    return scores + galleries.scores(tuple(protocols))


class _Known:
    """The metrics of each query under each protocol, looked up once for one scoring."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, Protocol], list[tuple[str, Metric | None]]] = {}

    def __call__(
        self, sample: ScoringSample, protocol: Protocol
    ) -> list[tuple[str, Metric | None]]:
        benchmark, place = sample.item.benchmark, (sample.item.task, sample.item.query, protocol)
        if place not in self._found:
            self._found[place] = [
                (name, metric_of(protocol, benchmark, sample.form, name))
                for name in metric_names(sample.query, protocol, benchmark)
            ]
        return self._found[place]


def _score(
    sample: ScoringSample,
    protocol: Protocol,
    name: str,
    metric: Metric | None,
    batch: Batch,
    place: int,
) -> Score:
    """One metric of one case; what an encoder computes is noted in the batch, by its place."""
    reason = sample.defect.answer or _without_reference(sample, protocol)
    if not reason and metric is None:
        reason = unavailable_reason(name)
    reason = reason or sample.defect.response or _unread(sample, protocol)
    if metric is None or reason:
        return _record(sample, protocol, name, reason=reason)
    try:
        if sample.defect.too_long:
            return _too_long(sample, metric, batch, sample.defect.too_long)
        if isinstance(metric, EncoderMetric):
            batch.add(place, sample, metric)
            return _record(sample, protocol, name, batch.signature(metric))
        measured = metric.measure(sample)
    except TooLongError as error:
        # A model must not gain by babbling: without a value the answer would leave the mean.
        return _too_long(sample, metric, batch, english_problem(error))
    except (UndefinedMetricError, PrerequisiteError) as error:
        return _record(sample, protocol, name, reason=english_problem(error))
    if sample.response.status in _WITHOUT_ANSWER:
        measured = _failed(measured, metric)
    return _record(sample, protocol, name, metric_signature(metric), measured=measured)


def _too_long(sample: ScoringSample, metric: Metric, batch: Batch, why: str) -> Score:
    """The worst value: what an empty answer is worth, with the reason kept (our reading)."""
    if isinstance(metric, EncoderMetric):
        measured, signed = mean(metric.worst), batch.signature(metric)
    else:
        empty = ScoringSample(
            sample.item, replace(sample.response, text="", not_text=""), sample.defect
        )
        measured, signed = _failed(metric.measure(empty), metric), metric_signature(metric)
    return _record(sample, metric.protocol, metric.name, signed, measured=measured, reason=why)


def _without_reference(sample: ScoringSample, protocol: Protocol) -> str:
    """Why there is nothing to score against; `official` reads a file as the authors' script does.

    Their script compares with an empty ``Answer_Simplified``, so `official` scores of a file in
    the authors' form do as well.
    """
    if sample.defect.in_file and protocol == "official":
        return ""
    return missing_reference(sample.item)


def _unread(sample: ScoringSample, protocol: Protocol) -> str:
    """Why `strict` does not read a response that is not text.

    A list is read as its texts, and what has a text too (an answer of a server) as that.
    """
    if protocol == "official" or not sample.response.not_text or sample.response.text:
        return ""
    value = json.loads(sample.response.not_text)
    return "" if isinstance(value, list) else f"Response is {json_kind(value)}"


def _failed(measured: MetricValue, metric: Metric) -> MetricValue:
    """The worst value, which for an empty answer is not always what the script computes."""
    if measured.value == metric.worst:
        return measured
    stats = measured.stats | {"numerator": metric.worst * measured.stats["denominator"]}
    return MetricValue(metric.worst, stats)


def _record(
    sample: ScoringSample,
    protocol: Protocol,
    metric: str,
    signed: str = "",
    *,
    measured: MetricValue | None = None,
    reason: str = "",
) -> Score:
    response, item = sample.response, sample.item
    read_out = protocol == "strict" and sample.form in _LISTED and not reason
    return Score(
        key=response.key,
        item=item.id,
        model=response.model,
        benchmark=item.benchmark,
        task=item.task,
        protocol=protocol,
        metric=metric,
        value=None if measured is None else measured.value,
        query=item.query,
        setting=response.setting,
        script=response.script,
        wording=response.wording,
        round=response.round,
        group=item.group,
        status=response.status,
        verdict=sample.verdict,
        reason=reason,
        extracted=(sample.extracted.answer or "") if read_out else "",
        extracted_from=sample.extracted.origin if protocol == "strict" else "",
        stats=({CUT: 1.0} if sample.defect.cut and protocol == "official" else {})
        | ({} if measured is None else measured.stats),
        signature=signed + wording_part(response.wording) if signed else "",
    )


def models_of(scores: Iterable[Score]) -> list[str]:
    """The models in a list of scores, in order of first appearance."""
    return list(dict.fromkeys(score.model for score in scores))

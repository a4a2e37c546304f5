"""Tasks of pairs: the responses to all pairs of an item make one ranking of its candidates.

A request shows two images, and a metric measures how early the right candidates come. Responses
are read one after the other and only their answers are kept, so a hundred thousand of them take
little memory.
"""

from __future__ import annotations

from typing import NamedTuple

from keju.definitions import missing_reference
from keju.definitions.pair_forms import reduced_form
from keju.errors import english_problem
from keju.items import PromptVariant, Protocol, Score, get_group, variant_of
from keju.metrics import UndefinedMetricError
from keju.scoring.gallery import WITHOUT_ANSWER, Gallery
from keju.scoring.lookup import metric_names, metric_of, unavailable_reason
from keju.scoring.metric import Metric
from keju.scoring.metric_value import mean
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.signatures import metric_signature, reading_part, wording_part


class GalleryKey(NamedTuple):
    """The model, item, prompt variant and round whose answers make one ranking."""

    model: str
    task: str
    query: str
    item: str
    variant: PromptVariant
    round: int


class Galleries:
    """The galleries of a run's tasks of pairs: samples are added, then all are scored."""

    def __init__(self) -> None:
        self._found: dict[GalleryKey, Gallery] = {}

    def add(self, sample: ScoringSample) -> None:
        """Add the answer to one pair."""
        item, response = sample.item, sample.response
        key = GalleryKey(
            response.model, item.task, item.query, item.id, variant_of(response), response.round
        )
        if key not in self._found:
            self._found[key] = Gallery(item)
        self._found[key].add(sample)

    def scores(self, protocols: tuple[Protocol, ...]) -> list[Score]:
        """All metrics of every gallery."""
        return [
            _score(key, gallery, protocol, metric)
            for key, gallery in self._found.items()
            for protocol in protocols
            for metric in metric_names(
                gallery.query, protocol, gallery.item.benchmark, of_pairs=True
            )
        ]


def _declared(gallery: Gallery, protocol: Protocol, metric: str) -> Metric:
    """The declaration of a metric of one gallery.

    Raises:
        UndefinedMetricError: the item has no reference, or the metric is not declared.
    """
    if reason := missing_reference(gallery.item):
        raise UndefinedMetricError(reason)
    found = metric_of(protocol, gallery.item.benchmark, gallery.query.form, metric)
    if found is None:
        raise UndefinedMetricError(unavailable_reason(metric))
    return found


def _score(key: GalleryKey, gallery: Gallery, protocol: Protocol, metric: str) -> Score:
    item, measured, reason, signed = gallery.item, None, "", ""
    if_right: dict[str, float] = {}
    strict = protocol == "strict"
    try:
        declared = _declared(gallery, protocol, metric)
        value = declared.measure(gallery).value
        # Where every request failed all candidates tie, which would earn what chance earns.
        measured = mean(
            declared.worst if gallery.status in WITHOUT_ANSWER else value, **gallery.stats
        )
        if strict and gallery.read_by == "unclear":
            if_right = mean(declared.measure(gallery.if_right()).value, **gallery.stats).stats
        signed = metric_signature(declared)
        if form := reduced_form(item):
            signed += f"|pairs:{form}"
        signed += reading_part(protocol, gallery.query.form, gallery.decisions)
        signed += wording_part(key.variant.wording)
    except UndefinedMetricError as error:
        reason = english_problem(error)
    has_answer = strict and not reason
    return Score(
        key=gallery.key,
        item=item.id,
        model=key.model,
        benchmark=item.benchmark,
        task=item.task,
        protocol=protocol,
        metric=metric,
        value=None if measured is None else measured.value,
        query=item.query,
        setting=key.variant.setting,
        script=key.variant.script,
        wording=key.variant.wording,
        round=key.round,
        group=get_group(item),
        status=gallery.status,
        verdict=gallery.verdict,
        reason=reason,
        extracted=gallery.best if has_answer else "",
        extracted_from=f"answers to {gallery.candidates:,} pairs" if has_answer else "",
        stats={} if measured is None else measured.stats,
        signature=signed,
        read_by=gallery.read_by if has_answer else "",
        if_right=if_right,
    )

"""Formulas as a benchmark's paper prints them, where `official` follows the authors' script.

They are named variants with signatures of their own; no mean of a protocol takes them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from statistics import fmean
from typing import NamedTuple

from msgspec.structs import replace

from keju.encoders import Encoders
from keju.errors import english_problem
from keju.items import (
    AnswerForm,
    PromptScript,
    PromptVariant,
    Record,
    Score,
    Setting,
    variant_of,
)
from keju.metrics import UndefinedMetricError
from keju.metrics.base import TooLongError
from keju.scoring.decisions import DECIDED_FORMS
from keju.scoring.metric import Metric, Preparation, load_declared
from keju.scoring.metric_value import mean
from keju.scoring.scoring_sample import ScoringSample
from keju.scoring.semantic import Batch
from keju.scoring.signatures import reading_part, signature

_AS_PRINTED = "as-printed"


class Variant(NamedTuple):
    """A formula that a benchmark's paper prints, beside the official metric of that name."""

    name: str
    benchmark: str
    form: AnswerForm
    beside: str
    prepare: Preparation
    function: Callable[[str, str], float]


class EncodedVariant(NamedTuple):
    """A formula that needs an encoder, beside the official metric of that name."""

    metric: Metric
    beside: str


_VARIANTS: list[Variant] = []
_ENCODED: list[EncodedVariant] = []


def register_variant(variant: Variant) -> None:
    """Add a formula of a benchmark that keju ships."""
    _VARIANTS.append(variant)


def register_encoded_variant(metric: Metric, beside: str) -> None:
    """Add a formula that needs an encoder."""
    _ENCODED.append(EncodedVariant(metric, beside))


class VariantResult(Record, frozen=True, kw_only=True):
    """The mean of one formula over one task's items in a prompt variant, failures counted as 0."""

    task: str
    setting: Setting
    script: PromptScript = "released"
    wording: str = "released"
    metric: str
    beside: str
    value: float | None
    items: int
    signature: str

    @property
    def variant(self) -> PromptVariant:
        """The prompt variant of all its responses."""
        return PromptVariant(self.setting, self.script, self.wording)


def variants_of(sample: ScoringSample) -> list[Variant]:
    """The paper's formulas for the official metrics of a sample."""
    load_declared()
    place = sample.item.benchmark, sample.form
    return [
        each
        for each in _VARIANTS
        if (each.benchmark, each.form) == place and each.beside in sample.query.official
    ]


def variant_scores(sample: ScoringSample) -> list[Score]:
    """One score for each of the paper's formulas that a case has."""
    return [_score(sample, each) for each in variants_of(sample)]


def collect_variant_scores(
    samples: Iterable[ScoringSample], scores: list[Score], encoders: Encoders | None = None
) -> Iterator[ScoringSample]:
    """Yield the samples unchanged, and add the scores of their variants to the list.

    Those that need an encoder get their values after the last sample, all in one batch.
    """
    load_declared()
    batch = Batch(encoders or Encoders({}))
    for sample in samples:
        scores += variant_scores(sample)
        for metric, beside in _ENCODED:
            of = metric.benchmark, metric.form
            if of == (sample.item.benchmark, sample.form) and beside in sample.query.official:
                scores.append(_waiting_score(sample, metric, batch, len(scores)))
        yield sample
    for place, result, _if_right in batch.values():
        if isinstance(result, str):
            scores[place] = replace(scores[place], reason=result, signature="")
        else:
            scores[place] = replace(scores[place], value=result.value, stats=result.stats)


def variant_results(scores: Iterable[Score]) -> list[VariantResult]:
    """The mean over each task's items, of one model's scores; in the order of the scores."""
    groups: dict[tuple[str, PromptVariant, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.task, variant_of(score), score.metric), []).append(score)
    load_declared()
    beside = {each.name: each.beside for each in _VARIANTS}
    beside |= {each.metric.name: each.beside for each in _ENCODED}
    found = []
    for (task, variant, metric), group in groups.items():
        values = [score.value for score in group if score.value is not None]
        found.append(
            VariantResult(
                task=task,
                setting=variant.setting,
                script=variant.script,
                wording=variant.wording,
                metric=metric,
                beside=beside[metric],
                value=fmean(values) if values else None,
                items=len(group),
                signature=next((score.signature for score in group if score.signature), ""),
            )
        )
    return found


def _score(sample: ScoringSample, variant: Variant) -> Score:
    response = sample.response
    value, signed, reason = None, "", sample.defect.response or sample.defect.answer
    if not reason:
        try:
            value = variant.function(*variant.prepare.inputs(sample))
            text = variant.prepare.name
            signed = signature("official", variant.name, text, label=_AS_PRINTED)
            if variant.form in DECIDED_FORMS:
                signed += reading_part("strict", variant.form, sample.decisions)
        except UndefinedMetricError as error:
            reason = english_problem(error)
    if value is not None and response.status in {"failed", "filtered"}:
        value = 0.0
    return _official_score(sample, variant.name, value, reason, signed)


def _official_score(
    sample: ScoringSample, name: str, value: float | None, reason: str, signed: str
) -> Score:
    return Score(
        **sample.score_fields,
        protocol="official",
        metric=name,
        value=value,
        reason=reason,
        stats={} if value is None else mean(value).stats,
        signature=signed,
    )


def _waiting_score(sample: ScoringSample, metric: Metric, batch: Batch, place: int) -> Score:
    """The score of a formula that needs an encoder, which the batch will complete by its place."""
    reason, signed, value = sample.defect.response or sample.defect.answer, "", None
    try:
        if not reason:
            batch.add(place, sample, metric)
            signed = batch.signature(metric).replace("|official|", f"|{_AS_PRINTED}|")
    except TooLongError as error:
        reason, value = english_problem(error), metric.worst
        signed = batch.signature(metric).replace("|official|", f"|{_AS_PRINTED}|")
    except UndefinedMetricError as error:
        reason = english_problem(error)
    return _official_score(sample, metric.name, value, reason, signed)

"""MCS-Bench's formulas as its paper prints them, beside what its script computes.

They are named variants with signatures of their own; no mean of a protocol takes them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from statistics import fmean
from typing import NamedTuple

from keju.items import (
    AnswerForm,
    PromptScript,
    PromptVariant,
    Record,
    Score,
    Setting,
    variant_of,
)
from keju.metrics import PAPER_FORMS, UndefinedMetricError
from keju.scoring.adjudicated import ACC
from keju.scoring.case import Case
from keju.scoring.declared import mcs_texts
from keju.scoring.measured import mean
from keju.scoring.signatures import signature
from keju.text import Pair


class Variant(NamedTuple):
    """A formula of the paper: the official metric that it stands beside, and the texts it takes."""

    name: str
    beside: str
    pair: Callable[[Case], Pair]
    text: str


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


_BLEU_CLEANED = Variant("BLEU_eq5", "BLEU", mcs_texts.cleaned_with_answer, "clean>convert>chars")
_OF_TEXT = (
    Variant("BLEU_eq5", "BLEU", mcs_texts.converted_pair, "convert>chars"),
    Variant("ROUGE-1_recall", "ROUGE-1", mcs_texts.unspaced_pair, "convert>chars"),
    Variant("ROUGE-2_recall", "ROUGE-2", mcs_texts.unspaced_pair, "convert>chars"),
    Variant("ROUGE-L_beta1.2", "ROUGE-L", mcs_texts.unspaced_pair, "convert>chars"),
    Variant("ANLS_eq7", "ANLS", mcs_texts.converted_pair, "convert"),
    Variant("ANLS_biten", "ANLS", mcs_texts.converted_pair, "convert"),
)
_VARIANTS: dict[AnswerForm, tuple[Variant, ...]] = {
    "transcription": (_BLEU_CLEANED,),
    "text": _OF_TEXT,
}


def variants_of(case: Case) -> list[Variant]:
    """The paper's formulas that stand beside the official metrics of a case."""
    if case.item.benchmark != "MCS-Bench":
        return []
    return [each for each in _VARIANTS.get(case.form, ()) if each.beside in case.query.official]


def variant_scores(case: Case) -> list[Score]:
    """One score for each of the paper's formulas that a case has."""
    return [_score(case, each) for each in variants_of(case)]


def watched(cases: Iterable[Case], scores: list[Score]) -> Iterator[Case]:
    """The cases as they come, their variants' scores added to the list as they pass."""
    for case in cases:
        scores += variant_scores(case)
        yield case


def variant_results(scores: Iterable[Score]) -> list[VariantResult]:
    """The mean over each task's items, of one model's scores; in the order of the scores."""
    groups: dict[tuple[str, PromptVariant, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.task, variant_of(score), score.metric), []).append(score)
    beside = {each.name: each.beside for forms in _VARIANTS.values() for each in forms}
    beside[ACC] = "Acc"
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


def _score(case: Case, variant: Variant) -> Score:
    response, item = case.response, case.item
    value, signed, reason = None, "", case.flaw.response or case.flaw.answer
    if not reason:
        try:
            value = PAPER_FORMS[variant.name](*variant.pair(case))
            signed = signature("official", variant.name, variant.text, label="as-printed")
        except UndefinedMetricError as error:
            reason = str(error)
    if value is not None and response.status in {"failed", "filtered"}:
        value = 0.0
    return Score(
        key=response.key,
        item=item.id,
        model=response.model,
        benchmark=item.benchmark,
        task=item.task,
        protocol="official",
        metric=variant.name,
        value=value,
        query=item.query,
        setting=response.setting,
        script=response.script,
        wording=response.wording,
        round=response.round,
        group=item.group,
        status=response.status,
        verdict=case.verdict,
        reason=reason,
        stats={} if value is None else mean(value).stats,
        signature=signed,
    )

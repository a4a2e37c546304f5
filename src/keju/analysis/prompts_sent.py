"""The prompts of an item as sent to its models: in their script, wording and setting."""

from __future__ import annotations

from typing import NamedTuple

from keju.analysis.asked_items import AskedItem
from keju.analysis.run_set import PEOPLE, ModelResponses, RunSet, reader_of_responses
from keju.definitions import prompt_of
from keju.errors import KejuError
from keju.items import OWN_READING, Item, PromptVariant
from keju.running.requests import request_for
from keju.running.selection import RequestVariant

READING = "〔…〕"
"""The replacement in a prompt for the transcription by the model itself or an engine."""


class _Sent(NamedTuple):
    """The parts of a request on which its prompt depends; `read` is whether a text is sent."""

    variant: PromptVariant
    boxes: str
    read: bool


_SENT = ("model", "answers", PEOPLE)


class PromptSent(NamedTuple):
    """A prompt and the prompt variants with it; `variants` is empty if it is common to all."""

    variants: str
    text: str


def prompts_sent(asked: AskedItem, run_set: RunSet) -> tuple[list[PromptSent], bool]:
    """The different prompts of an item, and whether any model was sent one.

    OCR engines and most baselines get only the image; if only they answered, the task's own prompt
    is returned.
    """
    found: dict[str, dict[str, None]] = {}
    prompts: dict[_Sent, str] = {}
    by_model = [run_set.by_model[name] for name in {answer.model: None for answer in asked.answers}]
    among = [model_responses.variant for model_responses in by_model]
    for model_responses in by_model:
        if model_responses.role in _SENT or model_responses.model.startswith("blind:"):
            boxes = _boxes(model_responses, run_set)
            label = " · ".join(filter(None, (model_responses.variant.label(among), boxes)))
            sent = _sent(model_responses, boxes)
            if sent not in prompts:
                prompts[sent] = _prompt(asked.item, sent)
            found.setdefault(prompts[sent], {})[label or "image"] = None
    if not found:
        return [PromptSent("", _build_released_prompt(asked.item))], False
    several = len(found) > 1
    return [
        PromptSent(", ".join(labels) if several else "", text) for text, labels in found.items()
    ], True


def _boxes(model_responses: ModelResponses, run_set: RunSet) -> str:
    """The box convention of a model's requests; empty for the benchmark's own."""
    run = next(run for run in run_set.runs if run.name == model_responses.run)
    return run.manifest.settings.get("boxes", "")


def _sent(model_responses: ModelResponses, boxes: str) -> _Sent:
    read = model_responses.variant.setting in OWN_READING or reader_of_responses(model_responses)
    return _Sent(model_responses.variant, boxes, bool(read))


def _prompt(item: Item, sent: _Sent) -> str:
    variant = RequestVariant(**sent.variant._asdict(), boxes=sent.boxes)
    try:
        return request_for(item, variant, READING if sent.read else None).prompt
    except KejuError:
        return _build_released_prompt(item)


def _build_released_prompt(item: Item) -> str:
    try:
        return prompt_of(item)
    except KejuError:
        return item.question

"""Who drafted an item, by the names that tools and models have."""

from __future__ import annotations

import pytest

from keju.items import Item, Provenance
from keju.models import drafted_by


def drafted(*tools: str, step: str = "draft") -> Item:
    past = [Provenance(step="images"), *(Provenance(step=step, tool=tool) for tool in tools)]
    review = Provenance(step="review", person="Wang", note="accepted")
    return Item(id="a", benchmark="MCS-Bench", task="T1", provenance=(*past, review))


@pytest.mark.parametrize(
    ("tool", "model"),
    [
        ("ppocr", "ppocr"),
        ("ppocr 1.4.4", "ppocr"),
        ("PPOCR (v5, server)", "ppocr"),
        ("ppocr", "ocr+llm:ppocr+openai:reader"),
        ("openai:reader", "ocr+llm:ppocr+openai:reader"),
        ("ocr+llm:tesseract+openai:reader", "openai:reader"),
        ("openai:reader", "openai:reader"),
        ("openai:org/reader", "inspect:vllm/org/reader"),
        ("openai:reader", "blind:openai:reader"),
        ("openai:reader", "shuffled:openai:reader"),
        ("replay:my answers.jsonl", "replay:my answers.jsonl"),
        ("got:weights/GOT", "got:weights/GOT"),
    ],
)
def test_a_tool_is_the_model_or_part_of_it(tool, model):
    assert drafted_by(drafted(tool), model)
    assert drafted_by(drafted("somebody", tool), model), "one of several drafts is enough"


@pytest.mark.parametrize(
    ("tool", "model"),
    [
        ("ppocr", "tesseract"),
        ("openai:reader-mini", "openai:reader"),
        ("openai:reader", "openai:reader-mini"),
        ("openai:ppocr", "ppocr"),
        ("replay:my other.jsonl", "replay:my answers.jsonl"),
        ("", "ppocr"),
        ("openai:reader", "human:Wang"),
    ],
)
def test_another_is_another(tool, model):
    assert not drafted_by(drafted(tool), model)


def test_only_a_draft_counts_and_not_what_else_a_tool_did():
    assert not drafted_by(drafted("ppocr", step="standardise"), "ppocr")
    assert not drafted_by(Item(id="a", benchmark="MCS-Bench", task="T1"), "ppocr")

"""The difficulty dial is felt by the embedded OCR engine."""

from __future__ import annotations

import asyncio

import pytest
from rapidfuzz.distance import Levenshtein

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.errors import PrerequisiteError
from keju.items import Request
from keju.models.base import ModelOptions
from keju.models.ppocr import PPOCR
from keju.text import han_only


@pytest.fixture(scope="module")
def engine() -> PPOCR:
    try:
        return PPOCR(ModelOptions())
    except PrerequisiteError as reason:
        pytest.skip(str(reason))


def error_rate(engine: PPOCR, item_id: str) -> float:
    """Edits for each Han character of the truth."""
    dataset = Dataset.open(mini.path())
    item = next(item for item in dataset.items() if item.id == item_id)
    request = Request(
        item=item.id,
        benchmark=item.benchmark,
        task=item.task,
        form="transcription",
        prompt="",
        images=item.images,
    )
    answer = asyncio.run(engine.answer(request, [dataset.image_bytes(item.images[0])]))
    truth = han_only(item.answer)
    return Levenshtein.distance(truth, han_only(answer.text)) / len(truth)


@pytest.mark.slow
def test_easy_pages_are_read_and_a_hard_one_is_not(engine: PPOCR):
    assert error_rate(engine, "mengzi-t1") <= 0.05
    assert error_rate(engine, "laozi-t1") <= 0.05, "with double-row notes and a head note"
    assert error_rate(engine, "shishuo-t1") >= 0.50

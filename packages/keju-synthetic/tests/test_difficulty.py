"""The difficulty of a typeset page is felt by the embedded OCR engine."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from rapidfuzz.distance import Levenshtein

from keju.datasets import mini
from keju.datasets.pages import select_lines
from keju.datasets.store import Dataset
from keju.errors import PrerequisiteError
from keju.items import Line, Request
from keju.models.base import ModelOptions
from keju.models.ppocr import PPOCR
from keju.text import han_only
from keju_synthetic.steps.set_type import PageJob, typeset_page
from keju_synthetic.typesetting import load_typeface


@pytest.fixture(scope="module")
def engine() -> PPOCR:
    try:
        load_typeface("song")
        return PPOCR(ModelOptions())
    except PrerequisiteError as error:
        pytest.skip(str(error))


def error_rate(engine: PPOCR, difficulty: float) -> float:
    """Edits for each Han character of a page of the bundled set, typeset again."""
    item = next(item for item in Dataset.open(mini.path()).items() if item.id == "mengzi-t1")
    wide, high = item.images[0].width, item.images[0].height
    page = typeset_page(
        PageJob(
            name="page", lines=msgspec.json.encode(item.lines), wide=wide, high=high,
            typeface="song", difficulty=difficulty, scan="colour", frames=True, marked=True,
            pixels=wide * high, quality=80, seed=1905,
        )
    )  # fmt: skip
    lines = select_lines(msgspec.json.decode(page.lines, type=tuple[Line, ...]), "body")
    request = Request(
        item=item.id, benchmark=item.benchmark, task=item.task, form="transcription", prompt="",
        images=item.images,
    )  # fmt: skip
    response = asyncio.run(engine.answer(request, [page.data]))
    reference = han_only("".join(line.text for line in lines))
    return Levenshtein.distance(reference, han_only(response.text)) / len(reference)


@pytest.mark.slow
def test_an_easy_page_is_read_and_a_hard_one_is_not(engine: PPOCR):
    assert error_rate(engine, 0.2) <= 0.05
    assert error_rate(engine, 1.0) >= 0.50

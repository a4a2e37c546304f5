"""`ppocr` on real scans: what a page's text does not depend on."""

from __future__ import annotations

import asyncio
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from keju.datasets import mini
from keju.images import open_image
from keju.items import Line
from keju.models import ModelOptions
from keju.models.base import Answer
from keju.models.ppocr import PPOCR, divide_cores
from keju.running import Selection, run
from keju.runs import RunFolder
from tests.models.conftest import page_request

pytest.importorskip("rapidocr", reason="the engine is an extra: pip install 'keju[ocr]'")


@pytest.mark.parametrize(
    ("cores", "divided"), [(1, (1, 1)), (2, (2, 1)), (4, (4, 1)), (7, (4, 1)), (16, (4, 4))]
)
def test_each_core_reads_a_page_up_to_the_most(cores: int, divided: tuple[int, int]):
    assert divide_cores(cores) == divided


@pytest.fixture(scope="module")
def scans(shared: Path) -> list[bytes]:
    """Two scans, and the halves of one: widths of lines differ between them."""
    found = [each.read_bytes() for each in sorted((shared / "data/real-pages").glob("*.jpg"))]
    whole = Image.open(BytesIO(found[1]))
    for top, foot in ((0.1, 0.5), (0.3, 0.6)):
        half = BytesIO()
        box = (0, int(top * whole.height), whole.width // 2, int(foot * whole.height))
        whole.crop(box).save(half, "PNG")
        found.append(half.getvalue())
    return found


def read(model: PPOCR, pages: list[bytes]) -> list[Answer]:
    """Answers to all pages, asked at the same time, from a model that is closed afterwards."""

    async def together() -> list[Answer]:
        answers = await asyncio.gather(*(model.answer(page_request(), [page]) for page in pages))
        await model.close()
        return answers

    return asyncio.run(together())


@pytest.mark.slow
def test_an_answer_does_not_depend_on_the_pages_beside_it(scans: list[bytes]):
    model = PPOCR(ModelOptions())
    together = read(model, scans)
    assert all(answer.text for answer in together)
    shuffled = [2, 0, 3, 1]
    assert read(model, [scans[place] for place in shuffled]) == [together[at] for at in shuffled]


def test_a_line_s_text_does_not_depend_on_the_lines_beside_it(scans: list[bytes]):
    engine = PPOCR(ModelOptions()).load()
    recognise = engine.recognize_txt
    page = np.asarray(open_image(scans[0], name="page"))[:, :, ::-1]
    crops, _ = engine.detect_and_crop(page, {})
    together = recognise(crops)
    alone = [recognise([crop]) for crop in crops]
    assert len(crops) > 5
    assert [(each.txts[0], each.scores[0]) for each in alone] == list(
        zip(together.txts, together.scores, strict=True)
    )


def transcribed(folder: Path) -> dict[str, tuple[str, tuple[Line, ...]]]:
    return {each.item: (each.text, each.lines) for each in RunFolder.open(folder).responses()}


@pytest.mark.slow
def test_a_resumed_run_and_shards_store_the_texts_of_one_whole_run(tmp_path: Path):
    def asked(folder: str, **chosen: Any) -> dict[str, tuple[str, tuple[Line, ...]]]:
        selection = Selection(tasks=("page_level_ocr",), **chosen)
        run(mini.path(), ["ppocr"], tmp_path / folder, selection=selection)
        return transcribed(tmp_path / folder)

    whole = asked("whole")
    assert len(whole) == 5
    assert all(text for text, _ in whole.values())
    assert len(asked("resumed", limit=2)) == 2
    assert asked("resumed") == whole
    assert asked("first", shard="1/2") | asked("second", shard="2/2") == whole

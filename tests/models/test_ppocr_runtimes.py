"""The runtimes of `ppocr`, each on real scans: what a page's text does not depend on."""

from __future__ import annotations

import asyncio
import sys
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from keju.datasets import mini
from keju.errors import PrerequisiteError
from keju.items import Line
from keju.models import ModelOptions, ppocr
from keju.models.base import Answer
from keju.models.engine import picture
from keju.models.ppocr import PPOCR, PPOCROnOpenVINO, divide_cores, openvino_precision
from keju.running import Selection, run
from keju.runs import RunFolder
from tests.models.conftest import page_request
from tests.support.needing import needs

pytest.importorskip("rapidocr", reason="the engine is an extra: pip install 'keju[ocr]'")

BOTH = [
    pytest.param(PPOCR, id="onnxruntime"),
    pytest.param(PPOCROnOpenVINO, id="openvino", marks=needs("openvino", "make install-semantic")),
]


@pytest.mark.parametrize(
    ("cores", "divided"), [(1, (1, 1)), (2, (2, 1)), (4, (4, 1)), (7, (4, 1)), (16, (4, 4))]
)
def test_each_core_reads_a_page_up_to_the_most(cores: int, divided: tuple[int, int]):
    assert divide_cores(cores) == divided


@pytest.mark.parametrize("kind", [PPOCR, PPOCROnOpenVINO])
def test_a_runtime_that_is_not_installed_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, kind: type[PPOCR]
):
    real = ppocr.find_spec
    monkeypatch.setattr(
        ppocr, "find_spec", lambda name: None if name == kind.package else real(name)
    )
    with pytest.raises(PrerequisiteError) as caught:
        kind(ModelOptions())
    assert kind.package in str(caught.value)
    assert kind.install in str(caught.value)


def test_a_processor_without_openvino_is_an_error_that_names_the_other_runtime(
    monkeypatch: pytest.MonkeyPatch,
):
    class Core:
        def get_property(self, device: str, name: str) -> None:
            raise RuntimeError("Exception from core.cpp:1:\nno CPU plugin")

    monkeypatch.setitem(sys.modules, "openvino", SimpleNamespace(Core=Core))
    with pytest.raises(PrerequisiteError, match="no CPU plugin") as caught:
        openvino_precision()
    assert "--model ppocr" in str(caught.value)


@needs("openvino", "make install-semantic")
def test_the_number_format_in_the_identity_is_the_one_that_the_network_is_compiled_for():
    import openvino
    import rapidocr

    identity = PPOCROnOpenVINO(ModelOptions()).identity
    folder = Path(rapidocr.__file__).parent / "models"
    network = openvino.Core().compile_model(str(folder / "PP-OCRv6_rec_small.onnx"), "CPU")
    assert identity["precision"] == network.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    assert "onnxruntime" not in identity
    assert identity["openvino"].startswith("20")


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
@pytest.mark.parametrize("kind", BOTH)
def test_an_answer_does_not_depend_on_the_pages_beside_it(kind: type[PPOCR], scans: list[bytes]):
    model = kind(ModelOptions())
    together = read(model, scans)
    assert all(answer.text for answer in together)
    shuffled = [2, 0, 3, 1]
    assert read(model, [scans[place] for place in shuffled]) == [together[at] for at in shuffled]


@pytest.mark.parametrize("kind", BOTH)
def test_a_line_s_text_does_not_depend_on_the_lines_beside_it(
    kind: type[PPOCR], scans: list[bytes]
):
    engine = kind(ModelOptions()).load()
    recognise = engine.recognize_txt
    page = np.asarray(picture(scans[0], "page"))[:, :, ::-1]
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
@pytest.mark.parametrize("kind", BOTH)
def test_a_resumed_run_and_shards_store_the_texts_of_one_whole_run(
    kind: type[PPOCR], tmp_path: Path
):
    def asked(folder: str, **chosen: Any) -> dict[str, tuple[str, tuple[Line, ...]]]:
        selection = Selection(tasks=("page_level_ocr",), **chosen)
        run(mini.path(), [kind.name], tmp_path / folder, selection=selection)
        return transcribed(tmp_path / folder)

    whole = asked("whole")
    assert len(whole) == 5
    assert all(text for text, _ in whole.values())
    assert len(asked("resumed", limit=2)) == 2
    assert asked("resumed") == whole
    assert asked("first", shard="1/2") | asked("second", shard="2/2") == whole

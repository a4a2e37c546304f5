"""The embedded OCR engine, by itself and on two real scans."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from importlib.metadata import PathDistribution, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from keju.errors import DataError, PrerequisiteError
from keju.models import ModelOptions, open_model, ppocr, registry
from keju.models.base import Answer, AskError
from keju.models.ppocr import PPOCR
from keju.text import han_only
from tests.models.conftest import page_request, white_png

pytest.importorskip("rapidocr", reason="the engine is an extra: pip install 'keju[ocr]'")


def ask(model: PPOCR, *images: bytes) -> Answer:
    return asyncio.run(model.answer(page_request(images=len(images)), images))


class StandIn:
    """An engine that finds these boxes and remembers how it was called."""

    def __init__(self, *found: tuple[str, float, float]) -> None:
        self.found = found
        self.calls: list[dict[str, bool]] = []

    def __call__(self, pixels: Any, **flags: bool) -> SimpleNamespace:
        self.calls.append(flags)
        boxes = [[[x, y], [x + 40, y], [x + 40, y + 250], [x, y + 250]] for _, x, y in self.found]
        return SimpleNamespace(
            boxes=np.array(boxes, dtype=np.float32) if boxes else None,
            txts=tuple(text for text, _, _ in self.found),
            scores=tuple(0.9 for _ in self.found),
        )


def with_engine(
    monkeypatch: pytest.MonkeyPatch, engine: Any, *, reading_order: bool = True
) -> PPOCR:
    monkeypatch.setattr(PPOCR, "load", lambda model: engine)
    return PPOCR(ModelOptions(reading_order=reading_order))


THREE = (("左", 10.0, 10.0), ("中", 60.0, 10.0), ("右", 110.0, 10.0))


def test_columns_are_read_right_to_left_a_row_each(monkeypatch: pytest.MonkeyPatch):
    answer = ask(with_engine(monkeypatch, StandIn(*THREE)), white_png())
    assert answer.text == "右\n中\n左"
    assert answer.status == "answered"
    assert [line.text for line in answer.lines] == ["右", "中", "左"]
    assert answer.lines[0].confidence == 0.9


def test_with_order_off_the_engine_s_own_order_stays(monkeypatch: pytest.MonkeyPatch):
    answer = ask(with_engine(monkeypatch, StandIn(*THREE), reading_order=False), white_png())
    assert answer.text == "左\n中\n右"


def test_several_images_are_read_one_after_the_other(monkeypatch: pytest.MonkeyPatch):
    answer = ask(with_engine(monkeypatch, StandIn(*THREE)), white_png(), white_png())
    assert answer.text == "右\n中\n左\n右\n中\n左"
    assert len({line.id for line in answer.lines}) == 6


def test_an_image_without_writing_gives_an_empty_answer(monkeypatch: pytest.MonkeyPatch):
    answer = ask(with_engine(monkeypatch, StandIn()), white_png())
    assert (answer.text, answer.status, answer.lines) == ("", "empty", ())


@pytest.mark.parametrize("reading_order", [True, False])
def test_boxes_without_text_are_an_empty_answer(
    monkeypatch: pytest.MonkeyPatch, reading_order: bool
):
    found = (("", 10.0, 10.0), (" ", 60.0, 10.0), ("", 110.0, 10.0))
    answer = ask(
        with_engine(monkeypatch, StandIn(*found), reading_order=reading_order), white_png()
    )
    assert answer.status == "empty"
    assert len(answer.lines) == 3


def test_every_call_says_all_flags_since_the_engine_remembers_them(
    monkeypatch: pytest.MonkeyPatch,
):
    engine = StandIn(*THREE)
    ask(with_engine(monkeypatch, engine), white_png(), white_png())
    assert engine.calls == [{"use_det": True, "use_cls": False, "use_rec": True}] * 2


def test_an_image_that_cannot_be_read_is_an_answerless_request(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(DataError, match=r"page-1, image 1: "):
        ask(with_engine(monkeypatch, StandIn()), white_png()[:60])


def test_a_broken_engine_is_an_answerless_request(monkeypatch: pytest.MonkeyPatch):
    def broken(pixels: Any, **flags: bool) -> None:
        raise RuntimeError("no memory")

    with pytest.raises(AskError, match="no memory") as caught:
        ask(with_engine(monkeypatch, broken), white_png())
    assert caught.value.kind == "engine"


def test_an_engine_s_error_without_words_has_its_class_and_cause(monkeypatch: pytest.MonkeyPatch):
    def broken(pixels: Any, **flags: bool) -> None:
        raise MemoryError from ValueError("too large")

    with pytest.raises(AskError) as caught:
        ask(with_engine(monkeypatch, broken), white_png())
    assert str(caught.value) == "RapidOCR: MemoryError (ValueError: too large)"


@pytest.mark.parametrize("size", [(30_000, 20), (20, 30_000), (1, 4000), (2001, 16), (1, 500)])
def test_an_image_that_the_engine_cannot_scale_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
):
    engine = StandIn()
    with pytest.raises(AskError) as caught:
        ask(with_engine(monkeypatch, engine), white_png(*size))
    assert (caught.value.kind, caught.value.retryable) == ("engine", False)
    assert f"an image of {size[0]} × {size[1]} pixels" in str(caught.value)
    assert "Cut the image into parts" in str(caught.value)
    assert engine.calls == []


@pytest.mark.parametrize("size", [(2000, 40), (40, 2000), (1, 1), (1, 50), (100, 2), (9000, 180)])
def test_an_image_at_most_50_times_as_long_as_wide_is_read(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
):
    engine = StandIn()
    ask(with_engine(monkeypatch, engine), white_png(*size))
    assert len(engine.calls) == 1


def test_as_many_pages_are_read_at_once_as_there_are_workers(monkeypatch: pytest.MonkeyPatch):
    inside = most = 0
    counting = threading.Lock()

    def engine(pixels: Any, **flags: bool) -> SimpleNamespace:
        nonlocal inside, most
        with counting:
            inside += 1
            most = max(most, inside)
        time.sleep(0.05)
        with counting:
            inside -= 1
        return StandIn(*THREE)(pixels, **flags)

    monkeypatch.setattr(ppocr, "divide_cores", lambda: (3, 1))
    model = with_engine(monkeypatch, engine)

    async def many() -> Sequence[Answer]:
        asked = [model.answer(page_request(), [white_png()]) for _ in range(12)]
        return await asyncio.gather(*asked)

    answers = asyncio.run(many())
    assert (most, model.concurrency) == (3, 3)
    assert {answer.text for answer in answers} == {"右\n中\n左"}


def test_one_engine_serves_all_threads(monkeypatch: pytest.MonkeyPatch):
    meeting = threading.Barrier(2, timeout=20)
    engines: list[StandIn] = []

    def load(model: PPOCR) -> Any:
        engine = StandIn(*THREE)
        engines.append(engine)

        def read(pixels: Any, **flags: bool) -> SimpleNamespace:
            meeting.wait()
            return engine(pixels, **flags)

        return read

    monkeypatch.setattr(PPOCR, "load", load)
    monkeypatch.setattr(ppocr, "divide_cores", lambda: (2, 1))
    model = PPOCR(ModelOptions())

    async def twice() -> None:
        await asyncio.gather(*(model.answer(page_request(), [white_png()]) for _ in range(2)))
        await asyncio.gather(*(model.answer(page_request(), [white_png()]) for _ in range(2)))

    asyncio.run(twice())
    assert [len(engine.calls) for engine in engines] == [4]


def test_a_closed_model_loads_its_engine_when_it_is_asked_again(monkeypatch: pytest.MonkeyPatch):
    engines: list[StandIn] = []

    def load(model: PPOCR) -> StandIn:
        engines.append(StandIn(*THREE))
        return engines[-1]

    monkeypatch.setattr(PPOCR, "load", load)
    model = PPOCR(ModelOptions())
    ask(model, white_png())
    asyncio.run(model.close())
    assert ask(model, white_png()).text == "右\n中\n左"
    assert len(engines) == 2


def test_it_answers_transcriptions_of_images_only():
    model = PPOCR(ModelOptions())
    assert model.unsupported_reason(page_request()) == ""
    assert "only transcribes" in model.unsupported_reason(page_request("letter"))
    assert "no image" in model.unsupported_reason(page_request(images=0))


def test_what_decides_an_answer_is_in_its_identity():
    on, off = (PPOCR(ModelOptions(reading_order=order)).identity for order in (True, False))
    assert (on["rapidocr"], on["lines_per_batch"]) == ("3.10.0", "1")
    assert on["onnxruntime"] == version("onnxruntime")
    assert len(on["model_Det"]) == len(on["model_Rec"]) == 64
    assert {key for key in on if on[key] != off[key]} == {"reading_order"}


def test_stored_responses_stay_valid_in_later_versions_with_the_same_order():
    assert PPOCR(ModelOptions()).identity["reading_order"] == "keju 0.1.0"


def test_a_missing_engine_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == "onnxruntime" else name)
    with pytest.raises(PrerequisiteError, match=r'pip install "keju\[ocr\]"'):
        open_model("ppocr", ModelOptions())


def test_missing_model_files_are_never_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(ppocr, "distribution", lambda name: PathDistribution(tmp_path / "info"))
    with pytest.raises(PrerequisiteError, match="PP-OCRv6_det_small"):
        PPOCR(ModelOptions())


def test_it_is_opened_by_its_name():
    assert isinstance(open_model("ppocr", ModelOptions()), PPOCR)


@pytest.fixture(scope="module")
def scans(shared: Path) -> dict[str, bytes]:
    folder = shared / "data" / "real-pages"
    return {path.stem[:3]: path.read_bytes() for path in sorted(folder.glob("*.jpg"))}


@pytest.fixture(scope="module")
def truths(shared: Path) -> dict[str, str]:
    truth = json.loads((shared / "data" / "real-pages" / "gt.json").read_text("utf-8"))
    return {name[:3]: text for name, text in truth.items()}


def error_rate(answer: Answer, truth: str) -> float:
    """Character error rate over Han characters alone."""
    return Levenshtein.distance(truth, han_only(answer.text)) / len(truth)


@pytest.fixture(scope="module")
def in_order() -> PPOCR:
    return PPOCR(ModelOptions())


@pytest.mark.parametrize(("page", "most"), [("r01", 0.05), ("r03", 0.14)])
def test_real_scans_are_read_in_order(
    in_order: PPOCR, scans: dict[str, bytes], truths: dict[str, str], page: str, most: float
):
    answer = ask(in_order, scans[page])
    assert error_rate(answer, truths[page]) <= most
    kinds = [line.kind for line in answer.lines]
    assert kinds[-2:] == ["centre", "centre"]
    assert "centre" not in kinds[:-2]


@pytest.mark.parametrize("page", ["r01", "r03"])
def test_without_reading_order_real_scans_are_scrambled(
    scans: dict[str, bytes], truths: dict[str, str], page: str
):
    answer = ask(PPOCR(ModelOptions(reading_order=False)), scans[page])
    assert error_rate(answer, truths[page]) >= 0.6

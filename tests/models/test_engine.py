"""The base class of OCR engines: ids, order, status and errors of several images."""

from __future__ import annotations

import asyncio
import threading

import pytest

from keju.errors import DataError
from keju.items import Line
from keju.models import Answer, AskError
from keju.models.engine import Engine, PageReading
from tests.models.conftest import page_request


def column(text: str, x: float) -> Line:
    return Line(id="", text=text, polygon=((x, 10), (x + 40, 10), (x + 40, 260), (x, 260)))


LEFT_FIRST = PageReading((column("左", 10), column("中", 60), column("右", 110)), (400, 300))


class Reader(Engine):
    """Gives a prepared reading for each image, or raises an error for it."""

    program = "Reader"

    def __init__(self, **readings: PageReading | Exception) -> None:
        self.readings = {name.encode(): reading for name, reading in readings.items()}
        self.names: list[str] = []
        self.threads: set[str] = set()

    def read(self, data: bytes, name: str) -> PageReading:
        self.names.append(name)
        self.threads.add(threading.current_thread().name)
        reading = self.readings[data]
        if isinstance(reading, Exception):
            raise reading
        return reading


def ask(engine: Reader, *images: str) -> Answer:
    request = page_request(images=len(images))
    return asyncio.run(engine.answer(request, [image.encode() for image in images]))


@pytest.mark.parametrize(
    ("ordering", "text", "ids"), [(True, "右\n中\n左", "321"), (False, "左\n中\n右", "123")]
)
def test_ids_count_the_lines_of_each_image_in_the_engine_s_order(ordering, text, ids):
    engine = Reader(a=LEFT_FIRST, b=PageReading())
    engine.ordering = ordering
    alone, several = ask(engine, "a"), ask(engine, "a", "b", "a")
    assert (alone.text, several.text) == (text, f"{text}\n{text}")
    assert [line.id for line in alone.lines] == list(ids)
    assert [line.id for line in several.lines] == [f"{n}-{at}" for n in "13" for at in ids]
    assert engine.names == ["page-1, image 1"] + [f"page-1, image {n}" for n in (1, 2, 3)]


def test_an_image_with_a_line_without_a_position_is_left_in_the_engine_s_order():
    engine = Reader(a=LEFT_FIRST._replace(lines=(*LEFT_FIRST.lines, Line(id="", text="外"))))
    engine.ordering = True
    assert ask(engine, "a").text == "左\n中\n右\n外"


def test_an_answer_is_cut_off_if_the_text_of_one_image_is():
    whole, cut = PageReading(text="天", finish_reason="stop"), PageReading(finish_reason="length")
    engine = Reader(a=whole, b=cut)
    found = [ask(engine, *images) for images in ("a", "b", "ba")]
    assert [(each.text, each.status, each.finish_reason) for each in found] == [
        ("天", "answered", "stop"), ("", "truncated", "length"), ("天", "truncated", "length"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        (RuntimeError("no memory"), AskError, "Reader: RuntimeError: no memory"),
        (AskError("unreadable-image", "damaged"), AskError, "damaged"),
        (DataError("the weights are damaged"), DataError, "the weights are damaged"),
    ],
)
def test_only_errors_that_are_not_keju_s_are_failures_of_the_engine(error, raised, message):
    with pytest.raises(raised) as caught:
        ask(Reader(a=error), "a")
    assert str(caught.value) == message
    if isinstance(error, RuntimeError):
        assert caught.value.kind == "engine"


def test_a_closed_engine_reads_again():
    engine = Reader(a=PageReading(text="天"))

    async def twice() -> list[str]:
        texts = []
        for _ in range(2):
            texts.append((await engine.answer(page_request(), [b"a"])).text)
            await engine.close()
        return texts

    assert asyncio.run(twice()) == ["天", "天"]
    assert all(name.startswith("Reader") for name in engine.threads)

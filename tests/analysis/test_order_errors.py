"""Reading order in the report: counted, and drawn where it is wrong."""

from __future__ import annotations

import json

import msgspec
import pytest
from lxml import html

from keju.analysis.order_errors import OrderErrors, true_order
from keju.datasets.store import DatasetWriter
from keju.items import ImageRef, Item, Line, Response
from keju.reporting.page import write_report
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.scored_runs import picture

TEXTS = ["天地玄黃", "宇宙洪荒", "日月盈昃"]
IMAGE = ImageRef(path="p.png", sha256="0" * 64, width=300, height=400, size=9)


def columns(order=(0, 1, 2)) -> tuple[Line, ...]:
    """Three columns from right to left, in an order."""
    return tuple(
        Line(id=f"c{at}", text=TEXTS[at], polygon=((x, 0), (x + 80, 0), (x + 80, 400), (x, 400)))
        for at in order
        for x in [200 - 100 * at]
    )


def page(**others) -> Item:
    about = {"images": (IMAGE,), "lines": columns(), "answer": "\n".join(TEXTS)}
    return Item(id="p", benchmark="MCS-Bench", task="T1", **about | others)


def response(text: str, lines: tuple[Line, ...] = ()) -> Response:
    return Response(key="k", item="p", model="m", benchmark="MCS-Bench", task="T1",
                    status="answered", text=text, lines=lines)  # fmt: skip


def test_an_engine_is_followed_by_its_outlines_and_an_answer_by_its_text():
    orders = OrderErrors()
    assert orders.add("engine", page(), response("甲", columns())) is None
    drawn = orders.add("engine", page(), response("甲", columns((1, 0, 2))))
    assert drawn == {
        "by": "outlines",
        "lines": [[100, 0, 180, 400, 1, 0], [200, 0, 280, 400, 0, 1], [0, 0, 80, 400, 2, 0]],
    }
    said = orders.add("model", page(), response("<think>日月</think>日月盈昃\n天地玄黄\n宇宙洪荒"))
    assert said["by"] == "text"
    assert [line[4:] for line in said["lines"]] == [[2, 1], [0, 0], [1, 0]]
    first, second = orders.rows
    assert (first.model, first.by, first.pages, first.whole) == ("engine", "outlines", 2, 1)
    assert (first.placed, first.moved, first.across) == (6, 1, 0)
    assert (second.model, second.placed, second.moved) == ("model", 3, 1)


def test_rows_read_for_columns_are_told():
    rows = tuple(
        Line(id=f"r{n}", text="天宇日", polygon=((0, y), (280, y), (280, y + 90), (0, y + 90)))
        for n, y in enumerate((0, 100, 200, 300))
    )
    orders = OrderErrors()
    drawn = orders.add("engine", page(), response("天宇日", rows))
    assert [line[4:] for line in drawn["lines"]] == [[None, 2]] * 4
    (row,) = orders.rows
    assert (row.whole, row.placed, row.across) == (0, 0, 4)


@pytest.mark.parametrize(
    "item",
    [page(lines=()), page(lines=columns()[:1]), page(images=()), page(images=(IMAGE, IMAGE))],
)
def test_what_has_no_page_or_no_lines_cannot_be_told_of(item):
    orders = OrderErrors()
    assert orders.add("m", item, response("天地玄黃日月盈昃", columns((1, 0)))) is None
    assert orders.rows == []
    assert true_order(item) is None


def test_the_page_holds_what_is_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with DatasetWriter(
        tmp_path / "set", name="d", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        image = writer.add_image(picture(100), "p")
        writer.add(page(images=(image,)))
    said = {"item": "p", "text": "日月盈昃\n天地玄黃\n宇宙洪荒"}
    (tmp_path / "m.jsonl").write_bytes(msgspec.json.encode(said) + b"\n")
    run(tmp_path / "set", ["replay:m.jsonl"], tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    text = write_report([tmp_path / "run"], tmp_path / "r.html").page.read_text("utf-8")
    tree = html.fromstring(text)
    (item,) = json.loads(tree.xpath("//script[@id='chunk-0']/text()")[0])
    assert item["order"]["size"] == [300, 400]
    assert item["order"]["lines"][0] == [200, 0, 280, 400]
    assert [line[5] for line in item["answers"][0]["order"]["lines"]] == [1, 0, 0]
    assert "Reading order errors by line" in text

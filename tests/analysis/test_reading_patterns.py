"""A page read in rows across its columns is named so in the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from lxml import html

from keju.analysis.reading_patterns import PatternCounts, lines_as_read
from keju.analysis.run_set import load_runs
from keju.datasets.store import DatasetWriter
from keju.items import ImageRef, Item, Line, Response
from keju.layout import ReadingPattern
from keju.reporting.page import write_report
from keju.reporting.terms import PATTERNS
from keju.reporting.view import build_view
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import metrics, score_run
from keju.words import Words
from tests.support.own_pages import scored_pages
from tests.support.scored_runs import picture

PAGES = {
    "p1": ["天地玄黄宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏", "閏餘成歲律吕調陽"],
    "p2": ["雲騰致雨露結為霜", "金生麗水玉出崑岡", "劍號巨闕珠稱夜光", "果珍李柰菜重芥薑"],
}
IMAGE = ImageRef(path="p.png", sha256="0" * 64, width=300, height=400, size=9)


def rows(columns: list[str]) -> list[str]:
    return ["".join(column[row] for column in columns) for row in range(len(columns[0]))]


@pytest.fixture(params=["\n", ""], ids=["one line a column", "one paragraph"])
def scored(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A run of an engine without a fault but for its direction, and of one that reads in order."""
    with DatasetWriter(
        tmp_path / "set", name="d", version="1", licence="CC0-1.0", source="tests"
    ) as writer:
        for number, (name, columns) in enumerate(PAGES.items()):
            image = writer.add_image(picture(100 + number), name)
            writer.add(
                Item(id=name, benchmark="MCS-Bench", task="T1", images=(image,),
                     answer=request.param.join(columns), group=name)
            )  # fmt: skip
    readings = {"rowwise": rows, "in-order": list}
    models = []
    for model, read in readings.items():
        lines = [{"item": name, "text": "\n".join(read(page))} for name, page in PAGES.items()]
        file = tmp_path / f"{model}.jsonl"
        file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)) + b"\n")
        models.append(f"replay:{file}")
    run(tmp_path / "set", models, tmp_path / "run")
    score_run(RunFolder.open(tmp_path / "run"))
    return tmp_path / "run"


def test_a_perfect_reading_in_rows_is_layout_error_alone(scored: Path):
    view = build_view(load_runs([scored]), title="d")
    found = {row.model.rpartition("/")[2]: row for row in view.errors}
    across, right = found["rowwise.jsonl"], found["in-order.jsonl"]
    assert (across.recognition, across.layout) == ("0.0", across.cer)
    assert float(across.cer) > 70
    assert (right.recognition, right.layout, right.cer) == ("0.0", "0.0", "0.0")
    assert (across.wrong_recognition, right.wrong_recognition) == ("100.0", "100.0")
    assert across.wrong_layout == "0.0"


def test_the_report_names_the_pattern_beside_the_parts_and_on_the_page(scored: Path):
    text = write_report([scored], scored.parent / "r.html").page.read_text("utf-8")
    tree = html.fromstring(text)
    (across,) = [
        " ".join(each.text_content().split())
        for each in tree.xpath("//li")
        if "rowwise" in each.text_content() and "points are" in each.text_content()
    ]
    assert "0.0 points are recognition error" in across
    assert "; reading pattern: rows across columns on 2 of 2 pages." in across
    sense = PATTERNS["rows across columns"]
    (advice,) = tree.xpath("//ul[@class='advice']/li")
    assert advice.text_content() == f"rows across columns: {sense.what} {sense.do}"
    (name,) = tree.xpath("//li/abbr[text()='rows across columns']")
    assert name.get("title") == sense.what
    terms = tree.xpath("//dl[@class='glossary']/dt/text()")
    patterns = [term for term in terms if term.startswith("reading pattern: ")]
    assert patterns == ["reading pattern: rows across columns"]
    index = json.loads(tree.xpath("//script[@id='data']/text()")[0])
    items = json.loads(tree.xpath("//script[@id='chunk-0']/text()")[0])
    patterns = {
        (index["models"][answer["m"]].rpartition("/")[2], answer.get("pattern"))
        for item in items
        for answer in item["answers"]
    }
    assert patterns == {("rowwise.jsonl", "rows across columns"), ("in-order.jsonl", None)}


def test_the_report_says_so_in_chinese(scored: Path):
    page = write_report([scored], scored.parent / "r.html", language="zh").page
    said = html.fromstring(page.read_text("utf-8")).text_content()
    assert "识别错误占 0.0 个百分点" in said
    assert "；阅读方式：横读（跨越各竖行）（2/2 页）。" in " ".join(said.split())


def test_a_metrics_heading_names_how_it_is_pooled(scored: Path):
    view = build_view(load_runs([scored]), title="d")
    pooled = {row.metric: row.pooling for row in view.metrics if row.protocol == "strict"}
    assert pooled["CharAcc"] == "the mean over the items"
    assert pooled["CER ↓"] == "edits of all items over their true characters"
    assert pooled["CER_layout ↓"] == pooled["CER_recognition ↓"] == pooled["CER ↓"]


def test_every_pattern_and_every_way_of_pooling_has_chinese_words():
    overs = {metric.over.rule for metric in metrics()}
    chinese = Words("zh")
    assert [name for name in (*get_args(ReadingPattern), *overs) if chinese(name) == name] == []


def page(**fields) -> Item:
    about = {"images": (IMAGE,), "answer": "".join(PAGES["p1"])}
    return Item(id="p", benchmark="MCS-Bench", task="T1", **about | fields)


def response(text: str, lines: tuple[Line, ...] = ()) -> Response:
    return Response(key="k", item="p", model="m", benchmark="MCS-Bench", task="T1",
                    status="answered", text=text, lines=lines)  # fmt: skip


def test_notes_are_those_that_the_items_lines_name():
    kinds = ["main", "note", "main", "note"]
    lines = tuple(
        Line(id=str(n), text=text, kind=kind)
        for n, (text, kind) in enumerate(zip(PAGES["p1"], kinds, strict=True))
    )
    one, two, three, four = PAGES["p1"]
    counts = PatternCounts()
    said = response(one + three + two + four)
    assert counts.add("m", page(lines=lines), said) == "notes misplaced"
    assert counts.add("m", page(), said) == "columns out of order"
    assert counts.add("m", page(), response("".join(PAGES["p1"]))) is None
    assert counts.of("m", "T1").pages == 3
    (clause,) = counts.of("m", "T1").clauses
    assert clause == (
        "reading pattern: notes misplaced on 1 of 3 pages, columns out of order on 1 of 3 pages"
    )
    assert Words("zh")(clause) == "阅读方式：夹注错位（1/3 页）、竖行顺序错乱（1/3 页）"
    assert counts.doubtful == {"m": []}


def test_a_pattern_on_a_small_minority_of_the_pages_is_doubtful():
    counts = PatternCounts()
    columns = PAGES["p1"]
    for read in [rows(columns)] * 4 + [columns] * 11 + [columns[2:] + columns[:2]] * 1:
        counts.add("m", page(), response("".join(read)))
    found = counts.of("m", "T1")
    assert found.attributed == [("rows across columns", 4)]
    assert found.doubtful == [("columns out of order", 1)]
    assert found.clauses == [
        "reading pattern: rows across columns on 4 of 16 pages",
        "doubtful reading pattern: columns out of order on 1 of 16 pages",
    ]
    assert counts.doubtful == {"m": ["columns out of order"]}


def test_an_engines_own_lines_are_drawn_where_the_page_has_none():
    lines = (
        Line(id="1", text="天", polygon=((10, 20.4), (290, 20), (290, 60), (10, 60))),
        Line(id="2", text="地"),
    )
    drawn = lines_as_read(page(), response("天地", lines))
    assert drawn["lines"] == [[10, 20, 290, 60, None, 0]]
    assert drawn["size"] == [300, 400]
    assert lines_as_read(page(), response("天地")) is None
    assert lines_as_read(page(images=(IMAGE, IMAGE)), response("天地", lines)) is None


@pytest.mark.parametrize(
    ("language", "head", "meaning"),
    [
        ("en", "; doubtful reading pattern: rows across columns on 1 of 6 pages.", "as doubtful,"),
        ("zh", "；存疑的阅读方式：横读（跨越各竖行）（1/6 页）。", "标为“存疑”"),
    ],
)
def test_the_page_marks_a_doubtful_pattern_and_says_what_that_is(tmp_path, language, head, meaning):
    texts = {f"b{number}/p": "".join(PAGES["p1"]) + chr(0x6000 + number) for number in range(6)}
    said = texts | {"b0/p": "".join(rows(PAGES["p1"]))}
    folder = scored_pages(tmp_path / "own", texts, {"mostly": said, "right": texts})
    page = write_report([folder], tmp_path / "r.html", language=language).page
    tree = html.fromstring(page.read_text("utf-8"))
    text = " ".join(tree.text_content().split())
    assert head in text
    assert meaning in text
    index = json.loads(tree.xpath("//script[@id='data']/text()")[0])
    doubtful = {name.rpartition("/")[2]: found for name, found in index["doubtful"].items()}
    assert doubtful == {"mostly.jsonl": ["rows across columns"]}

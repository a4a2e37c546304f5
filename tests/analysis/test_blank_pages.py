"""Blank pages go through a run, its scores, its report and its exports, and nothing breaks."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest
from PIL import Image, ImageOps

from keju.analysis.blank_pages import invented_lines, invented_rows
from keju.analysis.run_set import load_runs
from keju.cli.output.run_summary import empty_on_blank, run_table
from keju.datasets import mini
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.images import open_image
from keju.reporting.item_browser import Browser
from keju.reporting.page import write_report
from keju.reporting.view import build_view
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju.words import Words
from tests.support.commanding import keju
from tests.support.needing import needs
from tests.support.scored_runs import picture

ABOUT = {"name": "d", "version": "1", "licence": "CC0", "source": "tests"}
TEXTS = {"p1": "天地玄黃宇宙洪荒", "p2": "[blank]", "p3": "[Blank]\n", "p4": "日月盈昃"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blank")
    src = folder / "src"
    src.mkdir()
    for place, (name, text) in enumerate(TEXTS.items()):
        (src / f"{name}.png").write_bytes(picture(60 + place))
        (src / f"{name}.txt").write_text(text, "utf-8")
    done = import_dataset("pages", src, folder / "data", **ABOUT)
    assert done.notes == ("imported as blank: 2 pages: p2, p3",)
    return folder / "data"


@pytest.fixture(scope="module")
def scored(data: Path) -> Path:
    folder = data.parent
    specs = []
    for name, invention in (("one", "劍號巨闕"), ("two", "此頁空白")):
        said = {"p1": TEXTS["p1"], "p2": invention, "p3": "", "p4": "日月"}
        lines = [msgspec.json.encode({"item": item, "text": text}) for item, text in said.items()]
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        specs.append(f"replay:{folder / name}.jsonl")
    run(data, [*specs, "baseline:copy"], folder / "run")
    score_run(RunFolder.open(folder / "run"))
    return folder / "run"


def test_a_blank_page_is_a_valid_item_without_a_text(data: Path) -> None:
    blank = [item for item in Dataset.open(data).items() if item.metadata.get("blank") == "yes"]
    assert [(item.id, item.answer, item.transcription) for item in blank] == [
        ("p2", "", None), ("p3", "", None),
    ]  # fmt: skip
    assert list(validate(data)) == []


def test_invented_text_is_named_in_the_terminal_and_in_the_report(
    scored: Path, tmp_path: Path
) -> None:
    one, two = invented_lines(RunFolder.open(scored))
    few = "too few pages for a rate, which needs 10"
    assert f"invented text on 1 of 2 blank pages, {few} (most: 4, on p2)" in one
    assert two.endswith(f"invented text on 0 of 2 blank pages, {few}")
    rows = invented_rows(load_runs([scored]))
    assert [(row.found.with_text, row.found.characters, row.place) for row in rows] == [
        (1, 4, 1), (0, 0, 0),
    ]  # fmt: skip
    write_report([scored], tmp_path / "r.html")
    assert "Invented text on blank pages" in (tmp_path / "r.html").read_text("utf-8")
    write_report([scored], tmp_path / "zh.html", language="zh")
    assert "空白页上编造的文字" in (tmp_path / "zh.html").read_text("utf-8")


def test_other_commands_take_a_run_with_blank_pages(
    scored: Path, data: Path, tmp_path: Path
) -> None:
    one, two, _ = RunFolder.open(scored).manifest().models
    commands = [
        ["score", scored, "--json", tmp_path / "s.json"],
        ["compare", scored, "--model", one, "--model", two],
        ["report", scored, "-o", tmp_path / "r.html", "--csv", tmp_path / "csv"],
        ["data", "stats", data],
        ["run", "--plan", data, "--model", "ppocr"],
    ]
    for command in commands:
        done = keju(*command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    items = scores[one]["strict"]["items"]
    values = {each["id"]: each["value"] for each in items if each["metric"] == "CER"}
    assert values == {"p1": 0, "p2": None, "p3": None, "p4": 0.5}
    task = scores[one]["strict"]["tasks"]["page_ocr"]
    assert task["CER"] == pytest.approx(2 / 12)
    assert scores[one]["blank_pages"] == {
        "page_ocr": {
            "pages": 2, "with_text": 1, "characters": 4, "most": 4, "where": "p2", "per_page": 2.0
        }
    }  # fmt: skip
    lines = (tmp_path / "csv" / "blank-pages.csv").read_text("utf-8-sig").splitlines()
    rows = list(csv.DictReader(lines))
    found = [
        (row["item"], row["status"], row["invented_characters"])
        for row in rows
        if "one" in row["model"]
    ]
    assert found == [("p2", "answered", "4"), ("p3", "empty", "0")]


def test_no_text_is_the_right_answer_to_a_blank_page(scored: Path) -> None:
    run_set = load_runs([scored])
    one, two, _ = run_set.by_model.values()
    assert (one.statuses, two.statuses) == ({"answered": 4}, {"answered": 4})
    view = build_view(run_set, title="t")
    assert [(row.answered, row.failures) for row in view.models[:2]] == [(4, []), (4, [])]
    (chunk,) = Browser(run_set, Words()).chunks
    assert [answer.get("status") for item in chunk for answer in item["answers"]][:8] == [None] * 8


def test_the_table_of_a_run_knows_empty_responses_to_blank_pages(data, tmp_path) -> None:
    said = {"p1": "", "p2": "", "p3": "天", "p4": "日"}
    lines = [msgspec.json.encode({"item": item, "text": text}) for item, text in said.items()]
    (tmp_path / "one.jsonl").write_bytes(b"\n".join(lines))
    summary = run(data, [f"replay:{tmp_path / 'one.jsonl'}"], tmp_path / "run")
    (model,) = summary.models
    assert model.statuses == {"answered": 2, "empty": 2}
    right = empty_on_blank(RunFolder.open(tmp_path / "run"), summary)
    assert right == {model.model: 1}
    assert [str(cell) for cell in run_table(summary, right).columns[3].cells] == ["1 empty"]


@needs("rapidocr", "pip install 'keju[ocr]'")
def test_an_engine_that_reads_show_through_invents_text(tmp_path: Path) -> None:
    dataset = Dataset.open(mini.path())
    page = next(each for each in dataset.items() if each.id == "lanting-page-level-ocr")
    image = open_image(dataset.image_bytes(page.images[0]), name="page")
    src = tmp_path / "src"
    src.mkdir()
    for name, shown in (
        ("through", ImageOps.mirror(image)),
        ("empty", Image.new("RGB", image.size, (235, 225, 200))),
    ):
        out = io.BytesIO()
        shown.save(out, "PNG")
        (src / f"{name}.png").write_bytes(out.getvalue())
        (src / f"{name}.txt").write_text("", "utf-8")
    import_dataset("pages", src, tmp_path / "data", **ABOUT, options={"blank-pages": "yes"})
    run(tmp_path / "data", ["ppocr"], tmp_path / "run")
    (line,) = invented_lines(RunFolder.open(tmp_path / "run"))
    assert "invented text on 1 of 2 blank pages" in line
    assert "on through)" in line

"""examples/plugin, installed from its wheel: every name that it adds works in commands."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

import keju
from tests.support.plugged import install_example, run_with_site

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin"
RECIPE = """
name = "verses"
licence = "CC0-1.0"

[[source]]
form = "verses"
path = "verses.txt"
licence = "CC0-1.0"
source = "made"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return install_example(EXAMPLE, tmp_path_factory.mktemp("plugin"))


@pytest.fixture
def command(site, tmp_path):
    return run_with_site(site, tmp_path)


def test_lists_show_the_names_with_the_distribution(command):
    for arguments, name in (
        (("models",), "first-option"),
        (("data", "formats"), "pages-tsv"),
        (("build", "--help"), "crop-margins"),
        (("build", "sources"), "verses"),
        (("metrics",), "GapAcc"),
        (("export", "--help"), "responses-csv"),
    ):
        listed = command(*arguments)
        assert name in listed
        assert "keju-example 0.1.0" in listed


def test_the_model_runs_and_the_run_records_the_distribution(command, tmp_path):
    command("run", "mini", "--task", "T7", "--model", "first-option", "--out", "run")
    manifest = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert manifest["plugins"] == [{"name": "keju-example", "version": "0.1.0"}]
    assert manifest["roles"] == {"first-option": "baseline"}
    assert "T7" in command("score", "run")


def test_the_format_is_detected_and_its_pages_are_cropped(command, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    Image.new("L", (100, 200), 255).save(source / "p1.png")
    (source / "pages.tsv").write_text("p1.png\t學而時習之\n", "utf-8")
    command("data", "import", "auto", source, "--out", "data")
    command("build", "crop-margins", "data", "--share", "0.1", "--out", "cropped")
    (item,) = keju.load(tmp_path / "cropped").items()
    assert (item.answer, item.images[0].width, item.images[0].height) == ("學而時習之", 80, 160)
    made = keju.load(tmp_path / "cropped").manifest.made
    assert (made["format"], made["plugins"]) == ("pages-tsv", "keju-example 0.1.0")


def test_the_metric_is_computed_for_transcriptions_with_gaps(command, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for shade, name in enumerate(("a.png", "b.png")):
        Image.new("L", (100, 200), shade).save(source / name)
    (source / "pages.tsv").write_text("a.png\t學□時□之\nb.png\t有朋友\n", "utf-8")
    command("data", "import", "pages-tsv", source, "--out", "data")
    answers = [{"item": "a.png", "text": "學而時□之"}, {"item": "b.png", "text": "有朋友"}]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, answers)) + "\n", "utf-8")
    command("run", "data", "--model", "replay:m.jsonl", "--out", "run")
    command("score", "run", "--json", "scores.json")
    scores = json.loads((tmp_path / "scores.json").read_text("utf-8"))
    rows = [row for row in scores["strict"]["items"] if row["metric"] == "GapAcc"]
    assert {row["id"]: row["value"] for row in rows if row["status"] == "scored"} == {"a.png": 0.5}


def test_a_recipe_reads_the_source(command, tmp_path):
    (tmp_path / "verses.txt").write_text("床前明月光\n\n疑是地上霜\n", "utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, "utf-8")
    command("build", "recipe.toml", "--out", "build")
    items = keju.load(tmp_path / "build" / "dataset").items()
    assert [item.question for item in items] == ["床前明月光", "疑是地上霜"]


def test_the_export_writes_the_responses_and_refuses_a_file_that_exists(command, tmp_path):
    command("run", "mini", "--task", "T7", "--model", "first-option", "--out", "run")
    assert "--out" in command("export", "responses-csv", "--help")
    said = command("export", "responses-csv", "run", "-o", "answers.csv")
    table = pl.read_csv(tmp_path / "answers.csv")
    assert f"{table.height} responses (0 failures)" in said
    assert set(table["text"]) == {"A"}
    with pytest.raises(AssertionError, match="the file exists"):
        command("export", "responses-csv", "run", "-o", "answers.csv")


def test_a_response_file_is_scored(command, tmp_path):
    (tmp_path / "engine.tsv").write_text("1\t天地玄黃\t天地玄黄\n2\t日月\n", "utf-8")
    said = command("score", "engine.tsv", "--protocol", "strict", "--json", "scores.json")
    found = json.loads((tmp_path / "scores.json").read_text("utf-8"))["strict"]["tasks"]
    assert found["page_ocr"]["CharAcc"] == 0.5
    assert "engine" in said


def test_its_texts_are_chinese_from_its_own_catalogue(command, tmp_path):
    shown = command("build", "crop-margins", "--help", language="zh")
    assert "裁去每张图像的页边。" in shown
    assert "每边裁去的宽度和高度的比例。" in shown
    assert "每行一句诗的文本文件" in command("build", "sources", language="zh")
    command("run", "mini", "--task", "T7", "--model", "first-option", "--out", "run")
    (tmp_path / "answers.csv").touch()
    with pytest.raises(AssertionError, match=r"-o answers\.csv：文件已存在。请另选 -o"):
        command("export", "responses-csv", "run", "-o", "answers.csv", language="zh")

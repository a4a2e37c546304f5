"""The report holds all it shows, and nothing that a model says becomes markup."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from lxml import html
from tests.reporting.conftest import HOSTILE

from keju.errors import UsageError
from keju.reporting import write_csv, write_report
from keju.reporting.gather import gather
from keju.reporting.view import build_view
from keju.runs import RunFolder


@pytest.fixture
def page(scored_run, tmp_path):
    write_report([scored_run], tmp_path / "report.html")
    return (tmp_path / "report.html").read_text("utf-8")


def browser_of(page: str) -> dict:
    (text,) = html.fromstring(page).xpath("//script[@id='data']/text()")
    return json.loads(text)


def test_nothing_in_the_page_points_outside_it(page):
    tree = html.fromstring(page)
    addresses = tree.xpath("//@src | //@href | //@action | //@data | //@srcset")
    assert addresses
    assert all(address.startswith("#") for address in addresses)
    assert not re.search(r"@import|url\(", page.split("<script type")[0])
    policy = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_hostile_text_is_data_and_never_markup(page):
    tree = html.fromstring(page)
    assert HOSTILE not in page
    assert len(tree.xpath("//script")) == 3
    assert not tree.xpath("//img")
    texts = [answer["text"] for item in browser_of(page)["items"] for answer in item["answers"]]
    assert HOSTILE in texts


def test_each_item_stands_there_with_both_answers_their_scores_and_the_difference(page):
    items = {item["id"]: item for item in browser_of(page)["items"]}
    assert list(items) == ["page-0", "page-1", "question"]
    good, _ = items["page-1"]["answers"]
    scores = {(row[0], row[1]): row[2] for row in good["scores"]}
    assert scores["strict", "CER"] == 1.0
    assert scores["strict", "CER_order_free"] == 0.0
    assert "".join(part[1] for part in good["diff"]) == "日月盈昃辰宿列張"
    assert "".join(part[2] for part in good["diff"]) == "辰宿列張日月盈昃"
    assert items["question"]["truth"] == "A"
    assert len(browser_of(page)["images"]) == 2
    assert all(url.startswith("data:image/jpeg;base64,") for url in browser_of(page)["images"])


def test_variant_and_order_are_told_apart_from_reading_errors(scored_run):
    view = build_view(gather([scored_run], picture_bytes=0), title="small")
    row = next(row for row in view.errors if "good" in row.model)
    assert row.cer == "50.0"
    assert row.order_free == "0.0"
    assert row.layers == ["56.2", "56.2", "56.2", "56.2", "50.0"]
    assert row.words == "order of columns 50.0, variants and script 6.2, other characters 0.0"
    assert [part.kind for part in row.parts] == ["order", "fold", "glyph"]
    assert row.parts[2].width == 0


def test_a_report_without_its_dataset_says_that_pictures_are_missing(scored_run, tmp_path):
    (tmp_path / "set").rename(tmp_path / "gone")
    write_report([scored_run], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert browser_of(page)["images"] == []
    assert "pictures are not in this file" in page


def test_pictures_keep_within_their_budget(scored_run, tmp_path):
    write_report([scored_run], tmp_path / "report.html", picture_bytes=3000)
    page = (tmp_path / "report.html").read_text("utf-8")
    sizes = [len(url) * 3 / 4 for url in browser_of(page)["images"]]
    assert sum(sizes) <= 3100


def test_an_unscored_run_is_refused_with_the_command_that_scores_it(scored_run, tmp_path):
    for file in RunFolder(scored_run).scores_dir.glob("*"):
        file.unlink()
    with pytest.raises(UsageError, match="keju score"):
        write_report([scored_run], tmp_path / "report.html")


def test_two_runs_of_one_model_are_told_apart(scored_run, tmp_path):
    twin = tmp_path / "twin"
    scored_run.rename(twin)
    (tmp_path / "run").mkdir()
    for path in twin.rglob("*"):
        target = tmp_path / "run" / path.relative_to(twin)
        target.mkdir() if path.is_dir() else target.write_bytes(path.read_bytes())
    gathered = gather([tmp_path / "run", twin], picture_bytes=0)
    assert len(gathered.models) == 4
    assert {name.split(" · ")[1] for name in gathered.models} == {"run", "twin"}
    assert len(gathered.asked) == 3


def test_csv_holds_every_score_and_no_formula(scored_run, tmp_path):
    report = write_report([scored_run], tmp_path / "report.html", picture_bytes=0)
    items, tasks, *_ = write_csv(report, tmp_path / "csv")
    rows = pl.read_csv(items)
    assert rows.height == len(report.gathered.scores)
    assert not any(
        str(value).startswith(("=", "+", "@"))
        for column in rows.select(pl.col(pl.String)).iter_columns()
        for value in column
    )
    mains = pl.read_csv(tasks).filter(pl.col("main"))
    assert mains.height == 2 * 2 * 2


def test_responses_newer_than_the_scores_are_not_passed_over(scored_run, tmp_path):
    (good,) = [m for m in RunFolder(scored_run).manifest().models if "good" in m]
    path = RunFolder(scored_run).responses_path(good, "T7")
    path.write_text(path.read_text("utf-8").replace('"key":"', '"key":"0'), "utf-8")
    with pytest.raises(UsageError, match="Score it again"):
        write_report([scored_run], tmp_path / "report.html")


def test_what_the_overall_numbers_lack_is_named(scored_run):
    view = build_view(gather([scored_run], picture_bytes=0), title="small")
    lines = [line for line in view.missing if "no responses" in line]
    assert lines
    assert all("T2" in line and "T1," not in line for line in lines)

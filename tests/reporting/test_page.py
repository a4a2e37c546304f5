"""The report holds all it shows, and nothing that a model says becomes markup."""

from __future__ import annotations

import base64
import codecs
import json
import re
import shutil

import polars as pl
import pytest
from lxml import html
from msgspec.structs import replace

from keju.analysis.run_set import load_runs
from keju.errors import UsageError
from keju.reporting.csv_export import write_csv
from keju.reporting.page import check_report_place, write_report
from keju.reporting.view import build_view
from keju.runs import RunFolder
from tests.support.scored_runs import HOSTILE


@pytest.fixture(scope="module")
def page(shared_run, tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "report.html"
    return write_report([shared_run], place).page.read_text("utf-8")


def items_of(page: str) -> dict[str, dict]:
    """The details of the page's items by id, their answers with the names of their models."""
    tree = html.fromstring(page)
    index = json.loads(tree.xpath("//script[@id='data']/text()")[0])
    chunks = tree.xpath("//script[starts-with(@id, 'chunk-')]/text()")
    details = [item for chunk in chunks for item in json.loads(chunk)]
    found = {}
    for (name, kind, mains), item in zip(index["items"], details, strict=True):
        metrics = index["kinds"][kind]["metrics"]
        for answer in item["answers"]:
            answer["model"] = index["models"][answer["m"]]
            answer["scores"] = {
                (protocol, metric): value
                for (protocol, metric, *_), value in zip(metrics, answer["values"], strict=True)
            }
        found[name] = item | {"mains": mains}
    return found


def pictures_of(page: str) -> list[bytes]:
    texts = html.fromstring(page).xpath("//script[starts-with(@id, 'picture-')]/text()")
    return [base64.b64decode(text) for text in texts]


def written_out(counted: str, parts: list[int | str]) -> tuple[str, str]:
    """Truth and answer of a difference as the page holds it."""
    truth, answer, at = "", "", 0
    for part in parts:
        if isinstance(part, int):
            truth += counted[at : at + abs(part)]
            answer += counted[at : at + part] if part > 0 else ""
            at += abs(part)
        else:
            answer += part[1:]
            if part[0] != "i":
                truth += counted[at : at + len(part) - 1]
                at += len(part) - 1
    return truth, answer


def test_the_units_of_independence_are_printed(page):
    lines = [each.text_content() for each in html.fromstring(page).xpath("//p")]
    sentence = (
        "Unit of independence: 3 units (groups of the dataset; images of items without a group), "
        "the largest with 33 % of the 3 items (MCS-Bench)."
    )
    assert lines.count(sentence) == 1


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
    assert len(tree.xpath("//script[not(@type)]")) == 1
    assert not tree.xpath("//img")
    assert not tree.xpath("//*[@onerror]")
    texts = [answer["text"] for item in items_of(page).values() for answer in item["answers"]]
    assert HOSTILE in texts
    assert max(map(len, texts)) == 20_000
    assert len(tree.xpath("//comment()")) == 0


def test_each_item_stands_there_with_both_answers_their_scores_and_the_difference(page):
    items = items_of(page)
    assert list(items) == ["page-0", "page-1", "question"]
    good, _ = items["page-1"]["answers"]
    assert good["scores"]["strict", "CER"] == 1.0
    assert good["scores"]["strict", "CER_recognition"] == 0.0
    assert good["scores"]["strict", "CER_layout"] == 1.0
    assert items["page-1"]["mains"][0] == 0.0
    shown = written_out(items["page-1"]["counted"], good["diff"])
    assert shown == ("日月盈昃辰宿列張", "辰宿列張日月盈昃")
    assert 0 in items["page-0"]["answers"][0]["diff"]
    assert items["question"]["truth"] == "A"
    pictures = pictures_of(page)
    assert len(pictures) == 2
    assert all(data.startswith(b"\xff\xd8") for data in pictures)


def test_variants_and_layout_are_apart_from_recognition(scored_run):
    view = build_view(load_runs([scored_run]), title="small")
    row = next(row for row in view.errors if "good" in row.model)
    assert row.cer == "50.0"
    assert (row.recognition, row.layout) == ("0.0", "50.0")
    assert row.layers == ["56.2", "56.2", "56.2", "56.2", "50.0"]
    assert row.words == "layout 50.0, variants and script 6.2, recognition 0.0"
    assert [part.kind for part in row.parts] == ["layout", "fold", "recognition"]
    assert row.parts[2].width == 0


def test_a_folder_holds_the_same_in_files_and_nothing_left_over(page, scored_run, tmp_path):
    report = write_report([scored_run], tmp_path / "folder")
    assert report.page == tmp_path / "folder" / "index.html"
    (tmp_path / "folder" / "items" / "7.js").write_text("old")
    again = write_report([scored_run], tmp_path / "folder")
    files = {p.relative_to(tmp_path / "folder").as_posix() for p in again.page.parent.rglob("*.*")}
    assert files == {"index.html", "items/0.js", "pictures/0.jpg", "pictures/1.jpg"}
    assert again.size == sum((tmp_path / "folder" / each).stat().st_size for each in files)
    script = (tmp_path / "folder" / "items" / "0.js").read_text("utf-8")
    assert script.startswith("kejuChunk(0,[{")
    assert not re.search("[<>&\u2028\u2029]", script)
    in_folder = json.loads(script.removeprefix("kejuChunk(0,").removesuffix(");"))
    in_page = items_of(page).values()
    assert [item["truth"] for item in in_folder] == [item["truth"] for item in in_page]


def test_a_folder_of_somebody_else_is_left_alone(scored_run, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "items").write_text("dear")
    with pytest.raises(UsageError, match="not part of a report"):
        write_report([scored_run], tmp_path / "mine")
    with pytest.raises(UsageError, match=r"end in \.html"):
        write_report([scored_run], tmp_path / "mine" / "items")


def test_a_report_without_its_dataset_says_that_pictures_are_missing(scored_run, tmp_path):
    (tmp_path / "set").rename(tmp_path / "gone")
    write_report([scored_run], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert pictures_of(page) == []
    assert "images are not in this report" in page


def test_pictures_keep_within_their_budget(scored_run, tmp_path):
    write_report([scored_run], tmp_path / "report.html", picture_bytes=3000)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert sum(map(len, pictures_of(page))) <= 3000


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
    run_set = load_runs([tmp_path / "run", twin])
    assert len(run_set.models) == 4
    assert {name.split(" · ")[1] for name in run_set.models} == {"run", "twin"}
    assert len(run_set.asked) == 3


def test_runs_in_folders_of_one_name_are_not_taken_for_one(scored_run, tmp_path):
    shutil.copytree(scored_run, tmp_path / "other" / "run")
    names = load_runs([scored_run, tmp_path / "other" / "run"]).models
    assert len(names) == 4
    assert [name.split(" · ")[1] for name in names] == ["run", "run", "other/run", "other/run"]


def test_csv_holds_every_score_and_no_formula(scored_run, tmp_path):
    report = write_report([scored_run], tmp_path / "report.html", picture_bytes=0)
    items, tasks, *_ = write_csv(report, tmp_path / "csv")
    for path in (items, tasks):
        assert path.read_bytes().startswith(codecs.BOM_UTF8)
    rows = pl.read_csv(items)
    assert rows.columns[0].isascii()
    assert rows.height == sum(1 for _ in report.run_set.scores)
    assert not any(
        str(value).startswith(("=", "+", "@"))
        for column in rows.select(pl.col(pl.String)).iter_columns()
        for value in column
    )
    mains = pl.read_csv(tasks).filter(pl.col("main"))
    assert mains.height == 2 * 2 * 2


def test_tasks_that_are_not_in_the_data_are_counted_and_not_listed(scored_run):
    view = build_view(load_runs([scored_run]), title="small")
    assert view.missing == ["MCS-Bench: 43 of 45 tasks are not in the data"]


def test_tasks_of_the_data_that_a_model_lacks_are_named(scored_run):
    run_set = load_runs([scored_run])
    (good,) = [m for m in run_set.models if "good" in m]
    kept = [
        asked._replace(
            answers=[
                each for each in asked.answers if asked.item.task != "T7" or each.model != good
            ]
        )
        for asked in run_set.asked
    ]
    view = build_view(replace(run_set, asked=kept), title="small")
    assert [line for line in view.missing if "no responses" in line] == [
        f"{good}, {protocol} MCS-Bench: no responses: T7" for protocol in ("official", "strict")
    ]


@pytest.mark.parametrize("name", ["out.pdf", "r.docx", "t.csv", "a/b.htmlx", "report.json"])
def test_a_report_is_an_html_file_or_a_folder(name, tmp_path):
    with pytest.raises(UsageError, match=r"\.html"):
        check_report_place(tmp_path / name)
    (tmp_path / "my.report").mkdir()
    for place in ("r.html", "R.HTM", "folder", "my.report"):
        check_report_place(tmp_path / place)

"""What is left to fix on a page, and what is left when only the surest are kept."""

from __future__ import annotations

import csv

import msgspec
import pytest
from lxml import html

from keju.analysis.risk_coverage import confidence, post_edit_costs, risk_coverage_rows
from keju.analysis.round_spread import round_spreads
from keju.analysis.run_set import load_runs
from keju.items import Item, Line, Response
from keju.reporting.csv_export import write_csv
from keju.reporting.page import write_report
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import make_dataset

PAGES = 12
TEXT = "天地玄黃宇宙洪荒日月盈昃辰宿列張"


def line(text: str, sure: float | None) -> Line:
    return Line(id="l", text=text, confidence=sure)


def response(*lines: Line) -> Response:
    return Response(key="k", item="i", model="m", benchmark="MCS-Bench", task="T1",
                    status="answered", lines=lines)  # fmt: skip


def test_confidence_is_the_mean_over_characters():
    assert confidence(response(line("天地玄", 0.9), line("黃", 0.5))) == pytest.approx(0.8)
    assert confidence(response(line("天", 0.9), line("地", None))) is None
    assert confidence(response(line("", 0.2), line("地", 1.0))) == 1.0
    assert confidence(response()) is None


@pytest.fixture
def pages_run(tmp_path, monkeypatch):
    """Twelve pages of sixteen characters; page n was read with n wrong ones, the surer the fewer.

    Two pages share a book.
    """
    monkeypatch.chdir(tmp_path)
    items = [
        Item(id=f"p{n}", benchmark="MCS-Bench", task="T1", answer=TEXT, group=f"book {n // 2}")
        for n in range(PAGES)
    ]
    answers = [{"item": f"p{n}", "text": "口" * n + TEXT[n:]} for n in range(PAGES)]
    file = tmp_path / "engine.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, answers)) + b"\n")
    run(make_dataset(tmp_path / "set", items), ["replay:engine.jsonl"], tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    for path in folder.response_files():
        told = []
        for text in path.read_text("utf-8").splitlines():
            was = msgspec.json.decode(text, type=Response)
            lines = (line(was.text, 1 - int(was.item[1:]) / 20),)
            told.append(msgspec.json.encode(msgspec.structs.replace(was, lines=lines)))
        path.write_bytes(b"\n".join(told) + b"\n")
    score_run(folder)
    return folder.path


def test_characters_to_fix_are_counted_a_page(pages_run):
    exact, variants = post_edit_costs(load_runs([pages_run]))
    assert (exact.layer, variants.layer) == ("as written", "variants accepted")
    assert (exact.pages, exact.groups) == (12, 6)
    assert exact.mean.value == pytest.approx(5.5)
    assert (exact.median.value, exact.most.value) == (5, 10)
    assert exact.mean.interval.low < 5.5 < exact.mean.interval.high
    assert exact.untouched == pytest.approx(1 / 12)


def test_a_confidence_of_0_is_a_confidence(pages_run):
    folder = RunFolder.open(pages_run)
    for path in folder.response_files():
        lines = [
            msgspec.json.decode(text, type=Response)
            for text in path.read_text("utf-8").splitlines()
        ]
        path.write_bytes(b"".join(
            msgspec.json.encode(msgspec.structs.replace(each, lines=(line(each.text, 0.0),)))
            + b"\n"
            if each.item in {"p10", "p11"} else msgspec.json.encode(each) + b"\n"
            for each in lines
        ))  # fmt: skip
    score_run(folder)
    (found,) = risk_coverage_rows(load_runs([pages_run]))
    assert found.answers == PAGES
    assert found.curve.whole == pytest.approx(5.5 / 16)


def test_the_surest_pages_are_those_with_fewest_errors(pages_run):
    (found,) = risk_coverage_rows(load_runs([pages_run]))
    assert (found.metric, found.answers) == ("CER", 12)
    assert found.curve.at(0.5) == pytest.approx(sum(range(6)) / 6 / 16)
    assert found.curve.whole == pytest.approx(5.5 / 16)
    assert found.curve.gain == pytest.approx(1)
    assert found.at[0.5].low <= found.curve.at(0.5) <= found.at[0.5].high


def test_both_stand_in_the_page_and_in_csv(pages_run, tmp_path):
    report = write_report([pages_run], tmp_path / "r.html")
    page = report.page.read_text("utf-8")
    assert 'id="fixing"' in page
    files = {path.name: path for path in write_csv(report, tmp_path / "csv")}
    (first, _) = csv.DictReader(files["post-editing.csv"].open(encoding="utf-8-sig"))
    assert (first["mean"], first["pages"], first["nine_in_ten"]) == ("5.5", "12", "10.0")
    assert float(first["mean_low"]) < 5.5 < float(first["mean_high"])
    (row,) = csv.DictReader(files["risk-coverage.csv"].open(encoding="utf-8-sig"))
    assert float(row["at_50"]) == pytest.approx(2.5 / 16)
    assert float(row["at_50_low"]) <= float(row["at_50"])


def test_rounds_have_a_deviation_and_a_standard_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    items = [
        Item(id=f"q{n}", benchmark="MCS-Bench", task="T7", answer="A", options=("甲", "乙"))
        for n in range(PAGES)
    ]
    file = tmp_path / "engine.jsonl"
    answers = [{"item": f"q{n}", "text": "A"} for n in range(PAGES)]
    file.write_bytes(b"\n".join(map(msgspec.json.encode, answers)) + b"\n")
    selection = Selection(rounds=2)
    run(make_dataset(tmp_path / "set", items), ["replay:engine.jsonl"], tmp_path / "run",
        selection=selection)  # fmt: skip
    folder = RunFolder.open(tmp_path / "run")
    for path in folder.response_files():
        told = []
        for text in path.read_text("utf-8").splitlines():
            was = msgspec.json.decode(text, type=Response)
            strays = was.round == 2 and int(was.item[1:]) < 4
            told.append(msgspec.json.encode(msgspec.structs.replace(was, text="AB"[strays])))
        path.write_bytes(b"\n".join(told) + b"\n")
    score_run(folder)
    assert risk_coverage_rows(load_runs([folder.path])) == []

    # The value is 1 in the first round and 8/12 in the second; each item is a group of its own.
    values = {(row.protocol, row.task): row for row in round_spreads(load_runs([folder.path]))}
    row = values["strict", "T7"]
    assert row.values == pytest.approx([1, 8 / 12])
    assert row.deviation == pytest.approx((4 / 12) / 2**0.5)
    # The items' means over rounds are 1 (eight) and 1/2 (four).
    assert row.standard_error == pytest.approx((0.25 * 2 / 9 / 11) ** 0.5, rel=0.02)
    assert (row.items, row.groups) == (12, 12)
    report = write_report([folder.path], tmp_path / "r.html")
    tree = html.parse(report.page).getroot()
    lines = tree.xpath("//*[@id='rounds']/following-sibling::details[1]//tbody/tr")
    cells = [cell.text_content() for cell in lines[-1].xpath("./td")]
    assert cells[2:] == ["strict: Acc", "2", "23.57", f"{100 * row.standard_error:.2f}", "12", "12"]
    files = {path.name: path for path in write_csv(report, tmp_path / "csv")}
    rows = list(csv.DictReader(files["rounds.csv"].open(encoding="utf-8-sig")))
    assert [float(line["value"]) for line in rows if line["protocol"] == "strict"] == row.values

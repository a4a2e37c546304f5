"""The directions within domains (2.1), and their means."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest

from keju.analysis.run_set import load_runs
from keju.definitions import tasks
from keju.items import Item
from keju.reporting.csv_export import write_csv
from keju.reporting.page import write_report
from keju.scoring import aggregate
from tests.support.answered import answered_run
from tests.support.score_json import to_json

OF_PAPER = {
    "Ancient Chinese Text": ["T1", "T2 T3 T4 T5 T6 T7"],
    "Calligraphy": ["T8 T10 T11 T12 T13", "T9 T14 T15"],
    "Painting": ["T16 T18 T19 T20 T24 T26", "T17 T21 T22 T23 T25 T27"],
    "Oracle Bone Script": ["T28", "T29"],
    "Seal": ["T30", "T31"],
    "Cultural Relic": ["T32 T33 T34", "T35 T36"],
    "Illustration": ["T37 T38 T39 T41 T42", "T40 T43 T44 T45"],
}


def declared() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for each in tasks():
        if each.benchmark == "MCS-Bench":
            found.setdefault(each.domain, {}).setdefault(each.direction, []).append(each.id)
    return found


def test_each_domain_has_the_two_directions_of_section_2_1() -> None:
    found = {domain: [" ".join(ids) for ids in d.values()] for domain, d in declared().items()}
    assert found == OF_PAPER
    names = [direction for directions in declared().values() for direction in directions]
    assert set(Counter(names).values()) == {1}
    assert "" not in names


def test_the_paper_has_the_tasks_of_each_direction(shared) -> None:
    """Those of Section 2.1, read from its text: bold words followed by tasks in brackets."""
    text = (shared / "papers" / "mcs-bench.txt").read_text(encoding="utf-8")
    text = text[text.index("2.1 Task Definition") : text.index("2.2 Data Construction")]
    bold = re.findall(r"\*\*([^*]+)\*\* \(((?:T\d+(?:, )?)+)\)", text)
    paper = {tuple(ids.split(", ")): words for words, ids in bold}
    ours = {tuple(ids): words for d in declared().values() for words, ids in d.items()}
    assert set(paper) == set(ours)
    shortened = {("T28",), ("T29",), ("T30",), ("T31",)}
    assert {ids for ids in paper if paper[ids] != ours[ids]} == shortened


@pytest.fixture
def run(tmp_path):
    items = [
        Item(id=f"{task}-{n}", benchmark="MCS-Bench", task=task, options=("a", "b"), answer="A")
        for task in ("T10", "T11", "T14", "T32", "T36")
        for n in range(4)
    ]
    return answered_run(tmp_path / "run", items, {"openai:m": 0.6, "openai:n": 0.3})


def test_a_direction_has_the_plain_mean_of_its_tasks(run, tmp_path):
    run_set = load_runs([run])
    result = run_set.results["openai:m", "official"]
    values = {each.task: each.main.value for each in result.tasks}
    (benchmark,) = result.benchmarks
    calligraphy = benchmark.directions["Calligraphy"]
    first, second = calligraphy["Calligraphy Recognition"], calligraphy["Appreciation"]
    assert first.value == pytest.approx((values["T10"] + values["T11"]) / 2)
    assert (first.parts, set(first.missing)) == (("T8", "T10", "T11", "T12", "T13"),
                                                 {"T8", "T12", "T13"})  # fmt: skip
    assert second.value == values["T14"]
    assert benchmark.directions["Seal"]["Recognition of seal inscriptions"].value is None
    report = write_report([run], tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "by direction within the domains" in page
    assert "Information Mining<small>Cultural Relic</small>" in page
    write_csv(report, tmp_path / "csv")
    frame = pl.read_csv(tmp_path / "csv" / "directions.csv")
    rows = frame.filter(model="openai:m", protocol="official", domain="Calligraphy")
    assert rows["direction"].to_list() == ["Calligraphy Recognition", "Appreciation"]
    assert rows["value"].to_list() == [first.value, second.value]
    assert rows["tasks"].to_list() == [2, 1]
    assert rows["of_tasks"].to_list() == [5, 3]
    scores = [score for score in run_set.scores if score.model == "openai:m"]
    assert to_json(scores)["official"]["directions"]["Calligraphy"] == {
        "Calligraphy Recognition": first.value, "Appreciation": second.value,
    }  # fmt: skip


def test_a_benchmark_without_directions_has_no_table_of_them(tmp_path):
    items = [Item(id="a", benchmark="AncientDoc", task="page_level_ocr", answer="天地玄黄")]
    run = answered_run(tmp_path / "run", items, {"openai:m": 1.0})
    (result, *_) = aggregate(load_runs([run]).scores)
    assert result.benchmarks[0].directions == {}
    report = write_report([run], tmp_path / "r.html")
    assert "by direction" not in (tmp_path / "r.html").read_text()
    assert "directions.csv" not in {path.name for path in write_csv(report, tmp_path / "csv")}

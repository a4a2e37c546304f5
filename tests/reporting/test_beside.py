"""A run in the papers' tables, with and without the papers' own rows, and as LaTeX and CSV."""

from __future__ import annotations

import re
from html import unescape

import msgspec
import polars as pl
import pytest

from keju.benchmarks import tasks
from keju.items import Item, Response
from keju.published import published_tables
from keju.reporting import write_csv, write_latex, write_report
from keju.reporting.beside import beside_tables
from keju.reporting.gather import gather
from keju.reporting.latex import escaped
from keju.reporting.other_data import other_data
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run

RELICS = [each.id for each in tasks() if each.domain == "Cultural Relic" and each.format == "MCQ"]
HOSTILE = "openai:\\input{/etc/passwd}%_&#$^~{\u202e"


@pytest.fixture
def run(tmp_path):
    """One item of each question with letters on relics: one model right on all, one on half."""
    run = RunFolder(tmp_path / "mcs")
    items = [
        Item(id=f"{each}-{n}", benchmark="MCS-Bench", task=each, options=("a", "b"), answer="A")
        for each in RELICS
        for n in range(2)
    ]
    run.write_items(items)
    right = {HOSTILE: {0, 1}, "openai:half": {0}, "baseline:chance": {0, 1}}
    run.write_manifest(
        RunManifest(
            keju="0", dataset="mine", dataset_version="1", dataset_hash="h",
            models={name: {} for name in right},
        )
    )  # fmt: skip
    for model, places in right.items():
        for item in items:
            path = run.responses_path(model, item.task)
            path.parent.mkdir(parents=True, exist_ok=True)
            response = Response(
                key=f"{model}{item.id}", item=item.id, model=model, benchmark="MCS-Bench",
                task=item.task, status="answered",
                text="A" if int(item.id[-1]) in places else "B",
            )  # fmt: skip
            with path.open("ab") as stream:
                stream.write(msgspec.json.encode(response) + b"\n")
    score_run(run)
    return run.path


def tables_of(run, *, published: bool):
    gathered = gather([run], picture_bytes=0)
    found = beside_tables(gathered, gathered.results, published=published)
    return {table.name: table for table in found}


def column(table, name: str) -> dict[tuple[str, str], object]:
    place = [heading.name for heading in table.headings].index(name)
    return {(row.source, row.model): row.cells[place] for row in table.rows}


def test_printed_cells_stand_as_printed_and_the_best_is_found_again(run):
    table = tables_of(run, published=True)["Table 20"]
    printed = published_tables("MCS-Bench")["Table 20"].columns["T33:Acc"]
    found = column(table, "T33:Acc")
    theirs = {model: cell.value for (source, model), cell in found.items() if source == "paper"}
    assert len(theirs) == 37
    assert theirs == {row: cell.text for row, cell in printed.cells.items() if row in theirs}
    assert found["this run", HOSTILE].best
    assert not found["this run", "baseline:chance"].best
    assert found["this run", "openai:half"].value == "50.00"
    top = max(printed.values[model] for model in theirs)
    seconds = {key for key, cell in found.items() if cell.second}
    assert seconds == {("paper", model) for model in theirs if printed.values[model] == top}


def test_a_mean_stands_over_the_same_tasks_in_both(run):
    tables = tables_of(run, published=True)
    whole = column(tables["Table 20"], "MCQ:mean")
    assert whole["paper", "GPT-4o"].value == (
        published_tables("MCS-Bench")["Table 20"].columns["MCQ:mean"].cells["GPT-4o"].text
    )
    table = tables["Table 3"]
    heading = next(each for each in table.headings if each.name == "OverAll:mean")
    assert heading.note == "over 4 of 45 tasks"
    recomputed = column(table, "OverAll:mean")["paper", "GPT-4o"].value
    assert float(recomputed) == pytest.approx(float(whole["paper", "GPT-4o"].value), abs=0.01)
    assert "Painting:mean" not in [each.name for each in table.headings]


def test_without_the_papers_rows_only_the_run_is_there(run):
    for table in tables_of(run, published=False).values():
        assert {row.source for row in table.rows} == {"this run"}


def test_it_is_said_that_the_data_are_others(run, tmp_path):
    (line,) = other_data(gather([run], picture_bytes=0))
    assert line.startswith("mine 1 has other items than the benchmark (T32 2 of 150")
    write_report([run], tmp_path / "report.html", published=True)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert line in unescape(page)
    assert page.count("Beside the papers") == 2
    write_report([run], tmp_path / "report.html")
    assert "Beside the papers" not in (tmp_path / "report.html").read_text("utf-8")


def test_latex_is_whole_and_escaped(run, tmp_path):
    report = write_report([run], tmp_path / "report.html", published=True)
    written = {path.name: path.read_text("utf-8") for path in write_latex(report, tmp_path / "tex")}
    assert set(written) == {
        "mcs-bench-leaderboard.tex", "mcs-bench-table-3.tex", "mcs-bench-table-20.tex",
        *(f"mcs-bench-table-{n}.tex" for n in (7, 10, 12)),  # OverAll of models with other rows
    }  # fmt: skip
    text = written["mcs-bench-table-20.tex"]
    body = text.partition("\n")[2]
    assert not re.search(r"(?<!\\)[%#&_^~](?![ ]|\{\*\})", body.replace("$^{*}$", ""))
    bare = re.sub(r"\\[{}]", "", body)
    assert bare.count("{") == bare.count("}")
    assert "\\input" not in body
    assert "\u202e" not in body
    rows = [line for line in body.splitlines() if line.count(" & ")]
    assert {line.count(" & ") for line in rows} == {len(RELICS) + 2}
    assert r"\textbf{100.00}" in body
    assert body.index("This run") < body.index("As printed in the paper")


def test_what_latex_would_take_for_a_sign_is_printed():
    assert escaped("a--b ?` \x07\u202e\n") == "a-{}-b ?{}`  "
    assert escaped("50% {x}") == r"50\% \{x\}"


def test_csv_has_the_papers_columns_and_says_whose_a_row_is(run, tmp_path):
    report = write_report([run], tmp_path / "report.html", published=True)
    paths = {path.stem: path for path in write_csv(report, tmp_path / "csv")}
    rows = pl.read_csv(paths["mcs-bench-table-20"])
    assert rows.columns[:4] == ["model", "source", "T32:Acc", "T33:Acc"]
    assert rows["source"].to_list() == ["this run"] * 3 + ["paper"] * 37


def test_one_judges_grades_fill_the_judges_column(tmp_path):
    run = RunFolder(tmp_path / "doc")
    item = Item(
        id="r", benchmark="AncientDoc", task="reasoning_qa", question="為何？", answer="因雨"
    )
    run.write_items([item])
    run.write_manifest(
        RunManifest(
            keju="0", dataset="d", dataset_version="1", dataset_hash="h", models={"openai:m": {}}
        )
    )
    path = run.responses_path("openai:m", item.task)
    path.parent.mkdir(parents=True)
    response = Response(
        key="k", item="r", model="openai:m", benchmark="AncientDoc", task=item.task,
        status="answered", text="因為下雨",
    )  # fmt: skip
    path.write_bytes(msgspec.json.encode(response) + b"\n")
    score_run(run)
    gathered = gather([run.path], picture_bytes=0)

    def grade(given):
        tables = beside_tables(gathered, gathered.results, published=True, given=given)
        table = next(table for table in tables if table.name == "Table 9")
        return column(table, "reasoning_qa:GPT4oScore").get(("this run", "openai:m")), table

    cell, table = grade({("openai:m", "reasoning_qa"): {"openai:judge": 7.25}})
    assert cell.value == "7.25"
    assert table.about == "Reasoning-based QA"
    printed = column(table, "reasoning_qa:GPT4oScore")
    assert printed["paper", "GPT-4o"].value not in ("", "–")
    two, _ = grade({("openai:m", "reasoning_qa"): {"openai:judge": 7.0, "openai:other": 3.0}})
    assert two.value == "–"

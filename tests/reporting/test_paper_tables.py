"""A run in the papers' tables, with and without the papers' own rows, and as LaTeX and CSV."""

from __future__ import annotations

import csv
import re
from html import unescape
from importlib.resources import files
from statistics import fmean

import msgspec
import polars as pl
import pytest
from typer.testing import CliRunner

from keju.analysis.other_data import other_data
from keju.analysis.run_set import load_runs
from keju.analysis.same_models import check_same_as, read_same_as
from keju.cli import app
from keju.definitions import tasks
from keju.errors import UsageError
from keju.items import Item, Response
from keju.judging.grading import TaskGrade
from keju.published import published_tables
from keju.reporting.csv_export import write_csv
from keju.reporting.latex import escaped, write_latex
from keju.reporting.page import write_report
from keju.reporting.paper_table_means import mean_columns
from keju.reporting.paper_tables import build_paper_tables
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run
from tests.support.answered import answered_run

RELICS = [each.id for each in tasks() if each.domain == "Cultural Relic" and each.format == "MCQ"]
HOSTILE = "openai:\\input{/etc/passwd}%_&#$^~{\u202e"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One item of each question with letters on relics: one model right on all, one on half."""
    run = RunFolder(tmp_path_factory.mktemp("relics") / "mcs")
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


@pytest.fixture(scope="module")
def report(run):
    """Of that run, with the papers' own rows."""
    return write_report([run], run.parent / "report.html", published=True)


@pytest.fixture(scope="module")
def tables(report):
    """The papers' tables of that run, with the papers' own rows."""
    return {table.name: table for table in report.paper_tables}


def lines(name: str) -> list[dict[str, str]]:
    """A shipped table of MCS-Bench, read without keju."""
    path = files("keju.benchmarks.mcs_bench").joinpath("published", "tables", f"{name}.csv")
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def shipped(name: str, model: str, cell: str) -> str:
    """A printed cell, without the marks of best and second."""
    return next(row[cell] for row in lines(name) if row["model"] == model).strip("*_")


def tables_of(run, *, published: bool):
    run_set = load_runs([run])
    found = build_paper_tables(run_set, run_set.results, published=published)
    return {table.name: table for table in found}


def column(table, name: str) -> dict[tuple[str, str], object]:
    place = [heading.name for heading in table.headings].index(name)
    return {(row.source, row.model): row.cells[place] for row in table.rows}


def test_a_column_that_is_misprinted_is_named(tmp_path):
    item = Item(id="c", benchmark="MCS-Bench", task="T10", options=("a", "b"), answer="A")
    path = answered_run(tmp_path / "run", [item], {"openai:m": 1.0})
    by_name = {given: tables_of(path, published=given)["Table 16"] for given in (True, False)}
    assert any("T9" in note for note in by_name[True].notes)
    assert not by_name[False].notes


def test_printed_cells_stand_as_printed_and_the_best_is_found_again(tables):
    table = tables["Table 20"]
    printed = published_tables("MCS-Bench")["Table 20"].columns["T33:Acc"]
    found = column(table, "T33:Acc")
    theirs = {model: cell.value for (source, model), cell in found.items() if source == "paper"}
    assert len(theirs) == 38  # its Average is a row too
    assert theirs == {row: cell.text for row, cell in printed.cells.items() if row in theirs}
    assert found["this run", HOSTILE].best
    assert not found["this run", "baseline:chance"].best
    assert found["this run", "openai:half"].value == "50.00"
    top = max(printed.values[model] for model in theirs)
    seconds = {key for key, cell in found.items() if cell.second}
    ranked = {model for model in theirs if model != "Average"}
    assert seconds == {("paper", model) for model in ranked if printed.values[model] == top}


def test_a_mean_of_some_tasks_is_beside_the_printed_one_and_not_in_its_place(tables):
    table = tables["Table 3"]
    overall = column(table, "OverAll:mean")
    assert overall["paper", "Claude-3.5-Sonnet"].value == "44.55"
    four = [float(shipped("table-20", "Claude-3.5-Sonnet", f"{task}:Acc")) for task in RELICS]
    assert overall["recomputed", "Claude-3.5-Sonnet"].value == f"{fmean(four):.2f}" == "73.86"
    assert overall["recomputed", "Claude-3.5-Sonnet"].note == "4 of 45 tasks"
    assert overall["this run", "openai:half"] == overall["this run", "openai:half"]._replace(
        value="50.00", note="4 of 45 tasks"
    )
    relics = column(table, "Cultural Relic:mean")
    assert relics["paper", "GPT-4o"].value == "68.41"
    assert relics["recomputed", "GPT-4o"].note == "4 of 5 tasks"
    assert "Painting:mean" not in [each.name for each in table.headings]


def test_a_mean_of_all_tasks_of_a_column_has_the_printed_value_alone(tables):
    table = tables["Table 20"]
    whole = column(table, "MCQ:mean")
    assert whole["paper", "GPT-4o"].value == shipped("table-20", "GPT-4o", "MCQ:mean")
    assert whole["recomputed", "GPT-4o"].value == "–"
    assert whole["this run", HOSTILE].best
    assert not whole["this run", HOSTILE].note
    partial = column(table, "OverAll:mean")
    assert partial["recomputed", "GPT-4o"].value == whole["paper", "GPT-4o"].value


def test_a_recomputed_row_is_under_its_printed_one_and_says_so(tables):
    table = tables["Table 3"]
    theirs = [(row.model, row.label) for row in table.rows if row.source != "this run"]
    assert theirs[:2] == [
        ("Claude-3.5-Sonnet", "paper"),
        ("Claude-3.5-Sonnet", "recomputed from the paper's task tables, 4 of 45 tasks"),
    ]
    assert [model for model, _ in theirs[::2]] == [model for model, _ in theirs[1::2]]
    assert len(theirs) == 2 * 38
    own = {row.model: str(row.tasks) for row in table.rows if row.source == "this run"}
    assert set(own.values()) == {"4 of 45"}


def test_two_people_have_one_row_in_table_7(tmp_path):
    """The paper's one value of two people; in HTML, CSV and LaTeX alike."""
    folder = answered_run(
        tmp_path / "run",
        [
            Item(id=f"{n}", benchmark="MCS-Bench", task="T16", options=("a", "b"), answer="A")
            for n in range(6)
        ],
        {"human:Li": 4 / 6, "human:Wang": 2 / 6, "openai:m": 0.5},
    )
    page = tmp_path / "page.html"
    report = write_report([folder], page, published=True)
    by_name = {each.name: each for each in report.paper_tables if each.benchmark == "MCS-Bench"}
    for name, people in (
        ("Table 7", ["people (2)"]), ("Table 3", ["human:Li", "human:Wang", "people (2)"]),
    ):  # fmt: skip
        overall = column(by_name[name], "OverAll:mean")
        own = {model: cell.value for (source, model), cell in overall.items()
               if source == "this run"}  # fmt: skip
        assert [model for model in own if model != "openai:m"] == people
        assert own["people (2)"] == "50.00"
    assert any("people (2)" in note for note in by_name["Table 7"].notes)
    shown = page.read_text().partition("MCS-Bench, Table 7")[2].partition("</table>")[0]
    assert shown.count("people (2)</td>") == 1
    assert "human:" not in shown
    write_csv(report, tmp_path / "csv")
    frame = pl.read_csv(tmp_path / "csv" / "mcs-bench-table-7.csv", infer_schema=False)
    assert frame.filter(pl.col("model") == "people (2)")["OverAll:mean"].to_list() == ["50.00"]
    assert not frame["model"].str.starts_with("human:").any()
    write_latex(report, tmp_path / "latex")
    latex = (tmp_path / "latex" / "mcs-bench-table-7.tex").read_text()
    assert latex.count("people (2) (this run") == 1
    assert "human:" not in latex


def test_one_person_keeps_the_own_row_in_table_7(tmp_path):
    item = Item(id="c", benchmark="MCS-Bench", task="T10", options=("a", "b"), answer="A")
    path = answered_run(tmp_path / "run", [item], {"human:Li": 1.0})
    table = tables_of(path, published=True)["Table 7"]
    assert [row.model for row in table.rows if row.source == "this run"] == ["human:Li"]
    assert not table.notes


def test_rows_of_models_without_task_values_stay_as_printed(tables):
    human = column(tables["Table 7"], "OverAll:mean")
    assert human["paper", "Human Baseline"].value == "68.24"
    assert ("recomputed", "Human Baseline") not in human
    assert human["recomputed", "GPT-4o"].value != human["paper", "GPT-4o"].value == "44.72"
    sampled = column(tables["Table 11"], "OverAll:mean")
    assert {model for source, model in sampled if source == "paper"} == {
        "LLaVA-V1.6-34B", "Pangea-7B", "Maya-8B",
    }  # fmt: skip
    assert not any(source == "recomputed" for source, _ in sampled)
    assert {row.group for row in tables["Table 12"].rows if row.source == "paper"} == {
        "Multilingual Models", "English-Centric Models",
    }  # fmt: skip


def test_table_3_has_ranks_averages_and_groups(tables):
    table = tables["Table 3"]
    ranks = column(table, "OverAll:rank")
    assert ranks["paper", "InternVL2.5-78B"].value == "1"
    assert ranks["paper", "Claude-3.5-Sonnet"].value == "7"
    assert ranks["paper", "Average"].value == "–"
    assert column(table, "OverAll:mean")["paper", "Average"].value == "35.46"
    # The recomputed ranks are those of means over the same four tasks; the run's are among them.
    names = [row["model"] for row in lines("table-20") if row["model"] != "Average"]
    means = {
        name: fmean(float(shipped("table-20", name, f"{task}:Acc")) for task in RELICS)
        for name in names
    }
    place = 1 + sum(round(each, 2) > round(means["GPT-4o"], 2) for each in means.values())
    assert ranks["recomputed", "GPT-4o"].value == str(place)
    assert ranks["this run", HOSTILE].value == "1"
    better = sum(each > 50 for each in means.values())
    assert ranks["this run", "openai:half"].value == str(1 + better)
    assert ranks["this run", "baseline:chance"].value == "–"
    groups = {row.model: row.group for row in table.rows}
    assert groups["GPT-4o"] == "Closed-source Models"
    assert groups["QVQ-72B-Preview"] == "Open-source Models"
    assert groups["Average"] == groups[HOSTILE] == ""
    printed = [row.model for row in table.rows if row.source == "paper"]
    assert printed == [row["model"] for row in lines("table-3")]


def test_a_row_of_averages_is_never_the_best_and_no_own_row_is_in_it(tables):
    table = tables["Table 20"]
    for heading in table.headings:
        cell = column(table, heading.name)["paper", "Average"]
        assert not cell.best
        assert not cell.second
        assert cell.value == shipped("table-20", "Average", heading.name)


def test_own_tasks_that_no_table_prints_are_in_a_row_of_the_run_alone(tmp_path):
    """T16 and T18 are printed, T40 is not: the run's second row is over the two."""
    letters = [
        Item(id=f"{task}-{n}", benchmark="MCS-Bench", task=task, options=("a", "b"), answer="A")
        for task in ("T16", "T18", "T40")
        for n in range(4)
    ]
    folder = answered_run(tmp_path / "run", letters, {"openai:m": 0.6})
    table = tables_of(folder, published=True)["Table 3"]
    own = [row for row in table.rows if row.source == "this run"]
    assert [str(row.tasks) for row in own] == ["3 of 45", "2 of 45"]
    names = ["openai:m", "openai:m, tasks that the paper prints"]
    assert [row.name for row in own] == names
    page = tmp_path / "page.html"
    report = write_report([folder], page, published=True)
    assert all(f">{name}</td>" in page.read_text() for name in names)
    write_csv(report, tmp_path / "csv")
    frame = pl.read_csv(tmp_path / "csv" / "mcs-bench-table-3.csv")
    assert frame.filter(pl.col("source") == "this run")["model"].to_list() == names
    write_latex(report, tmp_path / "latex")
    latex = (tmp_path / "latex" / "mcs-bench-table-3.tex").read_text()
    assert latex.count("tasks that the paper prints (this run, 2 of 45 tasks)") == 1
    (theirs,) = (r for r in table.rows if (r.source, r.model) == ("recomputed", "GPT-4o"))
    assert str(theirs.tasks) == "2 of 45"
    place = [heading.name for heading in table.headings].index("OverAll:mean")
    values = [float(shipped("table-17", "GPT-4o", f"{name}:Acc")) for name in ("T16", "T18")]
    assert theirs.cells[place].value == f"{fmean(values):.2f}"
    run_set = load_runs([folder])
    by_task = {
        each.task: each.metrics[0].value for each in run_set.results["openai:m", "official"].tasks
    }
    assert own[1].cells[place].value == f"{50 * (by_task['T16'] + by_task['T18']):.2f}"
    assert own[0].cells[place].value == (
        f"{50 * ((by_task['T16'] + by_task['T18']) / 2 + by_task['T40']):.2f}"
    )


def test_illustrations_open_questions_are_taken_from_table_28():
    printed = published_tables("MCS-Bench")
    (mean,) = (
        each
        for each in mean_columns("MCS-Bench", printed, printed["Table 3"])
        if each.column.name == "Illustration:mean"
    )
    assert mean.over == {f"T{n}" for n in range(37, 46)}
    assert mean.over & mean.parts.keys() == {"T37", "T38", "T39", "T44"}
    halves = [
        (float(shipped("table-28", "GPT-4o", f"{t}:BERTScore"))
         + float(shipped("table-28", "GPT-4o", f"{t}:ANLS"))) / 2
        for t in ("T38", "T39", "T44")
    ]  # fmt: skip
    read = float(shipped("table-4", "GPT-4o", "T37:CR"))
    four = frozenset({"T37", "T38", "T39", "T44"})
    assert mean.recomputed("GPT-4o", four) == pytest.approx(fmean([read, *halves]))
    assert mean.recomputed("GPT-4o", four | {"T40"}) is None
    assert mean.recomputed("Human Baseline", four) is None


@pytest.mark.parametrize("name", [f"Table {n}" for n in (3, 4, *range(15, 21))])
def test_a_mean_recomputed_over_all_tasks_is_the_printed_one(name):
    """Of every mean whose tasks are all printed, for all 37 models, engines and the average."""
    printed = published_tables("MCS-Bench")
    compared = 0
    for mean in mean_columns("MCS-Bench", printed, printed[name]):
        for row, value in mean.column.values.items() if mean.over <= mean.parts.keys() else ():
            assert mean.recomputed(row, mean.over) == pytest.approx(value, abs=0.01)
            compared += 1
    assert compared >= 2 * 38


def test_all_tasks_of_a_mean_need_no_recomputed_row(tmp_path):
    pages = [
        Item(id=f"{task}-{n}", benchmark="MCS-Bench", task=task, answer="天地玄黃宇宙洪荒")
        for task in ("T1", "T8", "T26", "T28", "T30", "T37")
        for n in range(2)
    ]
    folder = answered_run(tmp_path / "run", pages, {"openai:m": 0.4})
    run_set = load_runs([folder])
    same = read_same_as(["openai:m=Qwen2-VL-7B-Instruct"])
    tables = build_paper_tables(run_set, run_set.results, published=True, same_as=same)
    (table,) = (each for each in tables if each.name == "Table 4")
    assert {row.source for row in table.rows} == {"this run", "difference", "paper"}
    read = column(table, "OCR:CR")
    assert not read["this run", "openai:m"].note
    assert str(table.rows[0].tasks) == "6 of 6"
    theirs = float(shipped("table-4", "Qwen2-VL-7B-Instruct", "OCR:CR"))
    difference = read["difference", "openai:m − Qwen2-VL-7B-Instruct"].value
    assert difference == f"{float(read['this run', 'openai:m'].value) - theirs:+.2f}"


def test_a_row_that_was_given_the_true_text_has_no_rank_and_is_not_the_best(tmp_path):
    pages = [
        Item(id=f"t{n}", benchmark="MCS-Bench", task="T2", answer="天地玄黃，宇宙洪荒。")
        for n in range(4)
    ]
    both = {"image": 0.0, "gold-text": 0.5}
    folder = answered_run(tmp_path / "run", pages, {"openai:m": 0.5}, settings=both)
    table = tables_of(folder, published=True)["Table 3"]
    names = [row.model for row in table.rows if row.source == "this run"]
    given = next(name for name in names if "gold-text" in name)
    seen = next(name for name in names if name != given)
    overall, ranks = column(table, "OverAll:mean"), column(table, "OverAll:rank")
    assert float(overall["this run", given].value) > float(overall["this run", seen].value) > 0
    assert not overall["this run", given].best
    assert ranks["this run", given].value == "–"
    printed = [r["T2:BLEU"].strip("*_") for r in lines("table-15") if r["model"] != "Average"]
    better = sum(float(each) > float(overall["this run", seen].value) for each in printed)
    assert ranks["this run", seen].value == str(1 + better)


def test_a_row_of_drawn_data_is_neither_ranked_nor_marked_among_the_papers_models(tmp_path):
    items = [
        Item(id=f"{each}-{n}", benchmark="MCS-Bench", task=each, options=("a", "b"), answer="A")
        for each in RELICS
        for n in range(4)
    ]
    path = answered_run(tmp_path / "r", items, {"openai:m": 1.0}, synthetic=True)
    run_set = load_runs([path])
    who = ("this run", "openai:m")
    (with_paper,) = [
        each for each in build_paper_tables(run_set, run_set.results, published=True)
        if each.name == "Table 3"
    ]  # fmt: skip
    overall = column(with_paper, "OverAll:mean")[who]
    assert (overall.value, overall.best) == ("100.00", False)
    assert column(with_paper, "OverAll:rank")[who].value == "–"
    assert [cell.best for cell in column(with_paper, "OverAll:mean").values()].count(True) > 0
    (alone,) = [
        each for each in build_paper_tables(run_set, run_set.results, published=False)
        if each.name == "Table 3"
    ]  # fmt: skip
    assert column(alone, "OverAll:rank")[who].value == "1"


def test_table_4_has_overall_groups_and_an_average(tmp_path):
    pages = [
        Item(id=f"{task}-{n}", benchmark="MCS-Bench", task=task, answer="天地玄黃宇宙洪荒")
        for task in ("T1", "T8")
        for n in range(3)
    ]
    folder = answered_run(tmp_path / "run", pages, {"ppocr": 0.7, "openai:m": 0.4})
    table = tables_of(folder, published=True)["Table 4"]
    assert [each.title for each in table.headings[:2]] == ["OverAll", "OverAll"]
    groups = {row.model: row.group for row in table.rows if row.source == "paper"}
    assert [name for name, group in groups.items() if group == "OCR Models"] == [
        "GOT", "PaddleOCR", "KanDianGuji",
    ]  # fmt: skip
    read = column(table, "OCR:CR")
    assert read["paper", "PaddleOCR"].value == "28.31"
    assert read["paper", "Average"].value == "21.92"
    assert read["recomputed", "PaddleOCR"].value == f"{(49.69 + 17.99) / 2:.2f}"
    assert read["recomputed", "PaddleOCR"].note == "2 of 6 tasks"
    assert read["this run", "ppocr"].note == "2 of 6 tasks"
    one, other = (column(table, f"{name}:CR")["this run", "ppocr"].value for name in ("T1", "T8"))
    mean = (float(one) + float(other)) / 2
    assert float(read["this run", "ppocr"].value) == pytest.approx(mean, abs=0.011)


def test_a_difference_is_shown_for_a_declared_model_only(run):
    def rows(*declared):
        run_set = load_runs([run])
        same = read_same_as(declared)
        check_same_as(same, run_set)
        tables = build_paper_tables(run_set, run_set.results, published=True, same_as=same)
        return {table.name: table for table in tables}

    assert not any(row.source == "difference" for t in rows().values() for row in t.rows)
    tables = rows("openai:half=GPT-4o")
    found = column(tables["Table 20"], "T33:Acc")
    key = ("difference", "openai:half − GPT-4o")
    assert found[key].value == f"{50 - float(shipped('table-20', 'GPT-4o', 'T33:Acc')):+.2f}"
    overall = column(tables["Table 3"], "OverAll:mean")
    recomputed = float(overall["recomputed", "GPT-4o"].value)
    assert overall[key].value == f"{50 - recomputed:+.2f}"
    assert overall[key].note == "4 of 45 tasks"
    order = [(row.source, row.model) for row in tables["Table 20"].rows]
    assert order.index(key) == order.index(("this run", "openai:half")) + 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("openai:half", "is not MODEL=PRINTED"),
        ("openai:half=GPT-4", "no paper has a model 'GPT-4'"),
        ("openai:hal=GPT-4o", "no model 'openai:hal' in these runs"),
        ("openai:half=Qwen2-VL-7B", "(MCS-Bench) have no model 'Qwen2-VL-7B'"),
    ],
)
def test_a_declaration_must_match_exactly(run, line, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        check_same_as(read_same_as([line]), load_runs([run]))


def test_the_command_needs_the_papers_rows_for_a_difference(run, tmp_path):
    asked = ["report", str(run), "-o", str(tmp_path / "r.html"), "--same-as", "openai:half=GPT-4o"]
    assert isinstance(CliRunner().invoke(app, asked).exception, UsageError)
    done = CliRunner().invoke(app, [*asked, "--published", "--csv", str(tmp_path / "csv")])
    assert done.exit_code == 0, done.output
    with (tmp_path / "csv/mcs-bench-table-20.csv").open(encoding="utf-8-sig") as stream:
        (row,) = (row for row in csv.DictReader(stream) if row["source"] == "difference")
    assert row["T33:Acc"] == f"{50 - float(shipped('table-20', 'GPT-4o', 'T33:Acc')):+.2f}"


def test_without_the_papers_rows_only_the_run_is_there(run):
    for table in tables_of(run, published=False).values():
        assert {row.source for row in table.rows} == {"this run"}


def test_it_is_said_that_the_data_are_others(run, report, tmp_path):
    (line,) = other_data(load_runs([run]))
    assert line.startswith("mine 1 has other items than the benchmark (T32 2 of 150")
    page = report.page.read_text("utf-8")
    assert line in unescape(page)
    assert page.count("Comparison with published results") == 2
    alone = write_report([run], tmp_path / "alone.html").page.read_text("utf-8")
    assert "Comparison with published results" not in alone


def test_latex_is_whole_and_escaped(report, tmp_path):
    written = {path.name: path.read_text("utf-8") for path in write_latex(report, tmp_path / "tex")}
    assert set(written) == {
        "mcs-bench-leaderboard.tex", "mcs-bench-table-3.tex", "mcs-bench-table-20.tex",
        *(f"mcs-bench-table-{n}.tex" for n in (7, 10, 11, 12)),  # nothing but OverAll
    }  # fmt: skip
    text = written["mcs-bench-table-20.tex"]
    body = text.partition("\n")[2]
    assert not re.search(r"(?<!\\)[%#&_^~](?![ ])", body)
    bare = re.sub(r"\\[{}]", "", body)
    assert bare.count("{") == bare.count("}")
    assert "\\input" not in body
    assert "\u202e" not in body
    rows = [line for line in body.splitlines() if line.count(" & ")]
    assert {line.count(" & ") for line in rows} == {len(RELICS) + 2}
    assert r"\textbf{100.00}" in body
    groups = re.findall(r"textit\{(.*?)\}", body)
    printed = "The paper, as printed unless a row says otherwise"
    assert groups == [
        "This run",
        *(f"{printed}: {kind}-source Models" for kind in ("Closed", "Open")),
        printed,
    ]
    three = written["mcs-bench-table-3.tex"]
    claude = [line.split(" & ")[:2] for line in three.splitlines() if line.startswith("Claude")]
    assert claude == [
        ["Claude-3.5-Sonnet", "44.55"],
        [
            "Claude-3.5-Sonnet (recomputed from the paper's task tables, 4 of 45 tasks)",
            r"73.86 \small(4 of 45 tasks)",
        ],
    ]


def test_what_latex_would_take_for_a_sign_is_printed():
    assert escaped("a--b ?` \x07\u202e\n") == "a-{}-b ?{}`  "
    assert escaped("50% {x}") == r"50\% \{x\}"


def test_csv_has_the_papers_columns_and_says_whose_a_row_is(report, tmp_path):
    paths = {path.stem: path for path in write_csv(report, tmp_path / "csv")}
    rows = pl.read_csv(paths["mcs-bench-table-20"], infer_schema=False)
    assert rows.columns[:6] == ["model", "source", "group", "tasks", "T32:Acc", "T33:Acc"]
    assert rows["source"].to_list() == ["this run"] * 3 + ["paper", "recomputed"] * 38
    three = pl.read_csv(paths["mcs-bench-table-3"], infer_schema=False)
    claude = three.filter(pl.col("model") == "Claude-3.5-Sonnet").to_dicts()
    assert [
        {k: row[k] for k in ("source", "tasks", "OverAll:mean", "OverAll:mean tasks")}
        for row in claude
    ] == [
        {"source": "paper", "tasks": None, "OverAll:mean": "44.55", "OverAll:mean tasks": None},
        {"source": "recomputed", "tasks": "4 of 45", "OverAll:mean": "73.86",
         "OverAll:mean tasks": "4 of 45"},
    ]  # fmt: skip


def test_the_page_shows_the_printed_and_the_recomputed_value(report):
    page = report.page.read_text("utf-8")
    start = page.index("<summary>MCS-Bench, Table 3")
    table = page[start : page.index("</table>", start)]
    rows = [
        [unescape(re.sub("<[^>]+>", " ", cell)).split() for cell in re.findall(r"<td.*?</td>", row)]
        for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    ]
    claude = [row for row in rows if row and row[0] == ["Claude-3.5-Sonnet"]]
    assert claude[0][1:3] == [["paper"], ["44.55"]]
    assert " ".join(claude[1][1]) == "recomputed from the paper's task tables, 4 of 45 tasks"
    assert claude[1][2] == ["73.86", "4", "of", "45", "tasks"]
    titles = re.findall(r'<tr class="group"><th[^>]*>(.*?)</th>', table)
    assert titles == ["Closed-source Models", "Open-source Models"]


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
    run_set = load_runs([run.path])

    def grade(given):
        tables = build_paper_tables(run_set, run_set.results, published=True, given=given)
        table = next(table for table in tables if table.name == "Table 9")
        return column(table, "reasoning_qa:GPT4oScore").get(("this run", "openai:m")), table

    def given(**means):
        about = {"model": "openai:m", "task": "reasoning_qa", "query": "", "setting": "image"}
        return {
            ("openai:m", "reasoning_qa"): {
                f"openai:{judge}": TaskGrade(
                    judge=f"openai:{judge}", answers=4, graded=4 - missing, groups=1, mean=mean,
                    graded_mean=mean, missing=missing, **about,
                )
                for judge, (mean, missing) in means.items()
            }
        }  # fmt: skip

    cell, table = grade(given(judge=(7.25, 0)))
    assert {row.graded for row in table.rows} == {None}
    assert cell.value == "7.25"
    assert (table.task, table.domain) == ("reasoning_qa", "Ancient Documents")
    printed = column(table, "reasoning_qa:GPT4oScore")
    assert printed["paper", "GPT-4o"].value not in ("", "–")
    some, table = grade(given(judge=(7.25, 1)))
    (own,) = (row for row in table.rows if row.source == "this run")
    assert (some.value, str(own.graded)) == ("7.25", "3 of 4")
    assert str(own.label) == "this run, graded by openai:judge; 3 of 4 answers have a grade"
    best, table = grade(given(judge=(10.0, 0)))
    theirs = column(table, "reasoning_qa:GPT4oScore")
    assert not best.best
    assert any(cell.best for (source, _), cell in theirs.items() if source == "paper")
    two, _ = grade(given(judge=(7.0, 0), other=(3.0, 0)))
    assert two.value == "–"

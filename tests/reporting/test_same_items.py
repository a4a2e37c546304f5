"""Only means over the same items are compared, wherever a leaderboard is shown."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from lxml import html
from typer.testing import CliRunner

from keju.analysis.leaderboard import Extent, group_by_basis, leaderboards
from keju.analysis.resampling import NO_BASIS, Basis
from keju.analysis.run_set import load_runs
from keju.api import open_run
from keju.bundles import write_bundle
from keju.cli import app
from keju.figures import OfRun
from keju.figures.standings import ranks
from keju.formatting import format_p
from keju.items import Item, Response
from keju.reporting.conclusions import verdicts
from keju.reporting.latex import write_latex
from keju.reporting.page import write_report
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run
from keju.site import write_site
from keju.texts import in_terminal, using

BOOKS, OF_BOOK = 12, 2
TASKS = ("T5", "T7")
FIRST, SECOND, PART, ONE_TASK = "openai:first", "openai:second", "openai:part", "openai:one-task"
PERSON = "human:王老師"
LACKS = "not ranked: lacks 24 of 48 items"
LACKS_TASK = f"{LACKS}, among them all of T7"
FULL = BOOKS * OF_BOOK * len(TASKS)


def items() -> list[Item]:
    return [
        Item(
            id=f"{task}-{n}", benchmark="MCS-Bench", task=task, options=("甲", "乙", "丙"),
            answer="A", group=f"book {n // OF_BOOK}",
        )
        for task in TASKS
        for n in range(BOOKS * OF_BOOK)
    ]  # fmt: skip


def number(item: Item) -> int:
    return int(item.id.rpartition("-")[2])


ANSWERS = {
    FIRST: lambda item: "A" if number(item) % 8 else "B",
    SECOND: lambda item: "A" if number(item) % 8 == 1 else "B",
    # The last two answered less, and rightly.
    PART: lambda item: "A" if number(item) < OF_BOOK * 6 else None,
    ONE_TASK: lambda item: "A" if item.task == "T5" else None,
    PERSON: lambda item: "A" if item.task == "T5" and number(item) < 6 else None,
}


def make_run(path: Path, models: tuple[str, ...] = tuple(ANSWERS)) -> Path:
    folder = RunFolder(path)
    path.mkdir(parents=True)
    folder.write_items(items())
    folder.write_manifest(
        RunManifest(
            keju="0", dataset="books", dataset_version="1", dataset_hash="h",
            models={model: {} for model in models},
        )
    )  # fmt: skip
    for model in models:
        for item in items():
            text = ANSWERS[model](item)
            if text is None:
                continue
            file = folder.responses_path(model, item.task)
            file.parent.mkdir(parents=True, exist_ok=True)
            response = Response(
                key=f"{model}{item.id}", item=item.id, model=model, benchmark="MCS-Bench",
                task=item.task, status="answered", text=text,
            )  # fmt: skip
            with file.open("ab") as stream:
                stream.write(msgspec.json.encode(response) + b"\n")
    score_run(folder)
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("books") / "run")


@pytest.fixture(scope="module")
def board(run):
    run_set = load_runs([run])
    (found,) = leaderboards(run_set, run_set.results)
    return found


@pytest.fixture(scope="module")
def report(run):
    return write_report([run], run.parent / "report.html")


@pytest.fixture(scope="module")
def site(run) -> Path:
    write_bundle(run, run.parent / "b.keju.zip")
    return write_site([run.parent / "b.keju.zip"], run.parent / "site").page.parent


def test_rows_stand_in_groups_by_what_they_answered(board):
    assert [(group.title, [row.model for row in group.rows]) for group in board.groups] == [
        ("models · 48 items of 2 tasks", [FIRST, SECOND]),
        ("models · 24 items of 2 tasks", [PART]),
        ("models · 24 items of 1 task", [ONE_TASK]),
        ("people · 6 items of 1 task", [PERSON]),
    ]
    with using("zh"):
        assert in_terminal(board.groups[1].title) == "模型 · 2 个任务的 24 道题"


def test_rows_of_the_same_items_have_no_extent(tmp_path):
    run_set = load_runs([make_run(tmp_path / "run", (FIRST, SECOND))])
    (found,) = leaderboards(run_set, run_set.results)
    assert [group.title for group in found.groups] == ["models"]


def test_only_models_with_the_same_items_are_ranked_and_the_others_state_why(board):
    ranks = {row.model: row.ranks[-1] for row in board.rows}
    assert (ranks[FIRST].place, ranks[FIRST].possible) == (1, (1, 1))
    assert (ranks[SECOND].place, ranks[SECOND].possible) == (2, (2, 2))
    assert {model: rank.why for model, rank in ranks.items() if rank.place is None} == {
        PART: LACKS,
        ONE_TASK: LACKS_TASK,
        PERSON: "",
    }


def test_as_many_other_items_are_other_items():
    one, other = ({"T5": digest} for digest in (b"1", b"2"))
    rows = {
        "a": ("model", [Basis(one, 5, (1, 5))]),
        "b": ("model", [Basis(other, 5, (1, 5))]),
        "c": ("baseline", [NO_BASIS]),
    }
    assert group_by_basis(rows) == [
        ("model", Extent(1, 5), ["a"]),
        ("model", Extent(1, 5, others=True), ["b"]),
        ("baseline", Extent(0, 0), ["c"]),
    ]


@pytest.mark.parametrize(
    ("language", "answered", "unanswered", "missing"),
    [
        ("en", "6 of 48 items", "42 not answered", "answered: 6 of 48"),
        ("zh", "48 题中的 6 题", "42 题未回答", "48 题中有 6 题有回答"),
    ],
)
def test_a_row_states_how_many_items_were_answered(run, language, answered, unanswered, missing):
    report = write_report([run], run.parent / f"{language}.html", language=language)
    tree = html.fromstring(report.page.read_text("utf-8"))
    (row,) = tree.xpath(f"//table[@class='board']//tr[td[contains(., '{PERSON}')]]")
    assert answered in row.text_content()
    assert unanswered in row.text_content()
    (summary,) = tree.xpath(
        f"//h2[@id='summary']/following::table[1]//tr[td[contains(., '{PERSON}')]]"
    )
    assert unanswered in summary.text_content()
    lines = [line.text_content() for line in tree.xpath("//details//li")]
    wanted = f"{PERSON}, MCS-Bench: 6 of 48 items have a response" if language == "en" else missing
    assert any(wanted in line for line in lines)


def test_site_report_python_and_latex_have_the_same_groups_and_ranks(run, board, report, site):
    expected = {
        (row.model, protocol): (rank.place, rank.possible)
        for row in board.rows
        for protocol, rank in zip(board.protocols, row.ranks, strict=True)
    }
    (path,) = site.glob("data/boards/*/leaderboard.json")
    rows = [row for row in json.loads(path.read_text("utf-8"))["rows"] if row["part"] == "overall"]
    assert {
        (row["model"], row["protocol"]): (
            row["rank"], row["rank_first"] and (row["rank_first"], row["rank_last"]),
        )
        for row in rows
    } == expected  # fmt: skip
    order = [row.model for row in board.rows]
    assert list(dict.fromkeys(row["model"] for row in rows)) == order
    (page,) = site.glob("en/boards/*.html")
    heads = html.fromstring(page.read_bytes()).xpath("//tr[@class='domain']/th")
    assert [head.text_content() for head in heads][: len(board.groups)] == [
        group.title for group in board.groups
    ]
    table = open_run(run).score().leaderboard().overall
    strict = [row for row in table.iter_rows(named=True) if row["protocol"] == "strict"]
    assert [row["model"] for row in strict] == order
    counts = [(row["tasks"], row["items"], row["missing_items"]) for row in strict]
    assert counts == [(2, 48, 0), (2, 48, 0), (2, 24, 24), (1, 24, 24), (1, 6, 42)]
    assert [row["missing_items"] for row in rows if row["protocol"] == "strict"] == [
        missing for _, _, missing in counts
    ]
    (latex, *_) = write_latex(report, run.parent / "latex")
    places = [latex.read_text("utf-8").index(title) for title in ("48 items of 2", "24 items of 1")]
    assert places == sorted(places)


def test_every_place_states_how_many_items_a_model_without_a_rank_lacks(report, site, run):
    page = html.fromstring(report.page.read_text("utf-8"))
    (of_site,) = site.glob("en/boards/*.html")
    for tree in (page, html.fromstring(of_site.read_bytes())):
        for model, why in ((PART, LACKS), (ONE_TASK, LACKS_TASK)):
            (row,) = tree.xpath(
                f"//table[contains(@class, 'board')]//tr[*[contains(., '{model}')]]"
            )
            assert why in row.text_content()
    (latex, *_) = write_latex(report, run.parent / "latex-missing")
    assert latex.read_text("utf-8").count(LACKS) == 4
    run_set = load_runs([run])
    source = OfRun(run_set, leaderboards(run_set, run_set.results))
    captions = [str(figure.caption) for figure in ranks(source)]
    assert captions
    assert all(f"\n{PART}: {LACKS}\n{ONE_TASK}: {LACKS_TASK}" in text for text in captions)
    shown = " ".join(page.text_content().split())
    assert "12 groups (book, plate, bone; else the image), the largest with 8.3 % of" in shown
    assert "Their null hypothesis is that the answers of two models are exchangeable" in shown


def test_the_best_of_a_task_is_one_of_those_with_all_its_items(report):
    marks = {
        row.id: [value.mark for value in row.values]
        for table in report.view.tables
        for row in table.rows
        if row.protocol == "strict"
    }
    assert marks == {
        "T5": ["second", None, None, "best", None],
        "T7": ["best", "second", None, None, None],
    }


def test_paper_tables_mark_no_model_that_lacks_items(report):
    marked, notes = set(), set()
    for table in report.paper_tables:
        notes.update(map(str, table.notes))
        marked.update(row.model for row in table.rows if any(cell.best for cell in row.cells))
    assert FIRST in marked
    assert PART not in marked
    assert f"{PART} is not ranked or marked: it lacks 24 items" in " ".join(notes)


def test_no_model_is_named_first_where_ranks_overlap(tmp_path):
    run = make_run(tmp_path / "run", (FIRST, SECOND))
    texts = dict.fromkeys((FIRST, SECOND), ANSWERS[FIRST])
    overlapping = make_overlapping(tmp_path / "overlapping", texts)
    for folder, start in ((run, FIRST), (overlapping, f"undecided between: {FIRST}, {SECOND}")):
        write_bundle(folder, folder.parent / f"{folder.name}.keju.zip")
        site = write_site(
            [folder.parent / f"{folder.name}.keju.zip"], folder.parent / f"site-{folder.name}"
        ).page.parent
        (row,) = html.fromstring((site / "en/index.html").read_bytes()).xpath("//section//tbody/tr")
        assert row.xpath("td")[2].text_content() == f"{start} strict"
        chinese = html.fromstring((site / "zh/index.html").read_bytes()).text_content()
        assert ("尚未分出" in chinese) is (folder is overlapping)


def make_overlapping(path: Path, answers) -> Path:
    before = dict(ANSWERS)
    try:
        ANSWERS.update(answers)
        return make_run(path, (FIRST, SECOND))
    finally:
        ANSWERS.update(before)


def sentences(run: Path, language: str) -> list[str]:
    report = write_report([run], run.parent / f"c-{language}.html", language=language)
    with using(language):
        found = verdicts(report.view, report.run_set)
    lines = [
        " ".join(each.text_content().split())
        for each in html.fromstring(report.page.read_text("utf-8")).xpath("//*[@id='verdicts']//li")
    ]
    assert len(lines) == len(found)
    return lines


def test_a_report_on_a_benchmark_begins_with_conclusions(run):
    first, unfinished, *rest = sentences(run, "en")
    assert first == (
        f"MCS-Bench, strict: {FIRST} is first with 87.5 % and reliably ahead of 1 other model that "
        "answered the same items."
    )
    assert unfinished.startswith(
        f"The run is not complete: {PART} has 24 of 48 responses; {ONE_TASK} has 24 of 48 "
        f"responses; {PERSON} has 6 of 48 responses. Resume it with its options: keju run DATASET"
    )
    assert not rest
    chinese = sentences(run, "zh")
    assert len(chinese) == 2
    assert chinese[0].startswith(f"MCS-Bench，strict：{FIRST} 以 87.5% 居首")


def test_conclusions_state_no_order_where_ranks_overlap(tmp_path):
    same = dict.fromkeys((FIRST, SECOND), ANSWERS[FIRST])
    (line,) = sentences(make_overlapping(tmp_path / "run", same), "en")
    assert line == (
        "MCS-Bench, strict: no difference between the 2 models that answered the same items is "
        "reliable (1 pair tested)."
    )


def test_compare_begins_with_the_difference_and_the_test_of_the_report(run, board):
    printed = (
        CliRunner().invoke(app, ["compare", str(run), "--model", FIRST, "--model", SECOND]).stdout
    )
    first, second, *_ = printed.splitlines()
    gap = board.resampled["strict"].gaps[FIRST, SECOND]
    assert (gap.difference, gap.p_holm) == (0.75, 16 / 2**12)
    assert first == (
        f"MCS-Bench, strict, mean over domains of 2 tasks: {FIRST} 87.5, {SECOND} 12.5; difference "
        f"+75.0 points (95 % interval +41.7 to +100.0), p {format_p(gap.p_holm)}"
    )
    assert second == (
        f"{FIRST} is significantly better than {SECOND} in the mean of MCS-Bench (75.0 points)."
    )

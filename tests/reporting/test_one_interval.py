"""A value has one interval, wherever and in whatever order of its items it is computed."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from lxml import html

from keju.analysis.comparison import comparison_of
from keju.analysis.comparison_sides import SideChoice
from keju.analysis.intervals import task_intervals
from keju.analysis.run_set import load_runs
from keju.datasets.store import DatasetWriter
from keju.formatting import percent
from keju.items import Item
from keju.reporting.conclusions import conclusion_lines, verdicts
from keju.reporting.leaderboard_cells import overall_cell
from keju.reporting.page import write_report
from keju.reporting.row_cells import task_cells
from keju.reporting.view import View, build_view
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju.statistics import mean_interval, spread
from tests.support.making import picture

TEXT = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏"
BOOKS = 9


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> Path:
    """Nine books of one to three pages, read by two engines with errors that differ by book."""
    folder = tmp_path_factory.mktemp("one-interval")
    places = [(book, page) for book in range(BOOKS) for page in range(1 + book % 3)]
    random.Random(7).shuffle(places)
    with DatasetWriter(
        folder / "set", name="mine", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        for number, (book, page) in enumerate(places):
            image = writer.add_image(picture(60 + number), f"page {number}")
            writer.add(
                Item(id=f"b{book}-p{page}", benchmark="pages", task="page_ocr", images=(image,),
                     answer=TEXT[: 8 + book], group=f"book {book}")
            )  # fmt: skip
    specs = []
    for name, step in (("one", 3), ("two", 5)):
        lines = [
            {"item": f"b{book}-p{page}", "text": TEXT[(book * step + page) % 4 : 8 + book]}
            for book, page in places
        ]
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
        specs.append(f"replay:{folder / name}.jsonl")
    run(folder / "set", specs, folder / "run")
    score_run(RunFolder.open(folder / "run"))
    return folder / "run"


@pytest.fixture(scope="module")
def view(scored) -> View:
    return build_view(load_runs([scored]), title="t")


def test_leaderboard_tasks_and_figures_have_one_interval(view):
    (board,) = view.boards
    sure = board.resampled["strict"]
    (row,) = view.tables[0].rows
    assert len(view.names) == 2
    for model, cell in zip(view.names, task_cells(row), strict=True):
        (standing,) = (each for group in board.groups for each in group.rows if each.model == model)
        low, high = sure.overall[model]
        assert low < high
        assert sure.domains[model, row.domain] == (low, high)
        assert overall_cell(standing.overall[0]).note.split("\n")[0] == cell.note.split("\n")[0]
        assert cell.note.startswith(f"{percent(low)} to {percent(high)}\n")


def test_the_order_of_the_items_changes_no_interval(scored):
    run_set = load_runs([scored])
    (scores,) = run_set.mains["strict"].values()
    intervals = task_intervals(scores)
    assert set(intervals) == set(run_set.models)
    for order in (sorted(scores, key=lambda score: score.item), list(scores)[::-1]):
        again = task_intervals(order)
        assert {model: pytest.approx(ends) for model, ends in again.items()} == intervals
    mine = [score for score in scores if score.model == run_set.models[0]]
    groups = [score.group for score in mine]
    values = [score.value for score in mine]
    (mean, *_) = spread(values, groups)
    assert mean.interval == mean_interval(values, groups)
    places = sorted(range(len(mine)), key=lambda place: mine[place].item)
    assert spread([values[at] for at in places], [groups[at] for at in places])[0] == mean


def test_a_difference_is_the_negative_of_its_reverse(scored):
    folder = RunFolder.open(scored)
    one, two = folder.manifest().models
    (there,) = comparison_of([folder], "strict", SideChoice(model=(one, two))).tasks
    (back,) = comparison_of([folder], "strict", SideChoice(model=(two, one))).tasks
    assert there.low is not None
    assert back.high is not None
    assert (there.low, there.p) == pytest.approx((-back.high, back.p))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_pages_verdict_is_that_of_the_terminal(scored, tmp_path, language):
    report = write_report([scored], tmp_path / "r.html", language=language)
    (verdict,) = [each for each in verdicts(report.view, report.run_set) if each.pairs]
    assert verdict.line in conclusion_lines(report.view, report.run_set)
    tree = html.fromstring(report.page.read_text("utf-8"))
    lines = [each.text_content() for each in tree.xpath("//*[@id='verdicts']//li")]
    (pair,) = verdict.pairs
    (sentence,) = [line for line in lines if pair.better in line and pair.points in line]
    words = "better than" if pair.reliable else "differ by"
    chinese = "优于" if pair.reliable else "相差"
    assert (words in sentence, chinese in sentence) == (language == "en", language == "zh")

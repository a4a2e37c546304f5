"""Values as ranges while answers are unclear: ends, ranks, tests, and what is printed of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import keju
from keju.analysis.leaderboard import Leaderboard, leaderboards
from keju.analysis.run_set import load_runs
from keju.cli import app
from keju.definitions import task
from keju.items import Box, ImageRef, Item, Response, Score, better_end
from keju.reporting.answer_readings import AnswerReadings, estimate_price, sum_of_tasks
from keju.reporting.benchmark_conclusions import benchmark_sentences
from keju.reporting.leaderboard_cells import overall_cell, rank_cell
from keju.reporting.row_cells import task_cells
from keju.reporting.view import build_view
from keju.running.prices import Price, Prices
from keju.runs import RunFolder, RunManifest
from keju.scoring import SideScores, aggregate, compare_tasks, score_answers, score_run
from keju.scoring.lookup import find_metrics
from keju.scoring.model_comparison import adjust_comparisons

GROUPS = 12
TALKATIVE, TERSE, BAD = "openai:talkative", "openai:terse", "openai:bad"
UNCLEAR = "甲和乙各有道理，两者都可以讨论。"

Texts = Callable[[int, str], str]
"""What a model writes: of the item's number and reference."""


def talk(number: int, answer: str) -> str:
    """A model that knows every answer and commits plainly to every third one only."""
    return UNCLEAR if number % 3 else f"答案：{answer}"


def decided(texts: Texts) -> Texts:
    """The same model after its unclear answers were decided, here by what it meant."""
    return lambda number, answer: (
        answer if texts(number, answer) == UNCLEAR else texts(number, answer)
    )


MODELS: dict[str, Texts] = {
    TALKATIVE: talk,
    TERSE: lambda _, answer: answer,
    BAD: lambda number, answer: answer if number % 4 == 0 else "AB"[answer == "A"],
}


def make_run(path: Path, models: dict[str, Texts], wording: str = "") -> Path:
    """A scored run of the models over 24 items of 12 groups."""
    items = [
        Item(id=f"q{n}", benchmark="MCS-Bench", task="T5", options=("甲", "乙"),
             answer="AB"[n % 2], group=f"g{n // 2:02}")
        for n in range(2 * GROUPS)
    ]  # fmt: skip
    folder = RunFolder(path)
    path.mkdir(parents=True)
    folder.write_items(items)
    folder.write_manifest(
        RunManifest(keju="0", dataset="d", dataset_version="1", dataset_hash="h",
                    models={model: {} for model in models})
    )  # fmt: skip
    for model, texts in models.items():
        file = folder.responses_path(model, "T5")
        file.parent.mkdir(parents=True)
        lines = [
            msgspec.json.encode(
                Response(key=f"{model}{wording}{n}", item=item.id, model=model,
                         benchmark="MCS-Bench", task="T5", status="answered",
                         wording=wording or "released", text=texts(n, item.answer))
            )
            for n, item in enumerate(items)
        ]  # fmt: skip
        file.write_bytes(b"\n".join(lines) + b"\n")
    score_run(folder)
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("ranges") / "run", MODELS)


@pytest.fixture(scope="module")
def decided_run(tmp_path_factory) -> Path:
    models = MODELS | {TALKATIVE: decided(talk)}
    return make_run(tmp_path_factory.mktemp("ranges") / "decided", models)


def strict_board(path: Path) -> Leaderboard:
    run_set = load_runs([path])
    (board,) = leaderboards(run_set, run_set.results)
    return board


def board_cells(path: Path) -> dict[str, tuple[str, str, str]]:
    """The overall value, the rank and the reason without one of each model under `strict`."""
    board = strict_board(path)
    place = board.protocols.index("strict")
    return {
        row.model: (overall_cell(row.overall[place]).value, rank.value, str(rank.note))
        for row in board.rows
        for rank in [rank_cell(row.ranks[place])]
    }


def test_three_models_before_the_decision(run):
    cells = board_cells(run)
    assert cells[TALKATIVE][:2] == ("33.3–100.0", "–")
    assert cells[TERSE][:2] == ("100.0", "–")
    assert cells[BAD][:2] == ("25.0", "3")
    assert cells[TALKATIVE][2] == "undecided: 66.7 % unclear"
    assert cells[TERSE][2] == "undecided: 66.7 % unclear"


def test_three_models_after_the_decision(decided_run):
    cells = board_cells(decided_run)
    assert {model: cell[:2] for model, cell in cells.items()} == {
        TALKATIVE: ("100.0", "1"),
        TERSE: ("100.0", "1"),
        BAD: ("25.0", "3"),
    }


def test_the_interval_contains_those_of_both_ends(run, decided_run):
    board, after = strict_board(run), strict_board(decided_run)
    low, high = board.resampled["strict"].overall[TALKATIVE]
    assert low < 1 / 3
    assert high == after.resampled["strict"].overall[TALKATIVE][1]


def test_bold_is_only_what_is_best_at_both_ends(run, decided_run):
    marks = {}
    for path in (run, decided_run):
        run_set = load_runs([path])
        view = build_view(run_set, title="t")
        row = next(row for row in view.tables[0].rows if row.protocol == "strict")
        cells = task_cells(row)
        marks[path] = [run_set.models[place] for place, cell in enumerate(cells) if cell.best]
    assert marks == {run: [], decided_run: [TALKATIVE, TERSE]}


def test_conclusions_name_the_undecided_order_and_the_command(run, decided_run):
    run_set = load_runs([run])
    sentences = list(benchmark_sentences(leaderboards(run_set, run_set.results), [], run_set))
    texts = [str(sentence.text) for sentence in sentences]
    steps = [str(step) for sentence in sentences for step in sentence.steps]
    assert any(f"{TALKATIVE}, {TERSE} is undecided: up to 66.7 % unclear" in text for text in texts)
    assert not any("is first" in text for text in texts)
    assert any("keju judge extract run --model M" in step for step in steps)
    assert any("keju serve run" in step for step in steps)
    decided_set = load_runs([decided_run])
    after = list(
        benchmark_sentences(leaderboards(decided_set, decided_set.results), [], decided_set)
    )
    assert not any("undecided" in str(sentence.text) for sentence in after)


def test_score_prints_the_ranges_and_the_command(run):
    result = CliRunner().invoke(app, ["score", str(run)])
    assert result.exit_code == 0, result.exception
    output = " ".join(result.stdout.split())
    assert "33.3–100.0" in output
    assert f"{TALKATIVE}: read 33.3 · model 0 · people 0 · unclear 66.7 %" in output
    assert "More than 5 % of the answers are unclear" in output
    assert "keju judge extract" in output


def test_score_json_has_both_ends(run, tmp_path):
    path = tmp_path / "out.json"
    result = CliRunner().invoke(app, ["score", str(run), "--json", str(path)])
    assert result.exit_code == 0, result.exception
    found = json.loads(path.read_text())
    strict = found[TALKATIVE]["strict"]
    assert strict["tasks"]["5"]["Acc"] == pytest.approx(1 / 3)
    assert strict["if_right"]["tasks"]["5"]["Acc"] == 1
    assert strict["if_right"]["overall"] == 1
    assert strict["counts"]["5"]["read_by"] == {"reader": 8, "unclear": 16}
    unclear = [row for row in strict["items"] if row.get("value_if_right") == 1]
    assert len(unclear) == 2 * 16
    assert "if_right" not in found[TERSE]["strict"]
    assert "if_right" not in found[TALKATIVE]["official"]


def test_the_report_has_who_read_the_answers(run, decided_run, tmp_path):
    pages = {}
    for path in (run, decided_run):
        page = tmp_path / f"{path.name}.html"
        result = CliRunner().invoke(app, ["report", str(path), "-o", str(page)])
        assert result.exit_code == 0, result.exception
        pages[path] = page.read_text(encoding="utf-8")
    assert 'id="read-by"' in pages[run]
    assert 'id="read-by"' not in pages[decided_run]


def test_the_price_is_that_of_the_cheapest_model(run):
    run_set = load_runs([run])
    prices = Prices(currency="USD", models=(
        Price(names=("dear",), input=10, output=10), Price(names=("cheap",), input=1, output=1),
    ))  # fmt: skip
    price = estimate_price(run_set, prices)
    assert price is not None
    assert str(price).endswith("USD with cheap")
    assert estimate_price(run_set, None) is None


def compared(path: Path, *models: str):
    scores = list(score_run(RunFolder(path), ("strict",)))
    sides = [SideScores("strict", [s for s in scores if s.model == model]) for model in models]
    (comparison,) = adjust_comparisons(compare_tasks(*sides))
    return comparison


def test_a_test_is_decided_only_if_both_ends_agree(run, decided_run):
    before = compared(run, TALKATIVE, BAD)
    assert (before.first, before.first_if_right) == (pytest.approx(1 / 3), 1)
    assert (before.undecided, before.better, before.p_holm) == (True, "", None)
    assert [end.better for end in before.ends] == ["", "first"]
    assert before.unclear_first == pytest.approx(2 / 3)
    after = compared(decided_run, TALKATIVE, BAD)
    assert (after.undecided, after.better, after.ends) == (False, "first", [])
    sure = compared(run, TERSE, BAD)
    assert (sure.undecided, sure.better) == (False, "first")


def test_compare_prints_ranges_and_unclear_rates(run, tmp_path):
    result = CliRunner().invoke(app, ["compare", str(run), "--model", TALKATIVE, "--model", BAD])
    assert result.exit_code == 0, result.exception
    output = " ".join(result.stdout.split())
    assert "33.3–100.0" in output
    assert "undecided: 66.7 % unclear" in output
    assert f"{TALKATIVE} 66.7 %, {BAD} 0 %" in output
    assert "keju judge extract" in output


def test_the_api_has_both_ends(run):
    results = keju.score(run)
    values = results.tasks.filter(
        (results.tasks["model"] == TALKATIVE) & (results.tasks["metric"] == "Acc")
    )
    found = {row["protocol"]: (row["value"], row["value_if_right"])
             for row in values.iter_rows(named=True)}  # fmt: skip
    assert found["strict"] == (pytest.approx(1 / 3), 1)
    assert found["official"][0] == found["official"][1]
    board = results.leaderboard().overall
    ranks = {row["model"]: row["rank"] for row in board.iter_rows(named=True)
             if row["protocol"] == "strict"}  # fmt: skip
    assert ranks == {TALKATIVE: None, TERSE: None, BAD: 3}


def test_counts_are_summed_over_tasks():

    rows = [
        AnswerReadings("m", "T5", {"reader": 3, "unclear": 1}),
        AnswerReadings("m", "T7", {"reader": 3, "model": 1}),
    ]
    assert sum_of_tasks(rows) == [AnswerReadings("m", "", {"reader": 6, "unclear": 1, "model": 1})]


IMAGE = ImageRef(path="a.png", sha256="0" * 64, width=100, height=100, size=1)
READ_FORMS = [
    ("T5", "", "A", {"options": ("甲", "乙")}, ["A", "B", UNCLEAR, ""]),
    ("T21", "", "三", {}, ["三", "五", "也许是三，也许是五，也许是七。", ""]),
    ("T4", "", "孔子、颜回", {}, ["孔子、颜回", "孟子", "孔子或者孟子，不能确定。", ""]),
    ("recognition", "Yes-or-No", "Yes", {"images": (IMAGE,)}, ["Yes", "No", "Yes and no.", ""]),
    ("recognition", "Yes-or-No", "No", {"images": (IMAGE,)}, ["Yes", "No", "Yes and no.", ""]),
    ("recognition", "How", "3", {"images": (IMAGE,)}, ["3", "8", "3 or 8 or 9.", ""]),
    ("recognition", "Where", "", {"images": (IMAGE,), "boxes": (Box(x0=0, y0=0, x1=9, y1=9),)},
     ["[[0, 0, 9, 9]]", "[[0, 0, 3, 3]]", "on the left, near the edge", ""]),
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(range(len(READ_FORMS))), st.integers(0, 3)), max_size=12))
def test_the_better_end_is_never_worse(chosen: Iterable[tuple[int, int]]):
    scores = score_answers(
        [
            (
                Item(id=f"i{n}", benchmark=task(name).benchmark, task=name, query=query,
                     answer=answer, **fields),
                Response(key=f"k{n}", item=f"i{n}", model="m", benchmark=task(name).benchmark,
                         task=name, query=query, text=texts[place],
                         status="answered" if texts[place] else "empty"),
            )
            for n, (form, place) in enumerate(chosen)
            for name, query, answer, fields, texts in [READ_FORMS[form]]
        ],
        ("strict",),
    )  # fmt: skip
    unclear = {(score.task, score.query) for score in scores if score.read_by == "unclear"}
    for result in aggregate(scores):
        for found in result.tasks:
            for metric in found.metrics:
                if metric.value is None or metric.better_end is None:
                    continue
                form = next(q.form for q in task(found.task).queries if q.name == found.query)
                declared = find_metrics("strict", task(found.task).benchmark, form)(metric.metric)
                assert declared is not None
                gain = metric.better_end - metric.value
                assert (gain if declared.higher_is_better else -gain) >= -1e-12
                if (found.task, found.query) not in unclear:
                    assert gain == 0
        for benchmark in result.benchmarks:
            mean = benchmark.overall
            if mean.value is not None and mean.better_end is not None:
                assert mean.better_end >= mean.value - 1e-12


def test_a_clear_score_is_its_own_better_end():
    score = Score(key="k", item="i", model="m", benchmark="MCS-Bench", task="T5",
                  protocol="strict", metric="Acc", value=0.0)  # fmt: skip
    assert better_end(score) is score

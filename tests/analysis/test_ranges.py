"""Values as ranges while answers are unclear: ends, ranks, tests, and what is printed of them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import keju
from keju.analysis.breakdowns import breakdowns
from keju.analysis.difficulty import Spread, difficulty, option_errors
from keju.analysis.input_settings import StepRow, StepTable
from keju.analysis.leaderboard import Leaderboard, leaderboards
from keju.analysis.round_spread import round_spreads
from keju.analysis.run_set import ModelResponses, load_runs
from keju.cli import app
from keju.definitions import task
from keju.figures import Figure, OfRun, of_run
from keju.figures.parts import has_ranges
from keju.figures.settings import setting_rows
from keju.items import Box, ImageRef, Item, PromptVariant, Response, Score, better_end
from keju.judging.extracting import extraction_requests
from keju.reporting.answer_readings import (
    AnswerReadings,
    decision_line,
    extraction_cost,
    sum_of_tasks,
)
from keju.reporting.benchmark_conclusions import benchmark_sentences
from keju.reporting.leaderboard_cells import overall_cell, rank_cell
from keju.reporting.row_cells import hard_item_cells, round_cells, task_cells
from keju.reporting.view import build_view
from keju.running.prices import Price, Prices
from keju.running.tokens import text_tokens
from keju.runs import RunFolder, RunManifest
from keju.scoring import (
    SideScores,
    aggregate,
    compare_tasks,
    score_answers,
    score_run,
    scores_frame,
)
from keju.scoring.lookup import metric_of
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


def make_run(path: Path, models: dict[str, Texts], rounds: int = 1) -> Path:
    """A scored run of the models over 24 items of 12 groups in two dynasties.

    In the second round a model answers as to the next item.
    """
    items = [
        Item(id=f"q{n}", benchmark="MCS-Bench", task="T5", options=("甲", "乙"),
             answer="AB"[n % 2], group=f"g{n // 2:02}",
             fields={"term": "中"}, metadata={"dynasty": "唐" if n < GROUPS else "宋"})
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
                Response(key=f"{model}{n}.{round_}", item=item.id, model=model, round=round_,
                         benchmark="MCS-Bench", task="T5", status="answered",
                         text=texts(n + round_ - 1, item.answer))
            )
            for n, item in enumerate(items)
            for round_ in range(1, rounds + 1)
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
    view = build_view(run_set, title="t")
    sentences = list(benchmark_sentences(view.boards, [], run_set, view.decision))
    texts = [str(sentence.text) for sentence in sentences]
    steps = [str(step) for sentence in sentences for step in sentence.steps]
    assert any(f"{TALKATIVE}, {TERSE} is undecided: up to 66.7 % unclear" in text for text in texts)
    assert not any("is first" in text for text in texts)
    (step,) = (step for step in steps if "keju judge extract" in step)
    assert step.startswith("To decide the unclear answers by a model (16 requests; about ")
    assert "USD with " in step
    assert step.endswith(": keju judge extract run --model M; by people: keju serve run")
    decided_set = load_runs([decided_run])
    after = list(
        benchmark_sentences(leaderboards(decided_set, decided_set.results), [], decided_set)
    )
    assert not any("undecided" in str(sentence.text) for sentence in after)


def test_a_breakdown_has_both_ends_of_each_value(run):
    run_set = load_runs([run])
    (table,) = (each for each in breakdowns(run_set) if each["kind"] == "dynasty")
    (row,) = (each for each in table["rows"] if each.name == "唐 Tang")
    place = run_set.models.index(TALKATIVE)
    assert (row.values[place], row.values_if_right[place]) == (0.3333, 1)
    assert (row.mean, row.mean_if_right) == (0.5278, 0.75)
    assert row.low < row.mean < row.mean_if_right < row.high


def test_over_all_tasks_a_difference_is_least_if_only_the_other_items_are_right():
    """Four items of two tasks; of the first task's two, the one in the row is unclear."""

    def score(task_id: str, item: str, *, unclear: bool) -> Score:
        right = {"numerator": 1.0, "denominator": 1.0}
        return Score(key=item, item=item, model="m", benchmark="MCS-Bench", task=task_id,
                     protocol="strict", metric="Acc", value=0.0 if unclear else 1.0, group=item,
                     stats=right | {"numerator": 0.0} if unclear else right,
                     if_right=right if unclear else {})  # fmt: skip

    scores = {
        (name, ""): [score(name, f"{name}a", unclear=name == "T5"),
                     score(name, f"{name}b", unclear=name == "T5")]
        for name in ("T5", "T7")
    }  # fmt: skip
    items = {
        (name, "", each.item): Item(id=each.item, benchmark="MCS-Bench", task=name, answer="A",
                                    metadata={"dynasty": "唐宋"[each.item.endswith("b")]})
        for (name, _), of_task in scores.items() for each in of_task
    }  # fmt: skip
    model = ModelResponses("m", "run", PromptVariant(), "")
    whole = SimpleNamespace(mains={"strict": scores}, items=items, models=["m"],
                            by_model={"m": model})  # fmt: skip
    (table,) = (each for each in breakdowns(whole)
                if (each["task"], each["kind"]) == ("", "dynasty"))  # fmt: skip
    for row in table["rows"]:
        # In T5 the difference is from 0 - 1/2 to 1 - 1/2, in T7 it is 0.
        assert (row.mean, row.mean_if_right) == (-0.25, 0.25)


def test_an_unclear_answer_makes_no_item_hard(tmp_path):
    found = difficulty(load_runs([make_run(tmp_path / "run", {TALKATIVE: talk})]))
    assert found.items == []
    assert found.spreads == [Spread("T5", 24, 8, 24, 16, 0)]
    wrong: Texts = lambda n, answer: "AB"[answer == "A"] if n == 0 else talk(n, answer)  # noqa: E731
    (hard,) = difficulty(load_runs([make_run(tmp_path / "other", {TALKATIVE: wrong})])).items
    assert (hard.id, hard.value, hard.value_if_right) == ("q0", 0, 0)
    assert (hard.below, hard.below_if_right) == (-23 / 24, -7 / 24)
    cells = [str(cell.value) for cell in hard_item_cells(hard)]
    assert cells == ["0.0", "-95.8 to -29.2", "1 / 1"]


def test_the_error_rate_of_an_option_has_both_ends(run):
    (table,) = option_errors(load_runs([run]))
    rows = {row[0]: row for row in table["rows"]}
    place = load_runs([run]).models.index(TALKATIVE)
    assert (rows["甲"][2][place], rows["甲"][5][place]) == (0.6667, 0)


def test_the_variation_between_rounds_has_both_ends(tmp_path):
    path = make_run(tmp_path / "run", {TALKATIVE: lambda n, a: talk(n // 10, a)}, rounds=2)
    (row,) = (each for each in round_spreads(load_runs([path])) if each.protocol == "strict")
    assert (row.values, row.values_if_right) == ([10 / 24, 9 / 24], [1, 1])
    assert row.deviation > row.deviation_if_right == 0
    assert [str(cell.value) for cell in round_cells(row)][1] == "0.00–2.95"


def test_a_history_has_both_ends_and_names_what_is_undecided(tmp_path):
    before = make_run(tmp_path / "before", {TALKATIVE: lambda n, a: "AB"[a == "A"]})
    after = make_run(tmp_path / "after", {TALKATIVE: talk})
    arguments = [str(before), str(after), "--order", "given"]
    table = tmp_path / "history.csv"
    result = CliRunner().invoke(app, ["history", *arguments, "--csv", str(table)])
    assert result.exit_code == 0, result.exception
    output = " ".join(result.stdout.split())
    assert "33.3–100.0" in output
    (row,) = (
        row for row in csv.DictReader(table.open(encoding="utf-8-sig"))
        if row["task"] and row["label"] == "after"
    )  # fmt: skip
    assert (float(row["value"]), float(row["value_if_right"])) == (pytest.approx(1 / 3), 1)
    assert float(row["change_least"]) == pytest.approx(1 / 3)
    assert float(row["change_most"]) == 1


def test_score_prints_the_ranges_and_the_command(run):
    result = CliRunner().invoke(app, ["score", str(run)])
    assert result.exit_code == 0, result.exception
    output = " ".join(result.stdout.split())
    assert "33.3–100.0" in output
    assert f"{TALKATIVE}: read 33.3 · model 0 · people 0 · unclear 66.7 %" in output
    assert "More than 5 % of the answers are unclear" in output
    requests = list(extraction_requests(RunFolder.open(run)))
    sent = sum(text_tokens(request.prompt) for request in requests)
    cost = f"16 requests; about {sent:,} tokens in and 320 out; about "
    assert f"To decide the unclear answers by a model ({cost}" in output
    assert f"keju judge extract {run} --model M" in "".join(result.stdout.split("\n"))


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
    prices = Prices(currency="EUR", seen="2025-01", models=(
        Price(names=("dear",), input=10, output=10), Price(names=("cheap*",), input=1, output=1),
    ))  # fmt: skip
    line = str(decision_line([run], prices=prices))
    assert "EUR with cheap at prices of 2025-01" in line
    unknown = str(decision_line([run], prices=Prices(currency="EUR")))
    assert "16 requests" in unknown
    assert "tokens in" in unknown
    assert "EUR" not in unknown


def test_the_plan_of_the_extractor_counts_what_is_announced(run):
    cost = extraction_cost(RunFolder.open(run))
    plan = CliRunner().invoke(
        app, ["judge", "extract", str(run), "--model", "openai:gpt-4.1-nano", "--plan", "--json"],
        env={"OPENAI_API_KEY": "sk-test"},
    )  # fmt: skip
    assert plan.exit_code == 0, plan.exception
    (found,) = json.loads(plan.stdout)["totals"]
    assert (found["calls"], found["input_tokens"], found["output_tokens"]) == tuple(cost)


def test_figures_draw_the_lower_end_and_say_so(run, decided_run):
    for path in (run, decided_run):
        run_set = load_runs([path])
        source = OfRun(run_set, leaderboards(run_set, run_set.results))
        figures = {
            figure.kind: figure
            for figure in of_run(source, ["standings", "heatmap", "boxes", "options"])
            if isinstance(figure, Figure) and "official" not in figure.of
        }
        unclear = [
            kind for kind, figure in figures.items() if "unclear" in str(figure.caption).lower()
        ]
        assert unclear == (list(figures) if path == run else [])
        (row,) = (
            row for row in figures["heatmap"].rows if row["model"] == TALKATIVE
        )  # fmt: skip
        assert (row["value"], row["value_if_right"]) == (
            (33.3333, 100) if path == run else (100, 100)
        )


def test_a_bar_has_a_line_to_its_other_end():
    values = {"T5": ((0.25, 0.5), (0.75, 0.5)), "T7": ((1, 1), (1, 1))}
    table = StepTable("m", "strict", ["image", "own-ocr"], [
        StepRow(name, name, "Acc", 4, low, (), high) for name, (low, high) in values.items()
    ])  # fmt: skip
    rows = setting_rows([table])
    assert [row["label"] for row in rows] == ["25.0–75.0", "50.0", "100.0", "100.0"]
    assert [row["value_if_right"] for row in rows] == [75, 50, 100, 100]
    assert has_ranges(rows)
    assert not has_ranges(rows[1:])
    assert not has_ranges([{"value": 1.0}, {"value": 1.0, "value_if_right": None}])


def compared(path: Path, *models: str):
    scores = list(score_run(RunFolder(path), ("strict",)))
    sides = [
        SideScores("strict", scores_frame([s for s in scores if s.model == model]))
        for model in models
    ]
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
                if metric.value is None or metric.value_if_right is None:
                    continue
                form = next(q.form for q in task(found.task).queries if q.name == found.query)
                benchmark = task(found.task).benchmark
                declared = metric_of("strict", benchmark, form, metric.metric)
                assert declared is not None
                gain = metric.value_if_right - metric.value
                assert (gain if declared.higher_is_better else -gain) >= -1e-12
                if (found.task, found.query) not in unclear:
                    assert gain == 0
        for benchmark in result.benchmarks:
            mean = benchmark.overall
            if mean.value is not None and mean.value_if_right is not None:
                assert mean.value_if_right >= mean.value - 1e-12


def test_a_clear_score_is_its_own_better_end():
    score = Score(key="k", item="i", model="m", benchmark="MCS-Bench", task="T5",
                  protocol="strict", metric="Acc", value=0.0)  # fmt: skip
    assert better_end(score) is score

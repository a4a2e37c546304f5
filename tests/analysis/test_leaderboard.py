"""Means, intervals and ranks of the leaderboard."""

from __future__ import annotations

import numpy as np
import pytest

from keju.analysis.intervals import interval_of_scores, intervals
from keju.analysis.leaderboard import chance, money
from keju.analysis.marks import marks
from keju.analysis.resampling import resample_benchmark
from keju.analysis.run_set import ModelResponses, load_runs
from keju.items import ImageRef, Item, PromptVariant, Score
from keju.reporting.leaderboard_cells import chance_lines, overall_cell
from keju.reporting.view import build_view
from keju.running.prices import Price, Prices
from keju.scoring import SideScores, aggregate, compare_tasks


def score(model: str, task: str, group: int, value: float, **fields) -> Score:
    stats = {"numerator": value, "denominator": 1.0} | fields.pop("stats", {})
    given = {"benchmark": "MCS-Bench", "metric": "Acc", "protocol": "strict"} | fields
    return Score(
        key=f"{model}{task}{group}", item=f"{task}-{group}", model=model, task=task, value=value,
        group=f"book {group}", stats=stats, **given,
    )  # fmt: skip


def resampled(scores: list[Score], ranked: tuple[str, ...] = ("one", "two")):
    mains: dict[tuple[str, str], list[Score]] = {}
    for each in scores:
        mains.setdefault((each.task, each.query), []).append(each)
    results = {result.model: result.benchmarks[0] for result in aggregate(scores)}
    return resample_benchmark(mains, results, ranked=ranked)


def test_a_book_is_drawn_for_all_its_tasks_at_once():
    groups = range(12)
    against = [score("one", "T5", n, n % 2) for n in groups]
    against += [score("one", "T7", n, 1 - n % 2) for n in groups]
    low, high = resampled(against).overall["one"]
    assert low == pytest.approx(0.5)
    assert high == pytest.approx(0.5)
    alike = [score("one", task, n, n % 2) for task in ("T5", "T7") for n in groups]
    low, high = resampled(alike).overall["one"]
    assert high - low > 0.3


def test_ranks_part_only_models_that_can_be_told_apart():
    values = {"one": [1] * 8, "two": [0] * 8, "three": [0, 0, 0, 0, 0, 0, 0, 1]}
    scores = [
        score(model, "T5", n, v) for model, each in values.items() for n, v in enumerate(each)
    ]
    ranks = resampled(scores, ("one", "two", "three")).ranks
    assert ranks == {"one": (1, (1, 1)), "two": (3, (2, 3)), "three": (2, (2, 3))}


def test_a_model_that_lacks_a_task_is_not_ranked_and_it_is_said_why():
    scores = [score("one", task, n, 1) for task in ("T5", "T7") for n in range(6)]
    scores += [score("two", "T5", n, 1) for n in range(6)]
    assert resampled(scores).unranked == {
        "one": "no other model exists to rank it against", "two": "not ranked: lacks T7",
    }  # fmt: skip
    scores += [score("three", task, n, 0) for task in ("T5", "T7") for n in range(6)]
    found = resampled(scores, ("one", "two", "three"))
    assert found.unranked == {"two": "not ranked: lacks T7"}
    assert found.ranks == {"one": (1, (1, 1)), "three": (2, (2, 2))}


def test_balanced_accuracy_is_resampled_side_by_side():
    scores = [
        score(
            "one", "recognition", n, right, benchmark="OBI-Bench", query="Yes-or-No",
            metric="BalancedAcc", stats={"positive": float(n % 4 == 0)},
        )
        for n, right in enumerate([1.0, 0.0, 0.0, 0.0] * 6)
    ]  # fmt: skip
    (bounds,) = resampled(scores).domains.values()
    assert bounds == pytest.approx((0.5, 0.5))


def test_balanced_accuracy_has_its_interval_in_the_table_of_tasks_too():
    right = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0] * 6
    scores = [
        score(
            "one", "recognition", n, each, benchmark="OBI-Bench", query="Yes-or-No",
            metric="BalancedAcc", stats={"positive": float(n % 3 == 0)},
        )
        for n, each in enumerate(right)
    ]  # fmt: skip
    place = ("one", "recognition", "Yes-or-No", scores[0].protocol, "BalancedAcc")
    (found,) = intervals(scores, metrics={place}).values()
    sides = [[r for n, r in enumerate(right) if (n % 3 == 0) is side] for side in (True, False)]
    value = sum(sum(side) / len(side) for side in sides) / 2
    assert 0.4 < found.low < value < found.high < 1
    (bounds,) = resampled(scores).domains.values()
    assert bounds == (found.low, found.high)
    assert interval_of_scores(scores[::-1]) == pytest.approx(found)


def test_few_groups_have_no_interval_and_the_notes_give_the_reason():
    found = resampled([score("one", "T5", 0, 1)])
    assert not found.overall
    assert found.notes == [
        "1 of 1 tasks have one group each: the intervals do not contain their sampling error",
        "No intervals: 1 groups exist, at least 6 are needed",
    ]
    of = {count: [score("one", "T5", n, n % 2) for n in range(count)] for count in (5, 6)}
    assert {count: len(resampled(scores).overall) for count, scores in of.items()} == {5: 0, 6: 1}


@pytest.mark.parametrize(("models", "needed"), [(2, 6), (3, 7), (4, 8)])
def test_ranks_are_open_with_fewer_groups_than_the_paired_tests_need(models, needed):
    names = [f"m{n}" for n in range(models)]
    for groups in (2, needed - 1, needed):
        scores = [
            score(name, "T5", n, 1 - place / models)
            for place, name in enumerate(names) for n in range(groups)
        ]  # fmt: skip
        found = resampled(scores, tuple(names))
        told = groups >= needed
        assert [span for _, span in found.ranks.values()] == [
            (place, place) if told else (1, models) for place in range(1, models + 1)
        ]
        assert (
            any(f"fewer than {needed} groups, {needed - groups} more" in n for n in found.notes)
            is not told
        )
        assert {gap.significant for gap in found.gaps.values()} == {told}


def test_ranks_agree_with_the_comparison_of_two_models_on_one_task():
    generator = np.random.default_rng(8)
    for groups in (6, 9, 30):
        for gap in (0, 0.1, 0.3):
            scores = [
                score(name, "T5", n, float(value))
                for name, more in (("one", gap), ("two", 0))
                for n, value in enumerate(generator.normal(more, 0.2, groups))
            ]
            ranks = resampled(scores).ranks
            sides = [SideScores("strict", part) for part in (scores[:groups], scores[groups:])]
            (task,) = compare_tasks(*sides)
            assert (ranks["one"][1] == ranks["two"][1]) is (task.p > 0.05)
            assert resampled(scores).gaps["one", "two"].p_holm == pytest.approx(task.p, abs=0.01)


def test_chance_is_what_a_guess_earns():
    choice = {"benchmark": "MCS-Bench", "task": "T5", "options": ("a", "b", "c", "d")}
    picture = ImageRef(path="a", sha256="a", width=1, height=1, size=1)
    assert chance(Item(id="a", **choice, answer="A")) == 0.25
    assert chance(Item(id="a", benchmark="MCS-Bench", task="T1", answer="天")) == 0
    pair = Item(
        id="a", benchmark="OBI-Bench", task="rejoining", query="Yes-or-No", images=(picture,) * 11,
        relevant=(1, 2),
    )  # fmt: skip
    assert chance(pair) == 0.2


def test_best_and_second_are_marked_as_printed_and_ties_share_them():
    assert marks({"a": 50.0, "b": 50.0, "c": 40.0}) == {"a": "best", "b": "best"}
    assert marks({"a": 90, "b": 50, "c": 50}) == {"a": "best", "b": "second", "c": "second"}
    assert marks({"a": 1, "b": 2}, higher_is_better=False) == {"a": "best", "b": "second"}
    assert marks({"a": 1}) == {}


@pytest.mark.parametrize(
    ("model", "role", "cost"),
    [
        ("openai:big/m-1", "model", 4.5),
        ("ocr+llm:ppocr+openai:m-1", "model", 4.5),
        ("openai:other", "model", None),
        ("baseline:m-1", "baseline", None),
    ],
)
def testmoney_is_by_the_tokens_that_were_counted(model, role, cost):
    prices = Prices(currency="USD", models=(Price(names=("m-*",), input=2.0, output=10.0),))
    model_responses = ModelResponses(
        model, "run", PromptVariant(), role, items=10, input_tokens=20_000, output_tokens=500
    )
    assert money(model_responses, prices) == cost
    assert money(model_responses, None) is None


def test_failures_time_and_floor_stand_beside_the_scores(scored_run):
    (board,) = build_view(load_runs([scored_run]), title="small").boards
    assert [group.title for group in board.groups] == ["answers made elsewhere"]
    good, bad = board.groups[0].rows
    assert "good" in good.model
    assert good.failures == bad.failures == []
    assert (good.overall[1].tasks, len(good.overall[1].missing)) == (45, 43)
    assert board.chance == {"T7": 0.5}
    assert overall_cell(good.overall[1]).note.endswith("2 of 45 tasks")
    assert list(chance_lines(board)) == ["50.0 % on T7"]

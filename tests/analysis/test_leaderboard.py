"""Means, intervals and ranks of the leaderboard."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from msgspec.structs import replace

from keju.analysis.intervals import read_task, task_intervals
from keju.analysis.leaderboard import Mean, chance, money
from keju.analysis.marks import marks
from keju.analysis.resampling import group_notes, resample_benchmark
from keju.analysis.run_set import ModelResponses, load_runs
from keju.definitions import task
from keju.items import ImageRef, Item, PromptVariant, Score
from keju.reporting.leaderboard_cells import chance_lines, overall_cell
from keju.reporting.view import build_view
from keju.running.prices import Price, Prices
from keju.scoring import SideScores, aggregate, compare_tasks, scores_frame
from keju.statistics import paired_p


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


A = [(6, 8), (8, 13), (10, 13), (8, 13), (10, 12), (10, 11)]
B = [(2, 2), (2, 2), (4, 4), (2, 2), (2, 2), (2, 17)]
C = [(0, 123), (2, 125), (2, 163), (2, 194), (4, 107), (2, 111)]
"""F1 of three models by book: true positives twice, and predicted and true ones."""


def sums(model: str, pairs, task: str = "T5") -> list[Score]:
    return [
        score(model, task, n, top / bottom, stats={"numerator": top, "denominator": bottom})
        for n, (top, bottom) in enumerate(pairs)
    ]


def shares(model: str, values, task: str = "T5") -> list[Score]:
    return [score(model, task, n, value) for n, value in enumerate(values)]


@pytest.mark.parametrize("ranked", [("a", "b"), ("a", "b", "c")])
def test_the_test_of_two_models_never_sees_a_third(ranked):
    two = resampled(sums("a", A) + sums("b", B), ("a", "b"))
    three = resampled(sums("a", A) + sums("b", B) + sums("c", C), ranked)
    (exact,) = paired_p(read_task(sums("a", A) + sums("b", B)).columns[0].parts).values()
    assert exact == 34 / 64
    assert two.gaps["a", "b"].p_holm == exact
    assert three.overall["a"] == pytest.approx(two.overall["a"], abs=1e-12)
    if "c" not in ranked:
        assert three.gaps == two.gaps
    else:
        assert three.gaps["a", "b"].p_holm == exact  # The largest of three: not adjusted.


def test_drawn_swaps_do_not_depend_on_the_number_of_models():
    generator = np.random.default_rng(3)
    values = generator.random((60, 21))
    scores = [shares(f"m{n:02}", of_model) for n, of_model in enumerate(values)]
    few, many = (
        paired_p(read_task(chain.from_iterable(some)).columns[0].parts)
        for some in (scores[:2], scores)
    )
    assert many[0, 1] == few[0, 1]


def test_a_book_is_drawn_for_all_its_tasks_at_once():
    even, odd = [n % 2 for n in range(12)], [1 - n % 2 for n in range(12)]
    against = resampled(shares("one", [*even[:11], 0]) + shares("one", odd, "T7"))
    alike = resampled(shares("one", even) + shares("one", even, "T7"))
    widths = [high - low for means in (against, alike) for low, high in [means.overall["one"]]]
    assert widths[0] < 0.2
    assert widths[1] > 0.4


def test_a_mean_over_one_task_has_the_interval_of_the_task():
    scores = sums("a", A) + sums("b", B) + sums("c", C)
    means = resampled(scores)
    for model, interval in task_intervals(scores).items():
        bounds = means.overall[model]
        assert (
            bounds == (interval.low, interval.high) == means.domains[model, "Ancient Chinese Text"]
        )
        (alone,) = task_intervals(each for each in scores if each.model == model).values()
        assert alone == pytest.approx(interval, abs=1e-12)


def test_no_order_changes_a_number():
    scores = [
        each
        for task in ("T5", "T7")
        for model, pairs in (("a", A), ("b", B), ("c", C))
        for each in sums(model, pairs, task)
    ]
    models = ("a", "b", "c")
    means, again = resampled(scores, models), resampled(scores[::-1], models[::-1])
    assert again.ranks == means.ranks
    for model in models:
        assert again.overall[model] == pytest.approx(means.overall[model], abs=1e-12)
        for other in set(models) - {model}:
            assert again.gaps[model, other].p_holm == means.gaps[model, other].p_holm


def test_ranks_part_only_models_that_can_be_told_apart():
    values = {"one": [1] * 8, "two": [0] * 8, "three": [0, 0, 0, 0, 0, 0, 0, 1]}
    scores = [each for model, of_model in values.items() for each in shares(model, of_model)]
    ranks = resampled(scores, ("one", "two", "three")).ranks
    assert ranks == {"one": (1, (1, 1)), "two": (3, (2, 3)), "three": (2, (2, 3))}


def test_a_model_that_lacks_a_task_is_not_ranked_and_it_is_said_why():
    scores = [score("one", task, n, 1) for task in ("T5", "T7") for n in range(6)]
    scores += [score("two", "T5", n, 1) for n in range(6)]
    lacks = "not ranked: lacks 6 of 12 items, among them all of T7"
    assert resampled(scores).unranked == {
        "one": "no other model exists to rank it against", "two": lacks,
    }  # fmt: skip
    scores += [score("three", task, n, 0) for task in ("T5", "T7") for n in range(6)]
    means = resampled(scores, ("one", "two", "three"))
    assert means.unranked == {"two": lacks}
    assert means.ranks == {"one": (1, (1, 1)), "three": (2, (2, 2))}


def without_value(each: Score) -> Score:
    return replace(each, value=None, reason="undefined")


@pytest.mark.parametrize(
    ("of_second", "why"),
    [
        (lambda each: each[:8], "not ranked: lacks 4 of 12 items"),
        (
            lambda each: [*each[:8], *map(without_value, each[8:])],
            "not ranked: lacks 4 of 12 items",
        ),
        (
            lambda each: [*each, replace(each[0], round=2)],
            "not ranked: answered other items, or some more often than others",
        ),
    ],
)
def test_no_rank_without_the_same_items(of_second, why):
    """Not asked, without a value, and answered unequally often."""
    scores = shares("one", [1] * 6 + [0] * 6) + of_second(shares("two", [1] * 8 + [0] * 4))
    means = resampled(scores)
    assert (means.ranks, means.gaps) == ({}, {})
    assert means.unranked["two"] == why
    assert means.missing == {"one": 0, "two": 4 if "lacks" in why else 0}


def test_more_rounds_of_every_item_are_the_same_items():
    one = shares("one", [1] * 12)
    two = [replace(each, round=n) for n in (1, 2) for each in shares("two", [0] * 6 + [1] * 6)]
    means = resampled(one + two)
    assert means.ranks == {"one": (1, (1, 1)), "two": (2, (2, 2))}
    assert means.gaps["one", "two"].p_holm == 2 / 2**6


def test_models_with_equal_printed_values_share_a_rank():
    orders = ((0.1, 0.2, 0.3), (0.2, 0.3, 0.1), (0.3, 0.1, 0.2), (0.3, 0.2, 0.1))
    scores = [
        score(f"m{place}", task, n, value)
        for place, order in enumerate(orders)
        for task, value in zip(("T10", "T11", "T12"), order, strict=True)
        for n in range(6)
    ]
    models = [f"m{place}" for place in range(4)]
    assert resampled(scores, tuple(models)).ranks == dict.fromkeys(models, (1, (1, 4)))
    # 74.66 and 74.74 are both printed as 74.7, although each book differs.
    close = shares("low", [0.7466] * 12) + shares("high", [0.7474] * 12)
    means = resampled(close, ("low", "high"))
    assert means.gaps["high", "low"].significant
    assert means.ranks == dict.fromkeys(("low", "high"), (1, (1, 2)))


BOTH_CLASSES = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0] * 6


def yes_or_no(model: str, right) -> list[Score]:
    return [
        score(
            model, "recognition", n, value, benchmark="OBI-Bench", query="Yes-or-No",
            metric="BalancedAcc", stats={"positive": float(n % 3 == 0)},
        )
        for n, value in enumerate(right)
    ]  # fmt: skip


def test_balanced_accuracy_has_an_interval_and_a_test():
    scores = yes_or_no("one", BOTH_CLASSES)
    (means,) = task_intervals(scores).values()
    value = sum(
        float(np.mean([r for n, r in enumerate(BOTH_CLASSES) if (n % 3 == 0) is side]))
        for side in (True, False)
    ) / 2  # fmt: skip
    assert 0.4 < means.low < value < means.high < 1
    wrong = yes_or_no("two", [1.0 - right for right in BOTH_CLASSES])
    both = resampled(scores + wrong)
    assert both.overall["one"] == (means.low, means.high)
    assert both.ranks == {"one": (1, (1, 1)), "two": (2, (2, 2))}
    assert both.gaps["one", "two"].significant


def test_a_metric_without_parts_is_ranked_without_a_test_and_it_is_said():
    scores = [
        score(
            model, "page_level_ocr", n, value, benchmark="AncientDoc", metric="CharF1",
            protocol="official", stats={"precision": value, "recall": value},
        )
        for model, value in (("one", 0.5), ("two", 0.25))
        for n in range(8)
    ]  # fmt: skip
    means = resampled(scores)
    assert means.ranks == {"one": (1, None), "two": (2, None)}
    assert (means.overall, means.gaps) == ({}, {})
    assert means.notes == [
        "No interval for values that include one of these tasks, and no test of ranks: "
        "page_level_ocr (CharF1)"
    ]


def test_values_at_both_ends_have_exact_binomial_intervals():
    means = resampled(shares("one", [1] * 6) + shares("two", [0] * 6))
    printed = {
        model: overall_cell(Mean(value, means.overall[model], 1, {})).note
        for model, value in (("one", 1.0), ("two", 0.0))
    }
    assert printed == {"one": "54.1 to 100.0", "two": "0.0 to 45.9"}


@pytest.mark.parametrize("groups", [(3, 3), (3, 60), (1, 30), (5, 6)])
def test_a_mean_has_an_interval_only_if_each_of_its_tasks_has_six_groups(groups):
    generator = np.random.default_rng(1)
    scores = [
        each
        for task, count in zip(("T5", "T7"), groups, strict=True)
        for each in shares("one", generator.random(count), task)
    ]
    means = resampled(scores)
    assert not means.overall
    few = [f"{t} ({n})" for t, n in zip(("T5", "T7"), groups, strict=True) if n < 6]
    assert means.notes == [
        "No interval for values that include a task with fewer than 6 groups: " + ", ".join(few)
    ]
    assert set(resampled(scores + shares("one", [0.5], "T5")[:0]).domains) == {
        ("one", task(name).domain) for name, n in zip(("T5", "T7"), groups, strict=True)
        if n >= 6 and task("T5").domain != task("T7").domain
    }  # fmt: skip


@pytest.mark.parametrize(("models", "needed"), [(2, 6), (3, 7), (4, 8)])
def test_ranks_are_open_with_fewer_groups_than_the_paired_tests_need(models, needed):
    names = [f"m{n}" for n in range(models)]
    for groups in (2, needed - 1, needed):
        scores = [
            score(name, "T5", n, 1 - place / models)
            for place, name in enumerate(names) for n in range(groups)
        ]  # fmt: skip
        means = resampled(scores, tuple(names))
        enough = groups >= needed
        assert [span for _, span in means.ranks.values()] == [
            (place, place) if enough else (1, models) for place in range(1, models + 1)
        ]
        assert (
            any(
                f"fewer than {needed} groups, {needed - groups} more" in n for n in means.few_groups
            )
            is not enough
        )
        assert {gap.significant for gap in means.gaps.values()} == {enough}


def test_the_share_of_the_largest_group_is_named():
    scores = [
        replace(score(model, "T5", n, 1), group=f"book {book}")
        for model in ("one", "two")
        for n, book in enumerate([0] * 10 + list(range(1, 8)))
    ]
    assert list(group_notes({"strict": resampled(scores)})) == [
        "8 groups (book, plate, bone; else the image), the largest with 58.8 % of the weight of "
        "the mean"
    ]


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
            sides = [
                SideScores("strict", scores_frame(part))
                for part in (scores[:groups], scores[groups:])
            ]
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

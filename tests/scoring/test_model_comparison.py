"""Two models side by side: told apart where they differ, and never by more than is there."""

from __future__ import annotations

import pytest

from keju.items import Score
from keju.scoring import (
    SideScores,
    adjust_comparisons,
    compare_sides,
    compare_tasks,
    mark_equal,
    score_answer,
    scores_frame,
)


def scored(make, model, answers, *, task="T5", truth="B", books=12, **fields):
    """Scores of a model's answers, the items spread over so many books."""
    result = []
    for number, text in enumerate(answers):
        item, response = make(
            task, truth, text, name=f"i{number}", model=model, group=f"book {number % books}",
            **fields,
        )  # fmt: skip
        result += score_answer(item, response, ("strict",))
    return result


OPTIONS = {"options": ("甲", "乙", "丙", "丁")}


def side(scores, protocol="strict"):
    return SideScores(protocol, scores_frame(list(scores)))


def compared(first, second, protocol="strict"):
    return adjust_comparisons(compare_tasks(side(first, protocol), side(second, protocol)))


def test_a_model_that_is_always_right_is_told_from_one_that_never_is(make):
    good = scored(make, "good", ["B"] * 60, **OPTIONS)
    bad = scored(make, "bad", ["C"] * 60, **OPTIONS)
    (result,) = compared(good, bad)
    assert (result.task, result.metric, result.items, result.groups) == ("T5", "Acc", 60, 12)
    assert (result.first, result.second, result.difference) == (1, 0, 1)
    assert result.p == pytest.approx(2 / 2**12)
    assert result.better == "first"
    (turned,) = compared(bad, good)
    assert (turned.difference, turned.better) == (-1, "second")


def test_alike_models_are_not_told_apart(make):
    one = scored(make, "one", ["B", "B", "C"] * 20, **OPTIONS)
    two = scored(make, "two", ["C", "B", "B"] * 20, **OPTIONS)
    (result,) = compared(one, two)
    assert result.difference == 0
    assert result.p == 1
    assert result.better == ""
    assert result.low < 0 < result.high


def test_only_items_that_both_answered_count_and_the_others_are_counted(make):
    one = scored(make, "one", ["B"] * 40, **OPTIONS)
    two = scored(make, "two", ["B"] * 20 + ["C"] * 5, **OPTIONS)
    (result,), (mean,) = compare_sides(side(one), side(two))
    assert result.items == mean.items == 25
    assert (result.first, result.second) == (1.0, 0.8)
    assert (mean.only_first, mean.only_second) == (15, 0)
    more = scored(make, "one", ["B"] * 7, task="T7", **OPTIONS)
    _, (mean,) = compare_sides(side(two), side([*one, *more]))
    assert (mean.tasks, mean.only_first, mean.only_second) == (("T5",), 0, 22)


def test_p_is_adjusted_over_the_tasks(make):
    both = []
    for model, texts in (("one", ["B"] * 24), ("two", ["C"] * 12 + ["B"] * 12)):
        both.append(
            scored(make, model, texts, **OPTIONS) + scored(make, model, texts, task="T7", **OPTIONS)
        )
    result = compared(*both)
    assert [each.task for each in result] == ["T5", "T7"]
    for each in result:
        assert each.p_holm == pytest.approx(min(1, 2 * each.p))


@pytest.mark.parametrize("books", [1, 5])
def test_fewer_than_six_books_have_no_test_and_no_interval(make, books):
    one = scored(make, "one", ["B"] * 5, books=books, **OPTIONS)
    two = scored(make, "two", ["C"] * 5, books=books, **OPTIONS)
    (result,) = compared(one, two)
    assert (result.p, result.low, result.better, result.needed) == (None, None, "", 6)
    assert (result.difference, result.groups) == (1, books)


def test_of_an_error_the_lower_is_the_better(make):
    official = []
    for model, text in (("near", "12"), ("far", "24")):
        result = []
        for number in range(24):
            item, response = make(
                "recognition", "12", text, name=f"i{number}", model=model, group=f"b{number}",
                query="How",
            )  # fmt: skip
            result += score_answer(item, response, ("official",))
        official.append(result)
    (task,), (mean,) = compare_sides(*(side(each, "official") for each in official))
    assert (task.metric, task.first, task.second) == ("MRE", 0, 1)
    assert task.better == mean.better == "first"
    assert mean.tasks == ("recognition/How",)


SUMS = {
    "a": [(6, 8), (8, 13), (10, 13), (8, 13), (10, 12), (10, 11)],
    "b": [(2, 2), (2, 2), (4, 4), (2, 2), (2, 2), (2, 17)],
}
"""Numerators and denominators of an F1 by book, of two models that write texts of unlike length."""


def summed(model, sums, *, task="T3", metric="F1", protocol="strict", **fields):
    """A score for each pair of sums, one in a book."""
    return [
        Score(
            key="k", item=f"{task}-{number}", model=model, benchmark="MCS-Bench", task=task,
            protocol=protocol, metric=metric, value=top / bottom, group=f"book {number:02}",
            stats={"numerator": float(top), "denominator": float(bottom)}, **fields,
        )
        for number, (top, bottom) in enumerate(sums)
    ]  # fmt: skip


def test_two_models_are_tested_by_swapping_their_sums_within_books():
    """Fault 1: a linearised test of the same sums gave .97, and .031 beside a third model."""
    (task,), (mean,) = compare_sides(*(side(summed(*each)) for each in SUMS.items()))
    assert task.p == mean.p == 0.53125
    assert task.difference == pytest.approx(52 / 70 - 14 / 29)


def test_the_order_of_the_items_changes_nothing():
    """Fault 5: reversed items moved a bound by 1.2 points, and p from .0188 to .0208."""
    one, two = (summed(model, sums * 3) for model, sums in SUMS.items())
    there = compare_sides(side(one), side(two))
    assert there == compare_sides(side(one[::-1]), side(two[::-1]))
    assert there == compare_sides(side(one), side(two[::-1]))
    ((task,), _) = there
    assert task.groups == 18
    assert task.low is not None


def test_two_sides_that_are_wholly_right_have_no_interval_of_no_width(make):
    """Fault 6: +0.0 (+0.0 to +0.0) was printed."""
    sides = [side(scored(make, name, ["B"] * 12, books=6, **OPTIONS)) for name in ("a", "b")]
    (task,), (mean,) = compare_sides(*sides)
    assert (task.difference, task.low, task.high, task.p) == (0, None, None, 1)
    assert (mean.difference, mean.low, mean.high, mean.p) == (0, None, None, 1)


def test_the_needed_groups_are_those_of_the_adjusted_test():
    """Fault 12: a difference that is found four times in five is no longer promised."""
    sides = [
        side(each for task in TASKS for each in summed(model, sums, task=task, metric="Acc"))
        for model, sums in SUMS.items()
    ]
    result = adjust_comparisons(compare_tasks(*sides))
    assert [(each.groups, each.needed) for each in result] == [(6, 7)] * 3
    assert "detectable" not in result[0].__struct_fields__


TASKS = ("T5", "T7", "T10")


def differing_in_four_books_of_each_task():
    """Two sides in 12 books: the second has an error more in each book, in one of three tasks."""
    one, two = [], []
    for place, task in enumerate(TASKS):
        lost = range(4 * place, 4 * place + 4)
        one += summed("one", [(4, 5)] * 12, task=task, metric="Acc")
        two += summed(
            "two", [(4 - (book in lost), 5) for book in range(12)], task=task, metric="Acc"
        )
    return side(one), side(two)


def test_the_overall_mean_has_one_test_of_all_its_tasks():
    """Fault 13: every task was open, and the mean was not tested."""
    tasks, (mean,) = compare_sides(*differing_in_four_books_of_each_task())
    assert [task.p for task in tasks] == [2 / 2**4] * 3
    assert not any(task.better for task in adjust_comparisons(tasks))
    (mean,) = adjust_comparisons([mean])
    assert mean.tasks == TASKS
    assert (mean.items, mean.groups, mean.largest) == (36, 12, pytest.approx(1 / 12))
    assert mean.difference == pytest.approx(4 / 60)
    assert (mean.p, mean.p_holm, mean.better) == (2 / 2**12, 2 / 2**12, "first")


def test_values_are_equal_if_the_whole_interval_is_inside_the_margin():
    tasks, means = compare_sides(*differing_in_four_books_of_each_task())
    (mean,) = means
    for margin, equal in ((mean.high + 1e-9, True), (mean.high - 1e-9, False)):
        assert [each.equal for each in mark_equal(means, margin)] == [equal]
    assert not any(each.equal for each in mark_equal(tasks, 0.05))


def test_balanced_accuracy_is_tested():
    """Fault 13: it had an interval and a rank, but compare said "could not be tested"."""
    both = []
    for model, wrong in (("one", 0), ("two", 6)):
        both.append([
            Score(
                key="k", item=f"{label}-{book}", model=model, benchmark="OBI-Bench",
                task="recognition", query="Yes-or-No", protocol="strict", metric="BalancedAcc",
                value=right, group=f"book {book}",
                stats={"numerator": right, "denominator": 1.0, "positive": label},
            )
            for book in range(8) for label in (0.0, 1.0)
            for right in (float(label == 0 or book >= wrong),)
        ])  # fmt: skip
    (task,), (mean,) = compare_sides(*map(side, both))
    assert (task.first, task.second) == (1, pytest.approx((1 + 2 / 8) / 2))
    assert task.p == mean.p == 2 / 2**6
    assert task.low < task.difference < task.high

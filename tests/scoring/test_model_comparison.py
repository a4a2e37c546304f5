"""Two models side by side: told apart where they differ, and never by more than is there."""

from __future__ import annotations

import pytest

from keju.scoring import compare_models, score_answer


def scored(make, model, answers, *, task="T5", truth="B", books=12, **fields):
    """Scores of a model's answers, the items spread over so many books."""
    found = []
    for number, text in enumerate(answers):
        item, response = make(
            task, truth, text, name=f"i{number}", model=model, group=f"book {number % books}",
            **fields,
        )  # fmt: skip
        found += score_answer(item, response, ("strict",))
    return found


OPTIONS = {"options": ("甲", "乙", "丙", "丁")}


def test_a_model_that_is_always_right_is_told_from_one_that_never_is(make):
    good = scored(make, "good", ["B"] * 60, **OPTIONS)
    bad = scored(make, "bad", ["C"] * 60, **OPTIONS)
    (found,) = compare_models(good, bad, "strict", resamples=500)
    assert (found.task, found.metric, found.items, found.groups) == ("T5", "Acc", 60, 12)
    assert (found.first, found.second, found.difference) == (1, 0, 1)
    assert found.p == pytest.approx(2 / 2**12)
    assert found.better == "first"
    (turned,) = compare_models(bad, good, "strict", resamples=500)
    assert (turned.difference, turned.better) == (-1, "second")


def test_alike_models_are_not_told_apart(make):
    one = scored(make, "one", ["B", "C"] * 30, **OPTIONS)
    two = scored(make, "two", ["C", "B"] * 30, **OPTIONS)
    (found,) = compare_models(one, two, "strict", resamples=500)
    assert found.difference == 0
    assert found.p == 1
    assert found.better == ""
    assert found.low <= 0 <= found.high


def test_only_items_that_both_answered_count(make):
    one = scored(make, "one", ["B"] * 40, **OPTIONS)
    two = scored(make, "two", ["B"] * 20 + ["C"] * 5, **OPTIONS)
    (found,) = compare_models(one, two, "strict", resamples=200)
    assert found.items == 25
    assert (found.first, found.second) == (1.0, 0.8)


def test_p_is_adjusted_over_the_tasks(make):
    both = []
    for model, texts in (("one", ["B"] * 24), ("two", ["C"] * 12 + ["B"] * 12)):
        both.append(
            scored(make, model, texts, **OPTIONS) + scored(make, model, texts, task="T7", **OPTIONS)
        )
    found = compare_models(*both, "strict", resamples=200)
    assert [each.task for each in found] == ["T5", "T7"]
    for each in found:
        assert each.p_holm == pytest.approx(min(1, 2 * each.p))


def test_one_book_leaves_nothing_to_resample(make):
    one = scored(make, "one", ["B"] * 5, books=1, **OPTIONS)
    two = scored(make, "two", ["C"] * 5, books=1, **OPTIONS)
    (found,) = compare_models(one, two, "strict")
    assert (found.p, found.low, found.better) == (None, None, "")
    assert found.difference == 1


def test_of_an_error_the_lower_is_the_better(make):
    official = []
    for model, text in (("near", "12"), ("far", "24")):
        found = []
        for number in range(24):
            item, response = make(
                "recognition", "12", text, name=f"i{number}", model=model, group=f"b{number}",
                query="How",
            )  # fmt: skip
            found += score_answer(item, response, ("official",))
        official.append(found)
    (compared,) = compare_models(*official, "official", resamples=500)
    assert (compared.metric, compared.first, compared.second) == ("MRE", 0, 1)
    assert compared.better == "first"

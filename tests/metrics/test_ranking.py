"""Tied candidates earn what they earn on average over all their orders, computed exactly."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics.base import UndefinedMetricError
from keju.metrics.ranking import (
    accuracy_at,
    auc,
    average_precision,
    average_precision_at,
    average_precision_of_yes,
    hits_at,
    precision_at,
    rank,
    recall_at,
)

SCORES = st.sampled_from([None, 0.0, 0.5, 0.8, 1.0])


@st.composite
def queries(draw):
    scores = draw(st.lists(SCORES, min_size=1, max_size=6))
    places = st.integers(0, len(scores) - 1)
    return scores, draw(st.sets(places, min_size=1)), draw(st.integers(1, 8))


def orders(scores):
    """Every order in which the scores, None last, do not rise."""
    values = [-1.0 if score is None else score for score in scores]
    for order in itertools.permutations(range(len(values))):
        ranked = [values[index] for index in order]
        if ranked == sorted(values, reverse=True):
            yield order


def averaged(metric, scores):
    return math.fsum(values := [metric(order) for order in orders(scores)]) / len(values)


def naive_ap(order, relevant, k, best):
    right = [index in relevant for index in order]
    return sum(sum(right[: i + 1]) / (i + 1) for i in range(min(k, len(right))) if right[i]) / best


@given(queries())
def test_accuracy_recall_and_precision_are_means_over_all_orders_of_the_tied(query):
    scores, relevant, k = query
    ranking = rank(scores, relevant)

    def found(order):
        return len(relevant.intersection(order[:k]))

    assert accuracy_at(ranking, k) == pytest.approx(averaged(lambda o: found(o) > 0, scores))
    assert recall_at(ranking, k) == pytest.approx(averaged(found, scores) / len(relevant))
    assert precision_at(ranking, k) == pytest.approx(averaged(found, scores) / k)


@given(queries())
def test_average_precision_is_the_mean_over_all_orders_of_the_tied(query):
    scores, relevant, k = query
    ranking, count = rank(scores, relevant), len(scores)
    for cut, value in [
        (count, average_precision(ranking)),
        (k, average_precision_at(ranking, k)),
    ]:
        expected = averaged(lambda o, cut=cut: naive_ap(o, relevant, cut, len(relevant)), scores)
        assert value == pytest.approx(expected)


@given(queries())
def test_auc_counts_every_pair_and_a_tie_as_half(query):
    scores, relevant, _ = query
    values = [-1.0 if score is None else score for score in scores]
    others = set(range(len(scores))) - relevant
    if not others:
        return
    won = [(values[a] > values[b]) + (values[a] == values[b]) / 2 for a in relevant for b in others]
    assert auc(rank(scores, relevant)) == pytest.approx(sum(won) / len(won))


def stable(scores):
    """Different scores of the same order, in which of equal ones the first is the highest."""
    order = sorted(range(len(scores)), key=lambda i: 1.0 if scores[i] is None else -scores[i])
    return [-order.index(index) for index in range(len(scores))]


@given(queries())
def test_different_scores_have_one_order(query):
    scores, relevant, k = query
    places = stable(scores)
    order = sorted(range(len(scores)), key=lambda i: -places[i])
    ranking = rank(places, relevant)
    assert hits_at(ranking, k) == len(relevant.intersection(order[:k]))
    assert average_precision(ranking) == pytest.approx(
        naive_ap(order, relevant, len(order), len(relevant))
    )


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=6), st.data())
def test_yeses_have_no_order_among_them(answers, data):
    relevant = data.draw(st.sets(st.integers(0, len(answers) - 1), min_size=1))
    scores = [1.0 if answer else 0.0 for answer in answers]
    yes = int(sum(scores))
    expected = averaged(lambda order: naive_ap(order, relevant, yes, len(relevant)), scores)
    assert average_precision_of_yes(answers, relevant) == pytest.approx(expected)


def test_one_score_for_all_earns_chance():
    ranking = rank([0.8] * 100, {17})
    assert accuracy_at(ranking, 1) == pytest.approx(0.01)
    assert accuracy_at(ranking, 5) == pytest.approx(0.05)
    assert auc(ranking) == 0.5


def test_top_level_shared_by_half_of_the_targets_as_in_the_study():
    ranking = rank([0.9] * 9 + [0.1] * 91, {3})
    assert accuracy_at(ranking, 1) == pytest.approx(1 / 9)


def test_a_candidate_without_a_score_comes_after_the_lowest_score():
    ranking = rank([None, float("-inf"), float("nan")], {1})
    assert accuracy_at(ranking, 1) == 1
    assert ranking.sizes.tolist() == [1, 2]


def test_recall_at_one_of_four_relevant_cannot_exceed_a_quarter():
    assert recall_at(rank([1, 0.9, 0.8, 0.7, 0.1], {0, 1, 2, 3}), 1) == 0.25


def test_one_right_yes_earns_a_share_of_all_relevant():
    assert average_precision_of_yes([True, False, False, False], {0, 1, 2, 3}) == 0.25
    assert average_precision_of_yes([True, None, None, None], {0, 1, 2, 3}) == 0.25
    assert average_precision_of_yes([False] * 4, {0}) == 0


def test_a_hundred_thousand_tied_candidates_are_exact_and_quick():
    ranking = rank([0.8] * 100_000, set(range(0, 100_000, 1000)))
    assert accuracy_at(ranking, 50_000) == pytest.approx(1)
    assert accuracy_at(ranking, 1) == pytest.approx(0.001)
    assert recall_at(ranking, 25_000) == pytest.approx(0.25)
    assert average_precision(ranking) == pytest.approx(0.001, rel=0.2)


def test_without_a_relevant_candidate_there_is_no_value():
    ranking = rank([0.5, 0.4], set())
    for metric in (accuracy_at, recall_at, average_precision_at):
        with pytest.raises(UndefinedMetricError, match="relevant"):
            metric(ranking, 1)
    with pytest.raises(UndefinedMetricError, match="others"):
        auc(rank([0.5], {0}))
    with pytest.raises(UndefinedMetricError):
        average_precision(rank([], set()))
    assert precision_at(ranking, 1) == 0


def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="among the 2"):
        rank([0.5, 0.4], {2})
    with pytest.raises(ValueError, match="among the 2"):
        rank([0.5, 0.4], {-1})


def test_golden_retrieval_values_are_equal(shared):
    cases = json.loads((shared / "golden/obi_public.json").read_text())["retrieval"]
    for case in cases:
        expected = rank(case["scores"], case["relevant"])
        by_index = rank(stable(case["scores"]), case["relevant"])
        for k in (1, 3, 5, 10):
            assert recall_at(expected, k) == pytest.approx(case[f"recall@{k}_expected"], abs=1e-12)
            assert precision_at(expected, k) == pytest.approx(
                case[f"precision@{k}_expected"], abs=1e-12
            )
        assert recall_at(by_index, 5) == pytest.approx(case["recall@5_stable"], abs=1e-12)
        # The vector divides by as many relevant candidates as five places can hold.
        share = len(case["relevant"]) / min(5, len(case["relevant"]))
        assert share * average_precision_at(by_index, 5) == pytest.approx(
            case["ap@5_stable_norm_min"], abs=1e-12
        )
    assert len(cases) == 60

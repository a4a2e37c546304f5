"""An interval is wide where groups differ and narrow where they agree."""

from __future__ import annotations

import math

import numpy as np
import pytest

from keju.statistics import group_bootstrap


def test_interval_of_independent_items_agrees_with_the_normal_approximation():
    values = np.random.default_rng(1).normal(0.5, 0.2, size=400)
    interval = group_bootstrap(values.tolist(), [1.0] * 400, [""] * 400)
    assert interval is not None
    half = 1.96 * values.std() / math.sqrt(400)
    assert interval.low == pytest.approx(values.mean() - half, abs=0.003)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.003)
    assert interval.groups == 400


def test_items_of_one_book_count_as_one_draw():
    books = [f"book {index // 50}" for index in range(400)]
    values = [float(index // 50 % 2) for index in range(400)]
    by_book = group_bootstrap(values, [1.0] * 400, books)
    by_item = group_bootstrap(values, [1.0] * 400, [""] * 400)
    assert by_book is not None
    assert by_item is not None
    assert by_book.groups == 8
    assert by_book.high - by_book.low > 4 * (by_item.high - by_item.low)


def test_weights_make_a_corpus_rate():
    interval = group_bootstrap([1] * 5 + [50], [10] * 5 + [100], [*"abcdef"])
    assert interval is not None
    assert interval.low == pytest.approx(0.1)
    assert interval.high == pytest.approx(0.5, abs=0.03)


def test_fewer_than_six_groups_or_no_weight_give_no_interval():
    assert group_bootstrap([1, 0], [1, 1], ["a", "a"]) is None
    assert group_bootstrap([], [], []) is None
    assert group_bootstrap([0] * 6, [0] * 6, [*"abcdef"]) is None
    found = {n: group_bootstrap([1, 0] * n, [1, 1] * n, [f"{k}" for k in range(2 * n)])
             for n in (1, 2, 3)}  # fmt: skip
    assert {n: interval is not None for n, interval in found.items()} == {1: 0, 2: 0, 3: 1}


def test_the_same_input_gives_the_same_interval():
    args = ([0.0, 1.0, 1.0, 0.5] * 2, [1.0] * 8, [*"abcdefgh"])
    assert group_bootstrap(*args) is not None
    assert group_bootstrap(*args) == group_bootstrap(*args)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="one length"):
        group_bootstrap([1.0], [1.0, 2.0], ["a"])

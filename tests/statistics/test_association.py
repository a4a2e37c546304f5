"""Resampled measures are those of the resample written out, by scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from keju.statistics import MEASURES, associate, interval_of_values
from keju.statistics.association import _Weighed
from keju.statistics.bootstrap import draws


def ratings(count: int, seed: int, *, whole: bool = True) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    human = generator.uniform(0, 10, count)
    model = np.clip(human + generator.normal(1, 2, count), 0, 10)
    return (human.round(), model.round()) if whole else (human, model)


def by_scipy(human: np.ndarray, model: np.ndarray) -> dict[str, float]:
    count = len(human)
    ranks = stats.rankdata(human) - stats.rankdata(model)
    signs = np.sign(np.subtract.outer(human, human)) * np.sign(np.subtract.outer(model, model))
    return {
        "pearson": stats.pearsonr(human, model).statistic,
        "spearman": stats.spearmanr(human, model).statistic,
        "spearman_paper": 1 - 6 * (ranks**2).sum() / (count * (count**2 - 1)),
        "kendall": stats.kendalltau(human, model, variant="b").statistic,
        "kendall_paper": signs.sum() / (count * (count - 1)),
        "mse": ((human - model) ** 2).mean(),
        "mae": np.abs(human - model).mean(),
        "bias": (human - model).mean(),
    }


@pytest.mark.parametrize("whole", [True, False])
def test_values_are_scipys(whole):
    human, model = ratings(60, 1, whole=whole)
    found = associate(human, model, [""] * 60, resamples=10)
    assert found.values == pytest.approx(by_scipy(human, model))


@pytest.mark.parametrize("whole", [True, False])
def test_each_resample_is_that_of_the_drawn_pairs_written_out(whole):
    human, model = ratings(40, 2, whole=whole)
    groups = [f"book {place % 9}" for place in range(40)]
    found = associate(human, model, groups, resamples=25, seed=3)
    assert found.groups == 9
    inverse = np.arange(40) % 9
    (drawn,) = draws(9, resamples=25, seed=3)
    for place, times in enumerate(drawn):
        rows = np.repeat(np.arange(40), times[inverse].astype(int))
        assert {name: found.resampled[name][place] for name in MEASURES} == pytest.approx(
            by_scipy(human[rows], model[rows])
        )


def test_blocks_do_not_show(monkeypatch):
    human, model = ratings(50, 4)
    weights = np.random.default_rng(0).integers(0, 3, (7, 50)).astype(float)
    whole = _Weighed(human, model).measures(weights)
    monkeypatch.setattr("keju.statistics.association._BLOCK", 100)
    parted = _Weighed(human, model).measures(weights)
    assert all(whole[name] == pytest.approx(parted[name]) for name in MEASURES)


def test_a_measure_that_is_not_defined_has_neither_value_nor_interval():
    found = associate([5.0] * 6, [1, 2, 3, 4, 5, 6], [""] * 6, resamples=50)
    assert (found.values["pearson"], found.values["spearman"], found.values["kendall"]) == (
        None, None, None,
    )  # fmt: skip
    assert found.interval("kendall") is None
    assert np.isnan(found.resampled["pearson"]).all()
    assert found.values["bias"] == 1.5
    assert found.interval("bias").low < 1.5 < found.interval("bias").high
    alone = associate([3.0], [4.0], ["a"])
    assert (alone.values["mae"], alone.values["spearman"]) == (1, None)
    assert alone.interval("mae") is None


def test_values_of_one_group_have_no_interval():
    human, model = ratings(20, 5)
    found = associate(human, model, ["one book"] * 20)
    assert all(found.interval(name) is None for name in MEASURES)


def test_intervals_of_values_leave_out_what_is_no_number():
    values = np.array([1.0, 2, 3, 4, np.nan])
    assert interval_of_values(values, 50).low == pytest.approx(1.07, abs=0.02)
    assert interval_of_values(np.array([np.nan, np.nan, 1.0]), 50) is None


def test_wrong_lengths_are_refused():
    with pytest.raises(ValueError, match="one length"):
        associate([1, 2], [1, 2], ["a"])


def test_intervals_hold_the_true_values_as_often_as_they_say():
    """Ratings with a known bias, noise and correlation, groups of four that share some noise."""
    held = {"bias": 0, "pearson": 0, "mse": 0}
    bias, own, shared = 1.0, 1.5, 0.5
    truth = {
        "bias": -bias,
        "pearson": 2 / np.sqrt(4 + own**2 + shared**2),
        "mse": bias**2 + own**2 + shared**2,
    }
    for seed in range(120):
        generator = np.random.default_rng(seed)
        human = generator.normal(5, 2, 120)
        noise = generator.normal(0, own, 120) + np.repeat(generator.normal(0, shared, 30), 4)
        groups = [str(place // 4) for place in range(120)]
        found = associate(human, human + bias + noise, groups, resamples=400, seed=seed)
        for name, value in truth.items():
            low, high, _ = found.interval(name)
            held[name] += low <= value <= high
    assert all(106 <= count <= 120 for count in held.values()), held

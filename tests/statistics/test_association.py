"""Resampled measures are those of the resample written out, by scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from keju.statistics import MEASURES, associate
from keju.statistics.resampling import draws


def own_groups(count: int) -> list[str]:
    return [f"{place:05}" for place in range(count)]


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
    result = associate(human, model, own_groups(60))
    assert result.values == pytest.approx(by_scipy(human, model))


@pytest.mark.parametrize("whole", [True, False])
def test_each_resample_is_that_of_the_drawn_pairs_written_out(whole, monkeypatch):
    human, model = ratings(40, 2, whole=whole)
    groups = [f"book {place % 9}" for place in range(40)]
    (drawn, *_) = draws(9)
    drawn = drawn[:25]
    monkeypatch.setattr(
        "keju.statistics.association.draws", lambda *_, **__: [drawn[:9], drawn[9:]]
    )
    monkeypatch.setattr("keju.statistics.association._BLOCK", 100)
    result = associate(human, model, groups)
    assert result.groups == 9
    inverse = np.arange(40) % 9
    for place, times in enumerate(drawn):
        rows = np.repeat(np.arange(40), times[inverse].astype(int))
        assert {name: result.resampled[name][place] for name in MEASURES} == pytest.approx(
            by_scipy(human[rows], model[rows])
        )


def test_a_measure_that_is_not_defined_has_neither_value_nor_interval():
    result = associate([5.0] * 6, [1, 2, 3, 4, 5, 6], own_groups(6))
    assert (result.values["pearson"], result.values["spearman"], result.values["kendall"]) == (
        None, None, None,
    )  # fmt: skip
    assert result.interval("kendall") is None
    assert np.isnan(result.resampled["pearson"]).all()
    assert result.values["bias"] == 1.5
    assert result.interval("bias").low < 1.5 < result.interval("bias").high
    alone = associate([3.0], [4.0], ["a"])
    assert (alone.values["mae"], alone.values["spearman"]) == (1, None)
    assert alone.interval("mae") is None


def test_values_of_one_group_have_no_interval():
    human, model = ratings(20, 5)
    result = associate(human, model, ["one book"] * 20)
    assert all(result.interval(name) is None for name in MEASURES)


def test_wrong_lengths_are_refused():
    with pytest.raises(ValueError, match="one length"):
        associate([1, 2], [1, 2], ["a"])

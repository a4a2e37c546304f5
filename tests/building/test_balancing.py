"""Balancing: strata are cut to size by seed, and no book crowds the others out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from keju.building.engine import Engine
from keju.building.filtering.balancing import STEP, BalanceSettings, compute_allowance, draw_items
from keju.building.running import StepCall, StepResult, run_step
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import UsageError
from tests.support.making import page_item


def make(path: Path, books: dict[str, int], dynasty: str = "唐") -> list[object]:
    return [
        page_item(f"{dynasty}{book}{n}", group=book, answer="天", transcription="天",
                  metadata={"dynasty": dynasty})
        for book, pages in books.items() for n in range(pages)
    ]  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Path:
    with DatasetWriter(tmp_path / "d", name="n", version="1", licence="CC0", source="s") as writer:
        for item in make(tmp_path, {"a": 50, "b": 5, "c": 5}):
            writer.add(item)
        for item in make(tmp_path, {"d": 6}, "宋"):
            writer.add(item)
    return tmp_path / "d"


def done(source: Path, out: Path, settings: BalanceSettings, seed: int = 0) -> StepResult:
    return run_step(StepCall(STEP, settings, Dataset.open(source), seed), out, engine=Engine())


def test_a_large_book_does_not_crowd_out_the_small_ones(source: Path, tmp_path: Path) -> None:
    done(source, tmp_path / "out", BalanceSettings(by=("dynasty",), most=15))
    held = Counter(item.group for item in Dataset.open(tmp_path / "out").items())
    assert held == {"a": 5, "b": 5, "c": 5, "d": 6}
    lines = (tmp_path / "out/tables/strata.csv").read_text("utf-8-sig").splitlines()
    assert lines[1:] == ["唐 Tang,3,60,15,15", "宋 Song,1,6,6,15"]
    assert len((tmp_path / "out/tables/dropped.csv").read_text("utf-8-sig").splitlines()) == 46


def test_a_ratio_holds_the_largest_to_the_smallest(source: Path, tmp_path: Path) -> None:
    done(source, tmp_path / "out", BalanceSettings(by=("dynasty",), ratio=2))
    held = Counter(item.metadata["dynasty"] for item in Dataset.open(tmp_path / "out").items())
    assert held == {"唐": 12, "宋": 6}
    assert compute_allowance([60, 6], most=10, ratio=2) == 10
    assert compute_allowance([60, 6], most=0, ratio=1.5) == 9


def test_the_seed_decides(source: Path, tmp_path: Path) -> None:
    settings = BalanceSettings(most=10)
    hashes = [done(source, tmp_path / str(n), settings, seed).manifest.hash
              for n, seed in enumerate((1, 1, 2))]  # fmt: skip
    assert hashes[0] == hashes[1] != hashes[2]


def test_whole_groups_stay_whole() -> None:
    items = make(Path(), {"a": 50, "b": 5, "c": 5})
    for seed in range(10):
        kept = draw_items(items, 12, np.random.default_rng(seed), whole=True)
        held = Counter(item.group for item in items if item.id in kept)
        assert all(count == {"a": 50, "b": 5, "c": 5}[name] for name, count in held.items())
        assert held == {"a": 50} or held.total() <= 12


def test_wrong_settings_are_one_line(source: Path, tmp_path: Path) -> None:
    for settings, says in (
        (BalanceSettings(), "balance: no limit for a stratum is set"),
        (BalanceSettings(ratio=0.5), "ratio must be 1 or more"),
        (BalanceSettings(most=1, by=("dynast",)), "no field 'dynast'. Did you mean 'dynasty'?"),
    ):
        with pytest.raises(UsageError, match=says.replace("?", r"\?")):
            done(source, tmp_path / "out", settings)

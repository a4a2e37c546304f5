"""Step ``subset``: the items that stay, the reason for each other one, and the same hash again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from keju.building.subset import STEP, SubsetSettings
from keju.errors import UsageError
from tests.support.builds import built
from tests.support.making import make_dataset, page_item

ITEMS = (
    page_item("a", group="Analects"),
    page_item("b", group="Mencius"),
    page_item("c", group="Analects"),
    page_item("d", group="Analects", task="T2"),
    page_item("e", benchmark="AncientDoc", task="page_level_ocr"),
)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "given", ITEMS)


@pytest.mark.parametrize(
    ("settings", "kept", "reasons"),
    [
        (SubsetSettings(), "abcde", {}),
        (SubsetSettings(benchmarks=("MCS-Bench",)), "abcd", {"e": "another benchmark"}),
        (SubsetSettings(tasks=("T2",)), "d", dict.fromkeys("abce", "another task")),
        (SubsetSettings(groups=("Analects",)), "acd", dict.fromkeys("be", "another group")),
        (SubsetSettings(limit=2), "abde", {"c": "more than 2 of its task"}),
    ],
)
def test_every_item_is_kept_or_dropped_with_the_reason(
    given: Path, tmp_path: Path, settings: SubsetSettings, kept: str, reasons: dict[str, str]
) -> None:
    made, _ = built(STEP, given, tmp_path / "out", settings)
    dropped = pl.read_parquet(tmp_path / "out" / "tables" / "dropped.parquet")
    assert [item.id for item in made.items()] == list(kept)
    assert dict(zip(dropped["subject"], dropped["reason"], strict=True)) == reasons


def test_a_second_run_gives_the_same_hash(given: Path, tmp_path: Path) -> None:
    settings = SubsetSettings(limit=1)
    first, _ = built(STEP, given, tmp_path / "first", settings)
    second, _ = built(STEP, given, tmp_path / "second", settings)
    assert first.manifest.hash == second.manifest.hash


def test_a_name_that_no_item_has_is_an_error(given: Path, tmp_path: Path) -> None:
    for number, settings in enumerate(
        (
            SubsetSettings(benchmarks=("MCS",)),
            SubsetSettings(tasks=("T3",)),
            SubsetSettings(groups=("Shijing",)),
        )
    ):
        with pytest.raises(UsageError):
            built(STEP, given, tmp_path / str(number), settings)

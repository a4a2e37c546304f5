"""One value for each dynasty, script style and category, whatever it is called."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from keju.datasets import mini
from keju.datasets.stats import stats
from keju.datasets.store import Dataset
from keju.datasets.values import value_label


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("dynasty", ["唐", "Tang", "tang dynasty", "唐朝", "唐代", "The Tang Dynasty"]),
        ("dynasty", ["晋", "晉", "Jin", "东晋", "東晉", "西晋"]),
        ("dynasty", ["戰國", "战国", "战国时期", "Warring States", "Warring States period"]),
        (
            "dynasty",
            ["南朝齊", "南北朝", "Northern and Southern", "Northern and Southern dynasties"],
        ),
        ("period", ["汉", "漢代", "西漢", "Han"]),
        ("script", ["楷书", "楷書", "regular", "Regular script", "kai"]),
        ("category", ["兵家类", "兵家類", "兵家", "The Philosophy of War", "philosophy of war"]),
    ],
)
def test_all_names_of_a_value_are_one(kind: str, names: list[str]):
    labels = {value_label(kind, name) for name in names}
    assert len(labels) == 1
    assert labels.isdisjoint(names)


def test_values_that_are_not_the_same_stay_apart():
    assert value_label("dynasty", "金") != value_label("dynasty", "晋")
    assert value_label("dynasty", "春秋") != value_label("dynasty", "战国")
    assert value_label("script", "行书") != value_label("script", "草书")


def test_a_name_or_kind_that_the_table_does_not_have_stays_as_it_is():
    assert value_label("dynasty", "天启") == "天启"
    assert value_label("author", "Tang") == "Tang"


def test_every_printed_name_of_ancientdoc_is_canonical(shared: Path):
    registry = json.loads((shared / "published/ancientdoc_registry.json").read_text("utf-8"))
    printed = {"category": registry["category_pages"], "dynasty": registry["dynasty_pages"],
               "script": registry["script_style"]}  # fmt: skip
    for kind, names in printed.items():
        for name in names:
            assert value_label(kind, name).partition(" ")[2] == name.replace("_", " ")


def test_the_bundled_set_has_one_value_for_each_dynasty_and_script():
    items = Dataset.open(mini.path()).items()
    for kind in ("dynasty", "period", "script", "category"):
        names = {item.metadata[kind] for item in items if item.metadata.get(kind)}
        assert all(value_label(kind, name) != name for name in names)
    counted = stats(mini.path()).strata
    rows = Counter((row["stratum"], row["name"]) for row in counted.iter_rows(named=True))
    assert set(rows.values()) == {1}
    found = {row["name"]: row["questions"] for row in counted.iter_rows(named=True)}
    raw = Counter(item.metadata.get("dynasty") for item in items)
    assert found["唐 Tang"] == raw["唐"] + raw["Tang"] == 48
    styles = Counter(item.metadata.get("script") for item in items)
    assert found["楷书 regular"] == styles["楷书"] + styles["regular"] == 61

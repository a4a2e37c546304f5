"""Test and reference: no group and no image on both sides, each task near its share."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.building.engine import Engine
from keju.building.releasing.splitting import (
    STEP,
    SplitSettings,
    UnitMarks,
    UnitTasks,
    divide,
)
from keju.building.running import StepCall, StepResult, run_step
from keju.datasets import mini
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import UsageError
from keju.items import ImageRef, Item
from tests.support.making import make_dataset, page_item, picture


def ref(name: str) -> ImageRef:
    return ImageRef(path=f"images/{name}.png", sha256=name, width=1, height=1, size=1)


def item(name: str, group: str, *images: str, task: str = "T1") -> Item:
    return Item(
        id=name, benchmark="MCS-Bench", task=task, group=group, images=tuple(map(ref, images))
    )


def done(dataset: Path, out: Path, seed: int = 0, share: float = 0.2) -> StepResult:
    work = StepCall(STEP, SplitSettings(reference=share), Dataset.open(dataset), seed)
    return run_step(work, out, engine=Engine())


def number_units(items: list[Item]) -> list[int]:
    marks = UnitMarks()
    for each in items:
        marks.add(each)
    return marks.number_units().tolist()


def test_groups_that_share_an_image_are_one_unit() -> None:
    items = [item("a", "g", "1"), item("b", "h", "2"), item("c", "h", "1"), item("d", "i", "3")]
    assert number_units(items) == [0, 0, 0, 1]


def test_without_a_group_the_image_is_the_unit_and_without_image_the_item() -> None:
    items = [item("a", "", "1"), item("b", "", "1"), item("c", ""), item("d", "")]
    assert number_units(items) == [0, 0, 1, 2]


def test_a_group_with_the_id_of_an_item_without_group_is_its_unit() -> None:
    items = [item("a", ""), item("b", "a"), item("c", "d"), item("d", "")]
    assert number_units(items) == [0, 0, 1, 1]


@settings(max_examples=40)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["T1", "T2", "T7"]), st.integers(1, 6), min_size=1),
        min_size=30, max_size=80,
    ),
    st.sampled_from([0.1, 0.2, 0.5]),
    st.integers(0, 99),
)  # fmt: skip
def test_every_task_comes_within_a_groups_size_of_its_share(counts, share, seed) -> None:
    members = [(n, ["T1", "T2", "T7"].index(task)) for n, each in enumerate(counts)
               for task in Counter(each).elements()]  # fmt: skip
    units, tasks = np.array(members, np.int64).T
    sizes = np.array([sum(each.values()) for each in counts], np.int64)
    tally = UnitTasks.tally(units, tasks, len(counts))
    chosen = divide(tally, sizes, share, np.random.default_rng(seed))
    total, have = Counter(), Counter()
    for place, each in enumerate(counts):
        total.update(each)
        if place in chosen:
            have.update(each)
    for task, count in total.items():
        assert abs(have[task] - share * count) <= 6


def test_the_bundled_set_is_divided_without_group_or_image_on_both_sides(tmp_path: Path) -> None:
    done(mini.path(), tmp_path / "out", share=0.3)
    sides = defaultdict(set)
    items = Dataset.open(tmp_path / "out").items()
    for each in items:
        if each.benchmark != "MCS-Bench":
            continue
        sides["group", each.group].add(each.split)
        for image in each.images:
            sides["image", image.sha256].add(each.split)
    assert all(len(splits) == 1 for splits in sides.values())
    held = Counter(each.split for each in items if each.benchmark == "MCS-Bench")
    assert abs(held["reference"] / held.total() - 0.3) < 0.05
    before = {each.id: each.split for each in Dataset.open(mini.path()).items()}
    pairs = [each for each in items if each.task in {"classification", "retrieval", "rejoining"}]
    assert pairs
    assert all(each.split == before[each.id] for each in pairs)


def test_the_seed_decides_and_an_item_that_changed_says_so(tmp_path: Path) -> None:
    source = make_dataset(tmp_path / "d", pages=40)
    first, again, other = (
        done(source, tmp_path / str(n), seed).manifest.hash for n, seed in enumerate((1, 1, 2))
    )
    assert first == again != other
    items = Dataset.open(tmp_path / "0").items()
    assert Counter(each.split for each in items) == {"test": 32, "reference": 8}
    assert {tuple(step.step for step in each.provenance) for each in items} == {(), ("split",)}
    assert all(bool(each.provenance) == (each.split == "reference") for each in items)
    assert (tmp_path / "0/tables/split.csv").read_text("utf-8-sig").splitlines()[1] == (
        "T1,40,40,32,8,0.2,0.2,0"
    )


def test_one_book_cannot_be_split(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "d", name="n", version="1", licence="CC0", source="s") as writer:
        for number in range(3):
            image = writer.add_image(picture(number), "p")
            writer.add(page_item(f"p{number}", images=(image,), group="book"))
    with pytest.raises(UsageError, match=r"the 3 items form 1 unit, and a split"):
        done(tmp_path / "d", tmp_path / "out")


def test_a_task_that_gets_no_reference_item_is_named(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "d", name="n", version="1", licence="CC0", source="s") as writer:
        for number in range(20):
            image = writer.add_image(picture(number), "p")
            kind = "T2" if number == 7 else "T1"
            writer.add(page_item(f"p{number}", task=kind, images=(image,), group=f"g{number}"))
    notes = done(tmp_path / "d", tmp_path / "out").record.notes
    assert [note for note in notes if note.startswith("no ")] == [
        "no reference item of T2 (1 unit): their items form too few independent units"
    ]

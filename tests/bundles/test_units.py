"""Run, bundle and site count the same units of independence, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import polars as pl
import pytest

from keju.bundles import number_groups, open_bundle, verify_bundle, write_bundle
from keju.datasets.store import DatasetWriter
from keju.items import Item, Score
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from keju.scoring.stored import scores_path
from keju.scoring.value_parts import number_units, task_parts
from keju.site import write_site
from keju.statistics import Interval, Ratio, intervals, paired_p
from tests.support.making import picture
from tests.support.stored_scores import read_scores

GROUPS = [f"group-{number}" for number in range(12, 0, -1)]
"""As text, group-10 is before group-2; the items have neither order."""


def question(name: str, task: str = "T7", **fields: object) -> Item:
    benchmark = {"T7": "MCS-Bench", "vernacular_translation": "AncientDoc"}[task]
    settings = {"question": f"[{name}] 出自哪本书？", "verbatim": True, "answer": "A"} | fields
    options = ("說苑", "論語") if task == "T7" else ()
    return Item(id=name, benchmark=benchmark, task=task, options=options, **settings)


def make_dataset(folder: Path, groups: Sequence[str], *, per_group: int = 3) -> Path:
    """Questions on an image for each group; group number n has n more than `per_group`, modulo 4.

    There are also two translations, whose groups are between the others.
    """
    with DatasetWriter(
        folder / "set", name="units", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        for place, group in enumerate(groups):
            ref = writer.add_image(picture(place), group)
            for number in range(per_group + place % 4):
                name = f"q{place:02}-{number}"
                writer.add(question(name, images=(ref,), group=group))
        for name, group in (("t1", "group-0"), ("t2", "group-11 b")):
            writer.add(question(name, "vernacular_translation", images=(ref,), group=group))
    return folder / "set"


def make_run(folder: Path, dataset: Path, name: str, tasks: tuple[str, ...] = ("T7",)) -> RunFolder:
    """A scored run of two models, which are wrong in other groups."""
    specs = []
    for model, wrong in (("one", {1, 4, 10}), ("two", {0, 2, 3, 6, 7})):
        file = folder / f"{name}-{model}.jsonl"
        lines = [
            {"item": f"q{place:02}-{number}", "text": "AB"[place in wrong and number < 2]}
            for place in range(12)
            for number in range(6)
        ]
        lines += [{"item": "t1", "text": "天"}, {"item": "t2", "text": "地"}]
        file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
        specs.append(f"replay:{file}")
    run(dataset, specs, folder / name, selection=Selection(tasks=tasks))
    opened = RunFolder.open(folder / name)
    score_run(opened)
    return opened


def stored(opened: RunFolder) -> list[Score]:
    return [
        score
        for model in opened.manifest().models
        for score in read_scores(scores_path(opened, model))
    ]


def parts_of(scores: Sequence[Score]) -> list[Ratio]:
    chosen = [s for s in scores if (s.task, s.protocol, s.metric) == ("T7", "strict", "Acc")]
    models = list(dict.fromkeys(score.model for score in chosen))
    return task_parts(chosen, models, number_units(chosen))


def statistics(scores: Sequence[Score]) -> tuple[list[Interval | None], object]:
    parts = parts_of(scores)
    return intervals(parts), paired_p(parts)


def test_numbers_have_the_order_of_the_names_and_equal_lengths() -> None:
    numbers = number_groups(["group-2", "group-10", "書", "group-2"])
    assert numbers == {"group-10": "group-0001", "group-2": "group-0002", "書": "group-0003"}
    many = number_groups(f"{number:05}" for number in range(12_000))
    assert sorted(many, key=many.__getitem__) == sorted(many)
    assert {len(number) for number in many.values()} == {len("group-12000")}


def test_intervals_and_p_of_a_bundle_are_those_of_its_run(tmp_path: Path) -> None:
    opened = make_run(tmp_path, make_dataset(tmp_path, GROUPS), "run")
    written = write_bundle(opened.path, tmp_path / "x.zip")
    of_run = stored(opened)
    with open_bundle(written.path) as bundle:
        of_bundle = [score for model in bundle.models for score in bundle.scores(model)]
    assert statistics(of_bundle) == statistics(of_run)
    assert number_units(of_run).keys() == set(GROUPS)
    assert [found and found.groups for found in intervals(parts_of(of_run))] == [12, 12]
    assert verify_bundle(written.path, tmp_path / "set").result == "verified"


def test_questions_on_one_image_are_one_unit_in_run_and_bundle(tmp_path: Path) -> None:
    """Eight images with ten questions each are eight units, not eighty."""
    with DatasetWriter(
        tmp_path / "set", name="images", version="1", licence="CC0-1.0", source="the test"
    ) as writer:
        for place in range(8):
            refs = (writer.add_image(picture(place), "page"), writer.add_image(picture(99), "last"))
            for number in range(10):
                writer.add(question(f"q{place:02}-{number}", images=refs))
    file = tmp_path / "model.jsonl"
    lines = [
        {"item": f"q{place:02}-{number}", "text": "AB"[place > 4]}
        for place in range(8)
        for number in range(10)
    ]
    file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    run(tmp_path / "set", [f"replay:{file}"], tmp_path / "run")
    opened = RunFolder.open(tmp_path / "run")
    score_run(opened)
    first_images = {item.images[0].sha256 for item in opened.iter_items()}
    assert {score.unit for score in stored(opened)} == first_images
    (found,) = intervals(parts_of(stored(opened)))
    assert found is not None
    assert (found.groups, found.largest) == (8, 0.125)
    # Of eighty independent items, 50 right, Clopper and Pearson give .510 to .731.
    assert (found.low, found.high) == (
        pytest.approx(0.153, abs=0.002),
        pytest.approx(0.959, abs=0.002),
    )
    written = write_bundle(opened.path, tmp_path / "x.zip")
    with open_bundle(written.path) as bundle:
        (model,) = bundle.models
        assert statistics(list(bundle.scores(model))) == statistics(stored(opened))
        assert len({item.group for item in bundle.items()}) == 8


def test_bundles_of_runs_with_other_items_have_the_same_groups_on_a_board(tmp_path: Path) -> None:
    """One run also has translations, whose groups move the numbers in its bundle."""
    dataset = make_dataset(tmp_path, GROUPS)
    for name, tasks in (("one", ("T7",)), ("two", ("T7", "vernacular_translation"))):
        opened = make_run(tmp_path, dataset, name, tasks)
        write_bundle(opened.path, tmp_path / "bundles" / f"{name}.keju.zip")
    write_site([tmp_path / "bundles"], tmp_path / "site")
    tables = [pl.read_parquet(path) for path in (tmp_path / "site").rglob("scores.parquet")]
    groups = [
        dict(
            table.filter((pl.col("task") == "T7") & (pl.col("protocol") == "strict"))
            .select("item", "group")
            .iter_rows()
        )
        for table in tables
    ]
    names = {item.id: item.group for item in opened.iter_items() if item.task == "T7"}
    expected = number_groups(names.values())
    assert len(groups) == 2
    assert all(found == {item: expected[name] for item, name in names.items()} for found in groups)
    assert expected["group-10"] < expected["group-2"]

"""Every layout of every source imports to the same items as its canonical form."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import msgspec
import polars as pl
import pytest

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.draft import Preset, draft, mapping_text
from keju.datasets.readers.listing import Listing, find_best, find_candidates
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import shipped_toml
from tests.support.edited_layouts import EDITED
from tests.support.layouts import Layout, ancientdoc, layouts, options_for
from tests.support.layouts.mcs_bench import said
from tests.support.released import put

ABOUT = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}

BY_NAME = {layout.name: layout for layout in layouts()}


def imported(layout: Layout, folder: Path) -> list[dict[str, object]]:
    src = layout.write(folder / "src")
    options = options_for(layout.options, src)
    import_dataset(layout.reader, src, folder / "out", **ABOUT, options=options)
    return [msgspec.to_builtins(item) for item in Dataset.open(folder / "out").items()]


def comparable(items: list[dict[str, object]], ignoring: tuple[str, ...]) -> Counter[str]:
    """The items as a bag: ids, provenance and image paths depend on names of files."""
    never = {"id", "provenance", *ignoring}
    bag: Counter[str] = Counter()
    for item in items:
        kept = {key: value for key, value in item.items() if key not in never}
        bag[msgspec.json.encode(kept, order="deterministic").decode()] += 1
    return bag


def test_names_are_unique_and_canonical_layouts_exist():
    assert len(BY_NAME) == len(layouts())
    assert {each.canonical or each.name for each in layouts()} <= set(BY_NAME)


@pytest.mark.parametrize("name", [each.name for each in layouts() if not each.missing])
def test_a_complete_layout_gives_the_items_of_its_canonical_form(tmp_path, name):
    layout = BY_NAME[name]
    canonical = BY_NAME[layout.canonical or layout.name]
    found = imported(layout, tmp_path / "this")
    assert found
    assert len({item["id"] for item in found}) == len(found)
    expected = imported(canonical, tmp_path / "canonical")
    assert comparable(found, layout.ignoring) == comparable(expected, layout.ignoring)


@pytest.mark.parametrize("name", [each.name for each in layouts() if each.missing])
def test_an_incomplete_layout_is_refused_with_what_is_missing(tmp_path, name):
    layout = BY_NAME[name]
    with pytest.raises(DataError) as refused:
        imported(layout, tmp_path)
    assert layout.missing in str(refused.value)
    assert refused.value.file
    assert refused.value.hint


DETECTED = [each for each in layouts() if FORMATS[each.reader].detect is not None]


@pytest.mark.parametrize("name", [each.name for each in DETECTED])
def test_detection_names_the_reader_of_a_layout_and_no_other_fits_as_well(tmp_path, name):
    layout = BY_NAME[name]
    found = {
        reader.name: detection.fit
        for reader, detection in find_candidates(
            Listing(layout.write(tmp_path / "src")), FORMATS.values()
        )
    }
    if layout.missing and not layout.detected:
        assert layout.reader not in found, "nothing in it says whose benchmark it is"
        return
    assert layout.reader in found
    others = [fit for reader, fit in found.items() if reader != layout.reader]
    if layout.detected:
        assert found[layout.reader] > max(others, default=0)
    assert found[layout.reader] >= max(others, default=0)


@pytest.mark.parametrize(
    "name", [each.name for each in DETECTED if each.detected and not each.missing]
)
def test_a_detected_layout_imports_by_auto_as_by_its_reader(tmp_path, name):
    layout = BY_NAME[name]
    src = layout.write(tmp_path / "src")
    auto = import_dataset("auto", src, tmp_path / "auto", **ABOUT)
    options = {**find_best(Listing(src), FORMATS.values()).detection.options, **layout.options}
    given = import_dataset(layout.reader, src, tmp_path / "given", **ABOUT, options=options)
    assert auto.manifest.hash == given.manifest.hash
    assert auto.manifest.made == given.manifest.made
    assert f"read as {layout.reader}" in auto.notes[0]


# ---- layouts that need an edited mapping

ADDED_LINES = {
    "images called after task and id": 1,
    "images with zeros in their numbers": 1,
    "images in folders of tasks": 1,
    "folders of domains and tasks without numbers": 0,
    "images in folders of domains and tasks": 1,
    "names of tasks that several domains have": 2,
    "the task in the id": 2,
    "options with slashes between them": 2,
    "several images in one text": 2,
    "other names of columns": 4,
    "folders that name no task": 4,
    "questions in columns of one record": 5,
}
CHANGED_LINES = {
    "JSON list": 1,
    "CSV, one row per question": 1,
    "parquet with images": 2,
    "JSON object with a list": 3,
    "label.csv with all tasks": 27,
    "label.csv given as a file": 27,
    "names with a slash": 28,
    "wide parquet with images": 29,
    "label.csv with images in parquet": 32,
    "Chinese column names": 35,
    "traditional category names": 37,
    "questions and answers as JSON in one cell": 30,
    "questions and answers marked in one cell": 30,
}
"""Lines of AncientDoc's presets that these layouts change or add; four for each question."""

REFUSED = {
    "mcs-bench: both scripts in records of their own": "one record a question (polars)",
    "mcs-bench: both scripts in two files": "one record a question (polars)",
    "obi-rejoining: adjacency of each fragment": "adjacency.csv",
    "obi-rejoining: list of pairs": "adjacency.csv",
    "obi-rejoining: list of objects": "adjacency.csv",
}
"""Layouts that the former readers took and that no mapping reads, and what to make of them."""


@pytest.mark.parametrize("name", EDITED)
def test_a_layout_that_nobody_foresaw_needs_few_lines(tmp_path, name):
    write, added, tasks = EDITED[name]
    assert len(added.splitlines()) == ADDED_LINES[name]
    src = write(tmp_path / "src")
    if added:
        with pytest.raises(DataError):
            import_dataset("mcs-bench", src, tmp_path / "out", **ABOUT)
    facts = shipped_toml("keju.benchmarks.mcs_bench", "preset.toml", Preset)
    lines = mapping_text(draft(src, facts, tomllib.loads(added))).splitlines()
    text = "\n".join(line for line in lines if '= "TODO' not in line)
    options = {"map": str(put(tmp_path / "mapping.toml", text))}
    import_dataset("mapped", src, tmp_path / "edited", **ABOUT, options=options)
    items = Dataset.open(tmp_path / "edited").items()
    wanted = [each for each in said() if not tasks or each.task.id in tasks]
    assert sorted((item.task, item.question, item.answer) for item in items) == sorted(
        (each.task.id, each.question, each.answer) for each in wanted
    )


@pytest.mark.parametrize("name", ancientdoc.EDITS)
def test_a_layout_of_ancientdoc_that_nobody_has_seen_changes_few_lines(name):
    edit = ancientdoc.EDITS[name]
    file = ancientdoc.PRESETS / f"{edit.preset}.toml"
    shipped = Counter(file.read_text("utf-8").splitlines())
    edited = Counter(ancientdoc.preset_text(edit).splitlines())
    assert (edited - shipped).total() == CHANGED_LINES[name]


@pytest.mark.parametrize("name", REFUSED)
def test_a_layout_that_no_mapping_reads_is_refused(name):
    assert BY_NAME[name].missing


def test_files_of_two_scripts_are_read_after_a_join_by_id(tmp_path):
    src = BY_NAME["mcs-bench: both scripts in two files"].write(tmp_path / "src")
    simplified, traditional = (
        pl.read_json(src / f"data_{script}.json") for script in ("simplified", "traditional")
    )
    of_both = traditional.select("ID", Question_Traditional="Question", Answer_Traditional="Answer")
    joined = simplified.join(of_both, on="ID")
    names = {"Question": "Question_Simplified", "Answer": "Answer_Simplified"}
    joined.rename(names).write_ndjson(src / "data.jsonl")
    for file in src.glob("data_*.json"):
        file.unlink()
    import_dataset("mcs-bench", src, tmp_path / "out", **ABOUT)
    items = [msgspec.to_builtins(item) for item in Dataset.open(tmp_path / "out").items()]
    expected = imported(BY_NAME["mcs-bench: both scripts in one list"], tmp_path / "canonical")
    assert comparable(items, ()) == comparable(expected, ())

"""Every layout of every source imports to the same items as its canonical form."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.detecting import find_best, find_candidates
from keju.datasets.readers.listing import Listing
from keju.datasets.store import Dataset
from keju.errors import DataError
from tests.support.layouts import Layout, layouts, options_for

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

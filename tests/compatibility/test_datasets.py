"""Datasets of keju 0.1.0: opened, validated, exported and imported with equal items and hashes."""

from __future__ import annotations

import json
import shutil

import msgspec
import pytest
from msgspec import to_builtins

import keju as api
from keju.datasets.manifest import items_hash
from keju.datasets.store import Dataset
from tests.compatibility.conftest import read

EXPORTS = ("parquet", "mcs-bench", "ancientdoc", "vlmevalkit-tsv")
OUTLINES = {"page-xml": "outlines/page-xml", "alto": "outlines/alto"}


def test_every_dataset_keeps_its_hash(old):
    hashes = read("made/hashes.json")
    assert len(hashes) > 60
    for name, stored in hashes.items():
        opened = Dataset.open(old / "made" / name)
        assert opened.manifest.hash == stored, name
        assert items_hash(opened.items()) == stored, name


def test_every_field_of_every_item_is_read_as_0_1_0_read_it(old):
    stored = read("made/items.json")
    found = list(api.load(old / "made/datasets/all"))
    assert len(found) == len(stored) == 38
    forms = {(item.benchmark, item.task, item.query) for item in found}
    assert len(forms) == 29
    for item, was in zip(found, stored, strict=True):
        assert json.loads(msgspec.json.encode(to_builtins(item))) == was, item.id


@pytest.mark.parametrize("name", ["datasets/all", "release", "exports/parquet"])
def test_validation_finds_no_fault(old, keju, name):
    assert f"0 errors, 0 warnings in made/{name}" in keju("data", "validate", f"made/{name}").output


def test_a_changed_image_is_still_found(old, keju):
    image = next((old / "made/datasets/all/images").iterdir())
    image.write_bytes(image.read_bytes()[:-1])
    assert "1 error" in keju("data", "validate", "made/datasets/all", fails=True).output


@pytest.mark.parametrize("form", EXPORTS)
def test_what_0_1_0_exported_is_exported_alike_and_read_back_alike(old, keju, form):
    stored = read("made/hashes.json")
    about = ("--licence", "CC0-1.0", "--source", "made by the tests")
    keju("data", "import", form, f"made/exports/{form}", "--out", "new", *about)
    now, was = Dataset.open(old / "new"), Dataset.open(old / f"made/imports/exported-{form}")
    if form == "ancientdoc":  # Scripts have one name each since 0.2.0, and sources are recorded.
        assert [item.answer for item in now.items()] == [item.answer for item in was.items()]
    else:
        assert now.manifest.hash == stored[f"imports/exported-{form}"]
    shutil.rmtree(old / "new")
    keju("data", "export", form, "made/datasets/all", "--out", "new")
    for path in sorted((old / "made/exports" / form).rglob("*")):
        if path.is_file() and path.suffix in {".png", ".jsonl", ".tsv"}:
            twin = old / "new" / path.relative_to(old / "made/exports" / form)
            assert twin.read_bytes() == path.read_bytes(), path.name


IMPORTS = {
    "mcs-bench": ("mcs-bench",),
    "obi-recognition": ("obi/O2BR", "source=O2BR"),
    "obi-rejoining": ("obi/OBI-rejoin", "source=OBI-rejoin"),
    "obi-classification": ("obi/HWOBC", "source=HWOBC", "classes=3"),
    "obi-retrieval": ("obi/OBC306", "source=OBC306", "classes=2", "distractors=3"),
    "obi-deciphering": ("obi/EVOBC", "source=EVOBC"),
    "pages": ("pages", "task=page_level_ocr"),
    "page-xml": ("outlines/page-xml", "task=page_level_ocr"),
    "alto": ("outlines/alto", "task=page_level_ocr"),
    "ancientdoc": ("ancientdoc", "books=written/books.csv"),
}


@pytest.mark.parametrize("form", IMPORTS)
def test_sources_are_imported_to_the_same_items(old, keju, form):
    source, *options = IMPORTS[form]
    given = [part for option in options for part in ("--option", option)]
    about = ("--licence", "CC0-1.0", "--source", "made by the tests")
    keju("data", "import", form, f"written/{source}", "--out", "new", *about, *given)
    now, was = Dataset.open(old / "new"), Dataset.open(old / f"made/imports/{form}")
    if form in OUTLINES:
        # The name of the image is stored since 0.2.0.
        (item,) = (to_builtins(each) for each in now.items())
        assert item["metadata"].pop("file") == "book/leaf.png"
        assert [item] == [to_builtins(each) for each in was.items()]
    elif form == "ancientdoc":
        # Scripts have one name each since 0.2.0.
        for item, before in zip(now.items(), was.items(), strict=True):
            found, stored = to_builtins(item), to_builtins(before)
            assert found["metadata"].pop("script") == "regular"
            assert stored["metadata"].pop("script") == "楷書"
            assert found == stored
    else:
        assert now.manifest.hash == was.manifest.hash

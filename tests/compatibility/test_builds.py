"""Recipes of keju 0.1.0: every source and step makes the same items; builds go on."""

from __future__ import annotations

import pytest
from msgspec import to_builtins

from keju.building.sources import get_source_form
from keju.building.steps import STEPS
from keju.datasets.store import Dataset
from keju.files import read_toml
from tests.compatibility.conftest import read

SAME = ("benchmarks", "reviewed")
RECIPES = (*SAME, "texts", "tables", "drafted", "altered")


def stages(build):
    """The hashes of a build's datasets by their place, without the links to the last of them."""
    return {
        str(path.parent.relative_to(build)): Dataset.open(path.parent).manifest.hash
        for path in build.rglob("dataset.json")
        if not any(part.is_symlink() for part in (path.parent, *path.parents))
    }


def stored(name):
    """The same of 0.1.0."""
    start = f"builds/{name}/"
    hashes = read("made/hashes.json")
    return {
        key.removeprefix(start): value for key, value in hashes.items() if key.startswith(start)
    }


def test_every_source_and_step_of_0_1_0_is_known_by_its_name(old):
    named = [read_toml(old / f"written/recipes/{name}.toml", dict) for name in RECIPES]
    forms = {source["form"] for recipe in named for source in recipe["source"]}
    steps = {step["do"] for recipe in named for step in recipe["step"]}
    assert len(forms) == 17
    assert len(steps) == 15
    assert {get_source_form(form, place="recipe").name for form in forms} == forms
    assert {STEPS[step].stored_name for step in steps} == steps


@pytest.mark.parametrize("name", SAME)
def test_a_recipe_makes_the_same_datasets(old, keju, name):
    keju("build", f"written/recipes/{name}.toml", "--out", "new")
    assert stages(old / "new") == stored(name)


def test_pages_and_tables_differ_in_what_the_changelog_names(old, keju):
    recipe = old / "written/recipes/tables.toml"
    text = recipe.read_text("utf-8")
    # Pages without a task are of the benchmark `pages` since 0.2.0.
    recipe.write_text(text.replace('form = "iiif"', 'form = "iiif"\ntask = "page_level_ocr"'))
    keju("build", recipe, "--out", "tables")
    assert stages(old / "tables") == stored("tables")
    recipe = old / "written/recipes/texts.toml"
    text = recipe.read_text("utf-8").replace('{ text = "all" }', '{ task = "page_level_ocr" }')
    alto = 'form = "alto"\noptions = { task = "page_level_ocr" }'
    recipe.write_text(text.replace('form = "alto"', alto), "utf-8")
    keju("build", recipe, "--out", "texts")
    for name in ("sources/01-pages", "steps/08-split", "steps/09-release/release"):
        now = [_without_file(item) for item in Dataset.open(old / "texts" / name).items()]
        was = [
            _without_file(item) for item in Dataset.open(old / "made/builds/texts" / name).items()
        ]
        assert now == was, name


def _without_file(item):
    """An item without the name of its image, which PAGE-XML and ALTO store since 0.2.0."""
    found = to_builtins(item)
    found["metadata"].pop("file", None)
    return found


@pytest.mark.parametrize("name", ["reviewed"])
def test_a_build_goes_on_in_its_folder(old, keju, name):
    build = f"made/builds/{name}"
    keju("build", f"written/recipes/{name}.toml", "--out", build)
    assert stages(old / build) == stored(name)
    assert (
        read(f"{build}/build.json")["hash"] == Dataset.open(old / build / "dataset").manifest.hash
    )

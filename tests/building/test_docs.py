"""docs/building.md names every step and every form of source, as the code has them."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from keju.building.sources import SOURCES, get_source_form, list_source_names
from keju.building.sources.keys import list_keys
from keju.building.steps import STEPS
from keju.datasets.readers import FORMATS
from tests.support.builds import run_keju
from tools.make_sources_page import render_sources_page

DOC = (Path(__file__).parents[2] / "docs" / "building.md").read_text("utf-8")


@pytest.mark.parametrize("name", STEPS.builtin)
def test_every_step_is_in_the_table(name):
    assert f"| `{name}` | {STEPS[name].summary} |" in DOC, "paste this line into docs/building.md"


@pytest.mark.parametrize("name", [*SOURCES.builtin, *FORMATS.builtin])
def test_every_form_of_source_can_be_had_and_is_in_the_table(name):
    assert get_source_form(name, place="here").name == name
    assert f"| `{name}` |" in DOC or name in FORMATS


def test_the_keys_of_every_source_are_told_in_the_docs():
    page = Path(__file__).parents[2] / "docs" / "sources.md"
    assert page.read_text("utf-8") == render_sources_page(), (
        "run: python -m tools.make_sources_page"
    )


@pytest.mark.parametrize(
    "settings", [get_source_form(n, place="").settings for n in list_source_names()]
)
def test_every_key_of_a_source_says_what_it_is(settings):
    assert all(key.summary and key.type_name for key in list_keys(settings))


def test_the_command_tells_forms_and_keys():
    listed = run_keju("build", "sources")
    assert [
        line.partition(":")[0] for line in listed.stdout.splitlines()[:-1]
    ] == list_source_names()
    mapped = run_keju("build", "sources", "mapped").stdout.splitlines()
    assert "  path (path, required): The file or folder." in mapped
    assert any(line.startswith("  map (path): The mapping file") for line in mapped)
    wrong = run_keju("build", "sources", "maped")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "Did you mean 'mapped'?" in wrong.stderr


def test_the_recipe_in_it_is_one(tmp_path):
    from keju.building.recipe import read_recipe

    recipe = DOC.split("```toml\n")[1].split("```")[0]
    (tmp_path / "scans").mkdir()
    (tmp_path / "recipe.toml").write_text(recipe, "utf-8")
    found = read_recipe(tmp_path / "recipe.toml")
    assert [step.step.name for step in found.steps] == ["standardise", "dedup-images", "split"]


def test_the_recipe_of_web_pages_in_it_is_one(tmp_path):
    from keju.building.recipe import read_recipe

    blocks = [block.split("```")[0] for block in DOC.split("```toml\n")[1:]]
    (recipe,) = (block for block in blocks if "web-drafts/mapping.toml" in block)
    examples = Path(__file__).parents[2] / "examples"
    copytree(examples / "web-drafts", tmp_path / "web-drafts")
    (tmp_path / "anna.csv").write_text("item,decision,seal\n", "utf-8")
    (tmp_path / "recipe.toml").write_text(recipe, "utf-8")
    found = read_recipe(tmp_path / "recipe.toml")
    assert [step.step.name for step in found.steps] == ["draft", "review", "release"]
    assert set(found.steps[0].settings.kinds) == {"appreciation", "introduction", "description"}

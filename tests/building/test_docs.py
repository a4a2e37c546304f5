"""docs/building.md names every step and every form of source, as the code has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.building.sources import SOURCES, source_form
from keju.building.steps import STEPS
from keju.datasets.readers import FORMATS

DOC = (Path(__file__).parents[2] / "docs" / "building.md").read_text("utf-8")


@pytest.mark.parametrize("name", STEPS)
def test_every_step_is_in_the_table(name):
    assert f"| `{name}` | {STEPS[name].summary} |" in DOC, "paste this line into docs/building.md"


@pytest.mark.parametrize("name", SOURCES)
def test_every_form_of_source_can_be_had_and_is_in_the_table(name):
    assert source_form(name, place="here").name == name
    assert f"| `{name}` |" in DOC or name in FORMATS


def test_the_recipe_in_it_is_one(tmp_path):
    from keju.building.recipe import read_recipe

    recipe = DOC.split("```toml\n")[1].split("```")[0]
    (tmp_path / "scans").mkdir()
    (tmp_path / "recipe.toml").write_text(recipe, "utf-8")
    found = read_recipe(tmp_path / "recipe.toml")
    assert [step.step.name for step in found.steps] == ["standardise", "dedup-images", "split"]

"""The recipes of examples/ are sound."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from keju.building.recipe import read_recipe
from tests.support.needing import synthetic_missing

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def checkout(shared, tmp_path):
    """The examples where they name what lies beside the checkout, wherever it lies here."""
    (tmp_path / "shared").symlink_to(shared.resolve(), target_is_directory=True)
    (tmp_path / "keju").mkdir()
    copytree(EXAMPLES, tmp_path / "keju/examples")
    (tmp_path / "keju/src").symlink_to(EXAMPLES.parent / "src", target_is_directory=True)
    return tmp_path / "keju/examples"


@synthetic_missing()
@pytest.mark.parametrize("name", sorted(file.name for file in EXAMPLES.glob("*.toml")))
def test_every_example_is_read(name, checkout):
    recipe = read_recipe(checkout / name)
    assert recipe.sources
    assert recipe.steps
    assert recipe.head.licence
    assert f"keju build examples/{name}" in (checkout / name).read_text("utf-8")

"""The recipes of examples/ are sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.building.recipe import read_recipe

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def beside(shared):
    """The examples name what lies beside the checkout."""
    if shared.resolve() != (EXAMPLES.parent.parent / "shared").resolve():
        pytest.skip("the shared material lies elsewhere than the examples say")


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_every_example_is_read(file, beside):
    recipe = read_recipe(file)
    assert recipe.sources
    assert recipe.steps
    assert recipe.head.licence
    assert f"keju build examples/{file.name}" in file.read_text("utf-8")

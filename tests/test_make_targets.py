"""`make test` runs the core, `make test-all` and continuous integration run every test."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def recipe(target: str) -> list[str]:
    """The words of a target's recipe in the Makefile."""
    text = (ROOT / "Makefile").read_text("utf-8")
    (found,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.MULTILINE)
    return shlex.split(found.replace("$(", "").replace(")", ""))


def test_the_core_leaves_out_what_is_marked_slow_and_nothing_else():
    *words, more = recipe("test-all")
    assert more == "PYTEST_ARGS"
    assert recipe("test") == [*words, "-m", "not slow", more]


def test_continuous_integration_runs_the_linters_and_then_every_test():
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert "set -euo pipefail" in lines
    made = [line.split()[1] for line in lines if line.startswith("make ")]
    assert made.index("lint") < made.index("test-all") == len(made) - 1
    # The tests of the site examine the one that was built just before.
    assert lines[lines.index("make docs") + 1] == 'export KEJU_SITE="$PWD/build/site"'


@pytest.mark.parametrize("target", ["test", "test-all", "lint"])
def test_the_help_names_the_target(target: str):
    assert any(line.startswith(f"make {target} ") for line in recipe("help"))

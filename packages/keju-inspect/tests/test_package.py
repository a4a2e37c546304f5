"""The distribution: its entry points, its dependencies, and how keju does without it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from keju.exports import EXPORTS
from keju.models.registry import MODELS
from tests.support.needing import inspect_missing

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))["project"]

WITHOUT_IT = """
import importlib.metadata as metadata, sys
sys.modules["keju_inspect"] = sys.modules["inspect_ai"] = None  # as if they were not installed
found = metadata.entry_points
def others(**wanted):
    return [each for each in found(**wanted) if not each.value.startswith("keju_inspect")]
metadata.entry_points = others
from keju.cli import main
sys.exit(main())
"""


def without_it(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_IT, *map(str, words)]
    wide = {**os.environ, "COLUMNS": "400"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=wide)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "mini", "--model", "inspect:anthropic/m", "--out", "none"),
        ("run", "mini", "--model", "blind:inspect:anthropic/m", "--out", "none"),
        ("export", "inspect", "none", "--out", "logs"),
    ],
)
def test_without_it_an_error_of_one_line_names_the_installation(words: tuple[str, ...]):
    done = without_it(*words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done
    assert "pip install keju-inspect" in done.stderr


def test_without_it_the_list_of_models_has_its_spelling():
    listed = without_it("models").stdout
    assert "inspect:PROVIDER/MODEL" in listed
    assert "pip install keju-inspect" in listed


def test_its_entry_points_are_installed():
    for group, points in PROJECT["entry-points"].items():
        installed = {each.name: each.value for each in entry_points(group=group)}
        assert points.items() <= installed.items()


@inspect_missing
@pytest.mark.parametrize("registry", [MODELS, EXPORTS], ids=["models", "exports"])
def test_keju_lists_its_names_with_the_package(registry):
    assert str(registry.plugin_of("inspect")) == f"keju-inspect {version('keju-inspect')}"


@inspect_missing
def test_keju_lists_its_models_without_importing_inspect():
    code = (
        "import sys\nfrom keju.models import model_kinds\n"
        "print([each.plugin for each in model_kinds() if each.kind == 'inspect'])\n"
        "print([name for name in sys.modules if name.startswith('inspect_ai')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"['keju-inspect {version('keju-inspect')}']", "[]"]


def test_its_dependencies_are_locked():
    files = [ROOT / "requirements" / f"{name}.lock" for name in ("base", "extras")]
    locked = "".join(file.read_text("utf-8") for file in files)
    for wanted in map(Requirement, PROJECT["dependencies"]):
        pinned = wanted.specifier if "==" in str(wanted.specifier) else "=="
        assert f"\n{wanted.name}{pinned}" in locked or wanted.name == "keju"


def test_its_licence_is_that_of_keju():
    assert (PACKAGE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()

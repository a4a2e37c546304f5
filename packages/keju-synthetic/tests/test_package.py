"""The distribution: its wheel, its entry points, its dependencies, and how keju does without it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from keju.building import synthetic
from keju.building.steps import STEPS
from tests.support.needing import synthetic_missing

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))["project"]
NAMES = ("fragment", "typeset")

WITHOUT_IT = """
import importlib.metadata as metadata, sys
sys.modules["keju_synthetic"] = None  # as if it were not installed
found = metadata.entry_points
def others(**wanted):
    return [each for each in found(**wanted) if not each.value.startswith("keju_synthetic")]
metadata.entry_points = others
from keju.cli import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*command, "--directory", str(folder)], cwd=PACKAGE, check=True, capture_output=True
    )
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file)


def test_the_wheel_carries_data_beside_the_code(wheel):
    names = wheel.namelist()
    for part in ("py.typed", "data/typefaces.toml", "data/wear.toml", "keju-synthetic.mo"):
        assert f"keju_synthetic/{part}" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("keju/", "tests/"))]
    assert not [name for name in names if name.endswith((".ttf", ".otf", ".ttc"))]


def test_the_wheel_declares_the_entry_points(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    found = ConfigParser()
    found.read_string(wheel.read(name).decode())
    assert {group: dict(found[group]) for group in found.sections()} == PROJECT["entry-points"]


def test_its_licence_is_that_of_keju():
    assert (PACKAGE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    root = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert PROJECT["license"] == root["license"] == "Apache-2.0"


def test_keju_knows_its_names_for_the_error_where_it_is_not_installed():
    assert synthetic.STEPS.keys() == set(NAMES)


@synthetic_missing()
def test_its_entry_point_is_installed():
    (point,) = [EntryPoint(*each, "keju") for each in PROJECT["entry-points"]["keju"].items()]
    assert point in entry_points(group="keju")


@synthetic_missing()
def test_keju_lists_its_steps_with_the_package():
    installed = f"keju-synthetic {version('keju-synthetic')}"
    own = [name for name in STEPS if str(STEPS.plugin_of(name)) == installed]
    assert own == sorted(NAMES)


def test_its_dependencies_are_locked_with_those_of_keju():
    lock = (ROOT / "requirements/base.lock").read_text("utf-8")
    wanted = [Requirement(each).name for each in PROJECT["dependencies"]]
    assert [name for name in wanted if f"\n{name}==" not in lock] == ["keju"]


@pytest.mark.parametrize("name", NAMES)
def test_without_it_keju_names_the_package_and_how_to_install_it(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_IT, "build", name, "mini", "--out", tmp_path / "out"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{name!r} is not installed" in done.stderr
    assert "keju-synthetic" in done.stderr
    assert "pip install ./packages/keju-synthetic" in done.stderr


@synthetic_missing()
@pytest.mark.parametrize("name", NAMES)
def test_the_steps_are_in_the_docs(name):
    page = (ROOT / "docs/building.md").read_text("utf-8")
    step = STEPS[name]
    assert f"| `{step.name}` | {step.summary} |" in page

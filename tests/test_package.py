"""The sdists and wheels: what they contain, and that two builds have the same bytes."""

from __future__ import annotations

import tomllib
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from keju import __version__
from tools import build_packages

ROOT = build_packages.ROOT
NAMES = tuple(build_packages.PACKAGES)


def read_project(name: str) -> dict[str, Any]:
    """The table `project` of a package's pyproject.toml."""
    file = build_packages.PACKAGES[name] / "pyproject.toml"
    return tomllib.loads(file.read_text("utf-8"))["project"]


BESIDE = {"keju_inspect": "keju[api]", "keju_synthetic": "keju[build]"}
"""The packages beside keju, with what they need of it."""

VERSIONS = {"keju": __version__} | {name: read_project(name)["version"] for name in BESIDE}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the sdist and the wheel of every package, each built twice and compared."""
    out = tmp_path_factory.mktemp("dist")
    build_packages.build_all(out)
    return out


@pytest.fixture(scope="module")
def names(folder: Path) -> list[str]:
    """The files in the wheel of keju."""
    (wheel,) = folder.glob("keju-*.whl")
    return list(build_packages.contents(wheel))


def test_the_wheel_carries_data_beside_the_code(names):
    for part in (
        "keju/py.typed",
        "keju/benchmarks/mcs_bench/benchmark.toml",
        "keju/text/data/variants.txt",
        "keju/datasets/mini/data/items.parquet",
        "keju/reporting/assets/report.html.j2",
        "keju/judging/rubrics.toml",
        "keju/judging/probes.toml",
        "keju/assets/tokens.css",
        "keju/annotation/assets/exam.html.j2",
        "keju/annotation/assets/viewer.js",
        "keju/texts/keju.po",
        "keju/texts/keju.mo",
        "keju/benchmarks/obi_bench/obi-bench.mo",
    ):
        assert part in names
    assert sum(name.startswith("keju/datasets/mini/data/images/") for name in names) >= 12
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_carries_no_tests_and_no_font(names):
    assert not [name for name in names if name.startswith("tests/")]
    assert not [name for name in names if name.endswith((".ttf", ".otf", ".ttc"))]


def test_the_wheel_carries_data_of_the_drawing_package_only_as_the_bundled_set(names):
    assert not [name for name in names if "synth" in name and not name.startswith("keju/building")]


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_contains_its_package_and_its_metadata_only(folder: Path, name: str):
    (wheel,) = folder.glob(f"{name}-*.whl")
    tops = {each.partition("/")[0] for each in build_packages.contents(wheel)}
    assert tops == {name, wheel.name.replace("-py3-none-any.whl", ".dist-info")}


@pytest.mark.parametrize("name", NAMES)
def test_an_sdist_contains_what_its_build_needs_and_nothing_else(folder: Path, name: str):
    (sdist,) = folder.glob(f"{name}-*.tar.gz")
    (wheel,) = folder.glob(f"{name}-*.whl")
    found = build_packages.contents(sdist)
    source = {each for each in found if each.startswith("src/")}
    assert found.keys() - source == build_packages.BESIDE_THE_SOURCE
    packed = {each for each in build_packages.contents(wheel) if each.startswith(f"{name}/")}
    assert source == {f"src/{each}" for each in packed}


@pytest.mark.parametrize("name", NAMES)
def test_the_metadata_names_the_version_the_licence_and_every_extra(folder: Path, name: str):
    (wheel,) = folder.glob(f"{name}-*.whl")
    found = build_packages.contents(wheel)
    (metadata,) = (found[each] for each in found if each.endswith(".dist-info/METADATA"))
    project = read_project(name)
    told = message_from_bytes(metadata)
    assert (told["Version"], told["License-Expression"]) == (VERSIONS[name], "Apache-2.0")
    extras = told.get_all("Provides-Extra") or []
    assert set(extras) == set(project.get("optional-dependencies", {}))


@pytest.mark.parametrize(("name", "needed"), BESIDE.items())
def test_the_packages_have_the_same_version(name: str, needed: str):
    assert VERSIONS[name] == VERSIONS["keju"]
    assert f"{needed}>={__version__}" in read_project(name)["dependencies"]


def test_the_sums_name_every_file(folder: Path):
    lines = (folder / "SHA256SUMS").read_text("utf-8").splitlines()
    files = sorted(folder.glob("keju*"))
    assert [line.split("  ") for line in lines] == [
        [build_packages.sha256(file), file.name] for file in files
    ]


def test_a_source_that_changes_between_two_builds_is_refused(tmp_path: Path, monkeypatch):
    project = tmp_path / "project"
    (project / "src" / "changing").mkdir(parents=True)
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "changing"\nversion = "1"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["src/changing"]\n'
        '[tool.hatch.build.targets.wheel.hooks.custom]\npath = "hook.py"\n'
    )
    (project / "hook.py").write_text(
        "import os, pathlib\n"
        "from hatchling.builders.hooks.plugin.interface import BuildHookInterface\n"
        "class Hook(BuildHookInterface):\n"
        "    def initialize(self, version, build_data):\n"
        "        pathlib.Path(self.root, 'src/changing/made.py').write_text(f'{self.root!r}')\n"
    )
    (project / "src" / "changing" / "__init__.py").touch()
    monkeypatch.setattr(build_packages, "PACKAGES", {"changing": project})
    with pytest.raises(build_packages.BuildError, match=r"changing-1.*has other bytes"):
        build_packages.build_all(tmp_path / "out")

"""The workflow for three systems is valid, needs no secret, and covers what the documents state."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from tests.support import ROOT

FILE = ROOT / ".github/workflows/platforms.yml"


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(FILE.read_text("utf-8"))


def test_it_covers_three_systems_and_all_supported_versions(workflow: dict[str, Any]) -> None:
    matrix = workflow["jobs"]["platforms"]["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    least = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert least["requires-python"] == f">={matrix['python'][0]}"
    page = (ROOT / "docs/platforms.md").read_text("utf-8")
    assert f"| system | {' | '.join(matrix['python'])} |" in page


def test_it_needs_no_secret_and_may_only_read(workflow: dict[str, Any]) -> None:
    assert "secrets." not in FILE.read_text("utf-8")
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    used = {step["uses"] for step in steps if "uses" in step}
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", each) for each in used)


def test_the_tests_that_it_runs_exist(workflow: dict[str, Any]) -> None:
    (step,) = [
        each
        for each in workflow["jobs"]["platforms"]["steps"]
        if "pytest -m" in each.get("run", "")
    ]
    paths = re.findall(r"\btests/[\w./]+", step["run"])
    assert len(paths) >= 5
    assert [path for path in paths if not (ROOT / path).exists()] == []

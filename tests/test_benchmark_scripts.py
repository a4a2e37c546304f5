"""The scripts of benchmarks/, which `make bench` runs outside of the tests."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))


def test_there_are_scripts():
    assert "scale" in SCRIPTS


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_imports_only_what_keju_still_has(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    try:
        module = importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in {"keju", "keju_synthetic", "benchmarks"}:
            raise
        pytest.skip(f"{error.name} is not installed")
    assert callable(module.main)

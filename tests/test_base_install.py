"""keju installed without any extra: what works, and what names the extra that it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tools.make_licences_page import needs

_AS_BASE = """
import importlib, json, pkgutil, sys
for name in json.loads(sys.argv.pop(1)):
    sys.modules[name] = None  # as if it were not installed
"""
_COMMAND = f"""{_AS_BASE}
from keju.cli import main
sys.exit(main())
"""
_IMPORT_ALL = f"""{_AS_BASE}
import keju
failed = {{}}
def attempt(name):
    try:
        importlib.import_module(name)
    except Exception as error:
        failed[name] = getattr(error, "name", None) or type(error).__name__
for module in pkgutil.walk_packages(keju.__path__, "keju.", onerror=lambda name: None):
    if module.name != "keju.__main__":
        attempt(module.name)
print(json.dumps(failed))
"""
NEEDS_AN_EXTRA = {
    "keju.annotation": "PrerequisiteError",
    "keju.figures": "PrerequisiteError",
    "keju.models.http_client": "aiohttp",
    "keju.models.http_ocr": "aiohttp",
    "keju.models.openai": "aiohttp",
    "keju.models.openai_batches": "aiohttp",
}
"""The modules that cannot be imported without extras, with the package that each misses."""


@pytest.fixture(scope="module")
def absent() -> str:
    """The importable names that no dependency of keju without extras provides, as JSON."""
    base = {"keju", *needs()["keju"]}
    names = (
        name
        for name, owners in packages_distributions().items()
        if base.isdisjoint(map(canonicalize_name, owners)) and name.isidentifier()
    )
    return json.dumps(sorted({*names, "zhconv", "torch"}))


def keju(absent: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _COMMAND, absent, *map(str, words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_extras_are_absent(absent: str) -> None:
    assert {"aiohttp", "rapidocr", "daft", "altair"} <= set(json.loads(absent))
    assert {"polars", "pyarrow", "scipy", "cv2", "keju"}.isdisjoint(json.loads(absent))


def test_only_the_modules_of_an_extra_need_one(absent: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, absent], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == NEEDS_AN_EXTRA


def test_a_run_is_scored_and_reported_without_extras(absent: str, tmp_path: Path) -> None:
    run, report = tmp_path / "run", tmp_path / "report.html"
    for words in (
        ("run", "mini", "--model", "baseline:copy", "--task", "T1", "--out", run),
        ("score", run),
        ("report", run, "-o", report),
    ):
        done = keju(absent, *words)
        assert done.returncode == 0, done.stderr
    assert report.is_file()


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("demo", "--out", "demo"), "ocr"),
        (("serve", "mini", "--out", "people"), "api"),
        (("run", "mini", "--model", "openai:m", "--out", "run"), "api"),
        (("figures", "mini", "-o", "figures"), "figures"),
        (("data", "validate", "s3://bucket/set"), "object-stores"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(
    absent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple, extra: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = keju(absent, *words)
    assert done.returncode == 2
    assert f'pip install "keju[{extra}]"' in done.stderr
    assert "Traceback" not in done.stderr

"""keju in a process without the functions that Windows lacks, and with its rules for files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.making import make_dataset
from tests.support.windows_rules import STATUS, Rules

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the rules are for Linux")

_EVERY_MODULE = """
import importlib, json, pkgutil
import keju
failed = {}
for each in pkgutil.walk_packages(keju.__path__, "keju."):
    if each.name == "keju.__main__":
        continue
    try:
        importlib.import_module(each.name)
    except BaseException as error:
        failed[each.name] = f"{type(error).__name__}: {error}"
print(json.dumps(failed))
"""

_COMMANDS = """
import contextlib, io, json, os, sys
os.environ["KEJU_LANG"] = "en"
from keju.cli import main
statuses = []
for line in json.loads(sys.stdin.read()):
    sys.argv = ["keju", *line]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            main()
        except SystemExit as ended:
            statuses.append(ended.code)
print(json.dumps(statuses))
"""

_BERT = "transformers.models.bert.modeling_bert"

_RECIPE = """
name = "n"
[[source]]
form = "dataset"
path = "d"
[[step]]
do = "release"
"""


def under_rules(
    folder: Path, *arguments: str, given: str = "", first: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run code or a command in `folder` under the rules, with other packages imported first."""
    paths = [str(ROOT), *sys.path]
    return subprocess.run(
        [sys.executable, "-m", "tests.support.windows_rules", *arguments],
        cwd=folder, input=given, capture_output=True, encoding="utf-8", check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "KEJU_TEST_FIRST": first},
    )  # fmt: skip


@pytest.mark.slow
def test_every_module_is_imported_without_functions_of_unix(tmp_path: Path) -> None:
    done = under_rules(tmp_path, "-c", _EVERY_MODULE, first="inspect_ai")
    assert done.returncode == 0, done.stderr
    failed = json.loads(done.stdout.splitlines()[-1])
    assert {name: why for name, why in failed.items() if "No module named" not in why} == {}


@pytest.mark.slow
def test_the_usual_commands_keep_the_rules_for_files(tmp_path: Path) -> None:
    make_dataset(tmp_path / "d", pages=2)
    (tmp_path / "recipe.toml").write_text(_RECIPE, "utf-8", newline="\r\n")
    run = [
        "run",
        "mini",
        "--model",
        "baseline:copy",
        "--task",
        "vernacular_translation",
        "--out",
        "r",
    ]
    commands = [
        [*run, "--limit", "2"],
        [*run, "--limit", "3"],
        ["score", "r"],
        ["report", "r", "--out", "page"],
        ["report", "r", "--out", "page"],
        [*run[:-1], "r1", "--limit", "3", "--shard", "1/2"],
        [*run[:-1], "r2", "--limit", "3", "--shard", "2/2"],
        ["merge", "r1", "r2", "--out", "all"],
        ["bundle", "r", "--out", "r.zip"],
        ["verify", "r.zip", "--dataset", "mini"],
        ["build", "recipe", "recipe.toml", "--out", "b"],
        ["build", "recipe", "recipe.toml", "--out", "b"],
        ["data", "validate", "b/dataset"],
    ]
    done = under_rules(tmp_path, "-c", _COMMANDS, given=json.dumps(commands), first=_BERT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [0] * len(commands), done.stderr
    assert (tmp_path / "b/.dataset.copy").read_bytes() == b"steps/01-release\n"
    assert (tmp_path / "b/.release.copy").read_bytes() == b"steps/01-release/release\n"
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
    stored = [*(tmp_path / "r").rglob("*.json"), *(tmp_path / "r").rglob("*.jsonl")]
    assert len(stored) > 1
    assert not any(b"\r\n" in path.read_bytes() for path in stored)
    assert json.loads((tmp_path / "r/run.json").read_bytes())["dataset_path"].count("\\") == 0


def test_a_rule_that_is_broken_ends_the_process_even_if_the_error_is_suppressed(
    tmp_path: Path,
) -> None:
    quiet = "try:\n    open('nul.txt', 'w')\nexcept OSError:\n    pass"
    done = under_rules(tmp_path, "-c", quiet)
    assert done.returncode == STATUS
    assert done.stderr.endswith(f"the name is reserved: {tmp_path / 'nul.txt'}\n")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("COM1.x/y", "the name is reserved"),
        ("a:b", "the name is not valid"),
        ("end.", "the name is not valid"),
        ("HERE", "the name is that of here"),
        ("\u5b57" * 86, "the name is too long"),
        (f"{'a' * 100}/{'b' * 120}", "the path is too long"),
    ],
)
def test_the_rules_find_names_that_windows_refuses(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "here").touch()
    rules = Rules(tmp_path)
    with pytest.raises(OSError, match=reason):
        rules.audit("os.mkdir", (str(tmp_path / name), 0o777, -1))
    rules.audit("os.mkdir", (str(tmp_path / "here"), 0o777, -1))
    assert rules.broken == [f"{reason}: {tmp_path / name}"]


@pytest.mark.parametrize("event", ["os.remove", "os.rename"])
def test_the_rules_find_open_files(tmp_path: Path, event: str) -> None:
    path, other = tmp_path / "folder/open", tmp_path / "other"
    path.parent.mkdir()
    rules = Rules(tmp_path)
    with path.open("wb"):
        rules.audit(event, (str(other), str(other)))
        with pytest.raises(OSError, match=f"{event} of an open file"):
            rules.audit(event, (str(path.parent), str(other)))
    rules.audit(event, (str(path.parent), str(other)))
    assert rules.broken == [f"{event} of an open file: {path}"]

"""Datasets, builds and runs on file systems without locks, such as some network mounts."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keju.datasets.mini import path as mini
from keju.errors import UsageError
from keju.files import locked_file
from keju.running import Selection, run

_WITHOUT_LOCKS = """
import fcntl, os, sys
code = int(sys.argv.pop(1))
def refuse(*_):
    raise OSError(code, os.strerror(code))
fcntl.flock = refuse
from keju.cli import main
sys.exit(main())
"""
"""The command line on a file system whose `flock` answers with an error."""

_READ_ONLY = """
import os, sys
code = int(sys.argv.pop(1))
opened = os.open
def refuse(path, *args, **kwargs):
    if str(path).endswith(".lock"):
        raise OSError(code, os.strerror(code), path)
    return opened(path, *args, **kwargs)
os.open = refuse
from keju.cli import main
sys.exit(main())
"""
"""The command line where a lock cannot be written, as on a read-only disk."""

_RECIPE = (
    '[[source]]\nform = "mapped"\npath = "rows.csv"\nmap = "rows.toml"\nlicence = "CC0-1.0"\n'
    'source = "s"\n'
)
_MAPPING = """
tables = [{ path = "rows.csv" }]
fields = { question = "question", answer = "answer" }
constants = { task = "T9" }
"""


def _commands(folder: Path) -> dict[str, list[str]]:
    (folder / "pages").mkdir()
    (folder / "rows.csv").write_text("question,answer\n問,答\n", "utf-8")
    (folder / "rows.toml").write_text(_MAPPING, "utf-8")
    (folder / "recipe.toml").write_text(f'name = "n"\n{_RECIPE}')
    out = ["--out", str(folder / "out")]
    return {
        ".unfinished": ["data", "import", "pages", str(folder / "pages"), *out],
        ".lock": ["build", "recipe", str(folder / "recipe.toml"), *out],
        "run.lock": ["run", "mini", "--model", "baseline:majority", *out],
    }


@pytest.mark.parametrize(
    ("lock", "code"),
    [
        (".unfinished", errno.ENOLCK),
        (".lock", errno.EOPNOTSUPP),
        ("run.lock", errno.EINVAL),
        ("run.lock", errno.EIO),
    ],
)
def test_a_file_system_without_locks_is_named_with_a_hint(
    tmp_path: Path, lock: str, code: int
) -> None:
    command = _commands(tmp_path)[lock]
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_LOCKS, str(code), *command],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    said = done.stderr.strip()
    assert "\n" not in said
    assert f"{lock}: cannot be locked ({os.strerror(code)}). Use a folder on a local disk" in said


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_run_on_a_read_only_disk_is_named_with_a_hint(tmp_path: Path, code: int) -> None:
    run(mini(), ["baseline:copy"], tmp_path / "run", selection=Selection(limit=1, shard="1/1"))
    done = subprocess.run(
        [sys.executable, "-c", _READ_ONLY, str(code), "merge", str(tmp_path / "run"),
         "--out", str(tmp_path / "all")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    said = done.stderr.strip()
    assert "\n" not in said
    assert f"run.lock: cannot be locked ({os.strerror(code)}). Use a folder on a local" in said


def test_a_lock_that_another_has_is_named_as_the_caller_says(tmp_path: Path) -> None:
    first = locked_file(tmp_path / "x.lock", busy="busy")
    with pytest.raises(UsageError, match=r"^somebody is writing$"):
        locked_file(tmp_path / "x.lock", busy="somebody is writing")
    first.release()
    locked_file(tmp_path / "x.lock", busy="busy").release()

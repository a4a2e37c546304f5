"""Programs of the lock files, run in the environment of the tests as in `make test-contracts`."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec
import pytest

from tests.support.contracting import RESULT, Program, Result, exchange_command, programs


def missing(program: Program) -> str:
    """The first package that is not installed; empty if all are."""
    for package in program.packages:
        try:
            version(package.partition("==")[0])
        except PackageNotFoundError:
            return f"{package} is not installed: make install-semantic"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", [each for each in programs().values() if each.project], ids=lambda each: each.name
)
def test_everything_exchanged_is_equal(tmp_path: Path, program: Program):
    if reason := missing(program):
        assert os.environ.get("CI") != "true", reason
        pytest.skip(reason)
    command = exchange_command(program, Path(sys.executable), tmp_path / "w", tmp_path / "r")
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = msgspec.json.decode((tmp_path / "r" / RESULT).read_bytes(), type=Result)
    assert result.version == program.pinned
    assert [each for each in result.exchanges if not each.equal] == []
    assert result.exchanges

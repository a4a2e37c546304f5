"""Runs the command in this process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keju.cli.app import main
from tests.support.scanned import Done, Keju


@pytest.fixture
def keju(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Keju:
    """Run a command line in a new folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["keju", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return Done(int(stopped.value.code or 0), printed.out, printed.err)

    return run

"""The files of keju 0.1.0, unpacked, and commands that are run in their folder."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from keju.cli import app

HERE = Path(__file__).parent / "keju-0.1.0"


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files as 0.1.0 left them, for all tests; read only."""
    root = tmp_path_factory.mktemp("keju-0.1.0")
    shutil.copytree(HERE / "written", root / "written")
    with tarfile.open(HERE / "made.tar.xz") as archive:
        archive.extractall(root, filter="data")
    return root


@pytest.fixture
def old(unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that a test may change; the working directory, since stored paths are relative."""
    shutil.copytree(unpacked, tmp_path / "old", symlinks=True)
    monkeypatch.chdir(tmp_path / "old")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-tests")
    return tmp_path / "old"


Command = Callable[..., Result]


@pytest.fixture
def keju() -> Command:
    """The command; an error of keju is shown as the message that a user sees."""

    def run(*arguments: object, fails: bool = False) -> Result:
        done = CliRunner().invoke(app, [str(each) for each in arguments])
        said = f"{done.output}\n{done.exception}"
        assert (done.exit_code != 0) is fails, said
        return done

    return run


def read(path: str | Path) -> Any:
    """A JSON file."""
    return json.loads(Path(path).read_text("utf-8"))

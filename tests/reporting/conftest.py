"""A small scored run, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.scored_runs import make_scored_run


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two replayed models over two pages and a question, which no test changes."""
    return make_scored_run(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def scored_run(shared_run: Path, tmp_path: Path) -> Path:
    """A copy of it and of its dataset in the folder of the test."""
    shutil.copytree(shared_run.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"

"""A bundle of a small scored run."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.bundles import write_bundle
from tests.support.scored_runs import make_scored_run, scored_run

__all__ = ["scored_run"]


@pytest.fixture(scope="package")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scored run that no test changes."""
    return make_scored_run(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="package")
def bundle(shared_run: Path) -> Path:
    """A bundle of it without data, which no test changes."""
    return write_bundle(shared_run, shared_run.parent / "small.keju.zip").path

"""A bundle of a small scored run."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.bundles import write_bundle
from tests.reporting.conftest import scored_run, shared_run

__all__ = ["scored_run", "shared_run"]


@pytest.fixture(scope="package")
def data(shared_run: Path) -> Path:
    """The dataset of the shared run."""
    return shared_run.parent / "set"


@pytest.fixture(scope="package")
def bundle(shared_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of it without data, which no test changes."""
    return write_bundle(shared_run, tmp_path_factory.mktemp("bundle") / "small.keju.zip").path

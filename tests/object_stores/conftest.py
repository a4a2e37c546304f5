"""A running server of each object store, and a cache of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.object_server import (
    SERVED,
    ObjectServer,
    need_object_server,
    reach,
    serving_objects,
)


@pytest.fixture(scope="session", params=SERVED)
def shared_server(request: pytest.FixtureRequest) -> Iterator[ObjectServer]:
    need_object_server()
    with serving_objects(request.param) as server:
        yield server


@pytest.fixture
def server(
    shared_server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ObjectServer:
    reach(shared_server, monkeypatch)
    monkeypatch.setenv("KEJU_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KEJU_CACHE_GB", raising=False)
    return shared_server


@pytest.fixture
def address(server: ObjectServer, request: pytest.FixtureRequest) -> str:
    """An address at which nothing exists."""
    return server.at(f"{abs(hash(request.node.nodeid)):x}/set")

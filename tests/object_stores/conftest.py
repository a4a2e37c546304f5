"""A running S3-compatible server, and a cache of its own for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.object_server import ObjectServer, reach, serving_objects


@pytest.fixture(scope="session")
def shared_server() -> Iterator[ObjectServer]:
    for package in ("obstore", "moto"):
        if find_spec(package) is None and os.environ.get("CI") != "true":
            pytest.skip(f"{package} is not installed: make install-semantic")
    with serving_objects() as server:
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
    return f"s3://{server.bucket}/{abs(hash(request.node.nodeid)):x}/set"

"""A real S3-compatible server on a free port, in this process, without access to anything else."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import NamedTuple

import pytest

SECRET = "tests-secret-key-0123456789abcdef"
KEY = "TESTSACCESSKEYID0001"


class ObjectServer(NamedTuple):
    """Where the server listens, and its bucket."""

    url: str
    bucket: str = "bucket"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
        }


def need_object_server() -> None:
    """Skip without the packages of object stores; under CI=true their absence is an error."""
    for package in ("obstore", "moto"):
        if find_spec(package) is None and os.environ.get("CI") != "true":
            pytest.skip(f"{package} is not installed: make install-semantic")


@contextmanager
def serving_objects() -> Iterator[ObjectServer]:
    """Serve an empty bucket."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        served = ObjectServer(f"http://{host}:{port}")
        request = urllib.request.Request(f"{served.url}/{served.bucket}", method="PUT", data=b"")
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200
        yield served
    finally:
        server.stop()


def reach(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment of this process so that it reaches the server."""
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)

"""Real servers of object stores on a free port, without access to anything else.

S3 is moto's server. Cloud Storage is the same server: its XML interface differs from S3 only in the
name of one header. Azure is Azurite, if its program ``azurite-blob`` is installed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

from keju.object_stores import STORES
from tests.support.children import started

SECRET = "tests-secret-key-0123456789abcdef"
KEY = "TESTSACCESSKEYID0001"
SERVED = tuple(each for each in STORES if each != "az" or shutil.which("azurite-blob"))
"""The schemes whose servers are on this machine."""
AZURE_SECRET = base64.b64encode(SECRET.encode()).decode()
ACCOUNT = "testsaccount"


class ObjectServer(NamedTuple):
    """Where the server listens, its scheme and its bucket."""

    url: str
    scheme: str = "s3"
    bucket: str = "bucket"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it."""
        if self.scheme == "gs":
            return {"GOOGLE_BEARER_TOKEN": SECRET, "GOOGLE_BASE_URL": self.url}
        if self.scheme == "az":
            return {
                "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
                "AZURE_STORAGE_ACCOUNT_KEY": AZURE_SECRET,
                "AZURE_STORAGE_ENDPOINT": f"{self.url}/{ACCOUNT}",
            }
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
        }

    def at(self, prefix: object) -> str:
        """The address of a prefix in its bucket."""
        return f"{self.scheme}://{self.bucket}/{prefix}"


def need_object_server() -> None:
    """Skip without the packages of object stores; under CI=true their absence is an error."""
    for package in ("obstore", "moto"):
        if find_spec(package) is None and os.environ.get("CI") != "true":
            pytest.skip(f"{package} is not installed: make install-semantic")


@contextmanager
def serving_objects(scheme: str = "s3") -> Iterator[ObjectServer]:
    """Serve an empty bucket."""
    with (_azurite if scheme == "az" else _moto)() as url:
        served = ObjectServer(url, scheme)
        request = _new_container(served) if scheme == "az" else _new_bucket(served)
        with urllib.request.urlopen(request) as answer:
            assert answer.status in {200, 201}
        yield served


@contextmanager
def _moto() -> Iterator[str]:
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    app = DomainDispatcherApplication(create_backend_app)

    def serve(environment: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        # The condition "does not exist" as Cloud Storage and as S3 write it.
        if environment.get("HTTP_X_GOOG_IF_GENERATION_MATCH") == "0":
            environment["HTTP_IF_NONE_MATCH"] = "*"
        return app(environment, start)

    server = make_server("127.0.0.1", 0, serve, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()


@contextmanager
def _azurite() -> Iterator[str]:
    program = ["azurite-blob", "--inMemoryPersistence", "--blobHost", "127.0.0.1", "--blobPort",
               "0", "--disableTelemetry", "--silent"]  # fmt: skip
    process = started(
        program,
        env={**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{AZURE_SECRET}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        lines = iter(process.stdout or ())
        yield next(found[0] for line in lines if (found := re.search(r"http://[\d.:]+", line)))
    finally:
        process.terminate()
        process.wait()


def _new_bucket(server: ObjectServer) -> urllib.request.Request:
    return urllib.request.Request(f"{server.url}/{server.bucket}", method="PUT", data=b"")


def _new_container(server: ObjectServer) -> urllib.request.Request:
    now = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = {"x-ms-date": now, "x-ms-version": "2021-08-06", "Content-Type": "text/plain"}
    signed = (
        f"PUT\n\n\n\n\n{headers['Content-Type']}\n\n\n\n\n\n\nx-ms-date:{now}\n"
        f"x-ms-version:{headers['x-ms-version']}\n"
        f"/{ACCOUNT}/{ACCOUNT}/{server.bucket}\nrestype:container"
    )
    mark = hmac.digest(SECRET.encode(), signed.encode(), hashlib.sha256)
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(mark).decode()}"
    url = f"{server.url}/{ACCOUNT}/{server.bucket}?restype=container"
    return urllib.request.Request(url, method="PUT", data=b"", headers=headers)


def reach(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment of this process so that it reaches the server and no other store."""
    for store in STORES.values():
        for name, _ in store.settings():
            monkeypatch.delenv(name)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)

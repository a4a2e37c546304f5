"""A real Ray cluster of several nodes: processes with different working directories and caches."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.children import started

_START = """
import sys
from ray.scripts.scripts import main
sys.argv[0] = "ray"
main()
"""
_NODE = (
    "--block", "--node-ip-address=127.0.0.1", "--num-gpus=0",
    "--object-store-memory=100000000", "--min-worker-port=0", "--max-worker-port=0",
    "--dashboard-agent-listen-port=0", "--disable-usage-stats",
)  # fmt: skip
_QUICK = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "4",
}
"""The cluster notices a killed node within seconds."""


class RayCluster:
    """A head node and workers, each a process with its own working directory and cache.

    Args:
        folder: where the directories of the nodes are made.
        environment: added to the environment of every node.
        cores: of every node.

    Attributes:
        access: the environment variables with which a process may connect.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str], *, cores: int = 1) -> None:
        self.address = f"127.0.0.1:{_free_port()}"
        self.access = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.nodes: dict[str, subprocess.Popen[bytes]] = {}
        self._folder = folder
        self._environment = environment
        self._cores = cores
        # The paths of Ray's sockets are limited to 107 characters.
        self._temporary = tempfile.mkdtemp(prefix="ray-", dir="/tmp")

    def start(self, name: str) -> None:
        """Start a node; the first one is the head."""
        place = self.place(name)
        (place / "cache").mkdir(parents=True)
        port = self.address.rpartition(":")[2]
        own = (
            [f"--address={self.address}"]
            if self.nodes
            else ["--head", f"--port={port}", "--include-dashboard=false",
                  f"--temp-dir={self._temporary}", f"--ray-client-server-port={_free_port()}"]
        )  # fmt: skip
        settings = {**os.environ, **_QUICK, **self.access, **self._environment}
        settings |= {"KEJU_CACHE": str(place / "cache"), "RAY_ADDRESS": ""}
        with (place / "log").open("wb") as log:
            self.nodes[name] = started(
                [sys.executable, "-c", _START, "start", *own, *_NODE,
                 f"--num-cpus={self._cores}"],
                cwd=place, env=settings, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._wait(name, len(self.nodes))

    def place(self, name: str) -> Path:
        """The working directory of a node; its cache is the folder ``cache`` in it."""
        return self._folder / name

    def kill(self, name: str) -> None:
        """Kill all processes of a node."""
        node = self.nodes[name]
        for process in _descendants(node.pid):
            _kill(process)
        node.kill()
        node.wait()

    def kill_actors(self, name: str) -> None:
        """Kill the processes of a node's actors; the node itself stays."""
        actors = [each for each in _descendants(self.nodes[name].pid) if _is_actor(each)]
        assert actors
        for process in actors:
            _kill(process)

    def close(self) -> None:
        """End all nodes."""
        for name in reversed(list(self.nodes)):
            self.kill(name)
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _wait(self, name: str, count: int) -> None:
        """Wait until the cluster has so many nodes."""
        log = self.place(name) / "log"
        for _ in range(1200):
            if b"Ray runtime started" in log.read_bytes():
                return
            assert self.nodes[name].poll() is None, log.read_text()
            time.sleep(0.25)
        raise TimeoutError(f"node {count}: {log.read_text()}")


@contextmanager
def ray_cluster(folder: Path, environment: Mapping[str, str]) -> Iterator[RayCluster]:
    """A cluster of a head and two workers, of one core each."""
    cluster = RayCluster(folder, environment)
    try:
        for name in ("head", "one", "two"):
            cluster.start(name)
        yield cluster
    finally:
        cluster.close()


def wait_until(process: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    """Wait, at most 10 minutes, until a state is reached, while a process runs."""
    until = time.monotonic() + 600
    while process.poll() is None and time.monotonic() < until:
        if reached():
            return
        time.sleep(0.05)
    process.kill()
    raise AssertionError(process.communicate())


def _descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have started."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in map(int, task.read_text().split()):
                found += [child, *_descendants(child)]
        except OSError:
            continue
    return found


def _is_actor(pid: int) -> bool:
    try:
        title = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return title.startswith(b"ray::") and not title.startswith(b"ray::IDLE")


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port

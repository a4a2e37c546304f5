"""`DriverFiles`: files of the node that runs the command, for workers on other nodes of Ray.

An actor on that node reads and writes them, so that a cluster needs no shared disk. Workers of one
cluster run each other's code anyway, so the actor does not restrict the paths.
"""

from __future__ import annotations

import secrets
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from keju.files import replace_file

_READERS = 8


class DriverFiles(NamedTuple):
    """The files of one node, by absolute path.

    The actor of that name, in the namespace, serves those of the node, which has its id in Ray.
    Ray's `RayError` is raised if it does not respond, or a file cannot be read or written.
    """

    node: str
    actor: str
    namespace: str

    def is_here(self) -> bool:
        """Whether this process runs on the node, so that it can open the files itself."""
        return _get_node() == self.node

    def read(self, path: str) -> bytes | None:
        """Read a file; None if it does not exist."""
        if self.is_here():
            return read_bytes(path)
        import ray  # noqa: PLC0415 - heavy, optional

        found: bytes | None = ray.get(self._server().read.remote(path))
        return found

    def write(self, path: str, content: bytes) -> None:
        """Write a file atomically."""
        if self.is_here():
            write_bytes(path, content)
            return
        import ray  # noqa: PLC0415 - heavy, optional

        ray.get(self._server().write.remote(path, content))

    def _server(self) -> Any:  # noqa: ANN401 - a handle of Ray
        return _find_actor(self.actor, self.namespace)


class _FileServer:
    """The actor."""

    def read(self, path: str) -> bytes | None:
        return read_bytes(path)

    def write(self, path: str, content: bytes) -> None:
        write_bytes(path, content)


def read_bytes(path: str) -> bytes | None:
    """Read a local file; None if it does not exist."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None


def write_bytes(path: str, content: bytes) -> None:
    """Write a local file, which gets its name when it is complete.

    The disk is not flushed: a file that a power failure leaves incomplete is computed again.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        partial.write_bytes(content)
        replace_file(partial, target)
    finally:
        partial.unlink(missing_ok=True)


@cache
def serve_files() -> DriverFiles | None:
    """Start the actor of this process on its node, once; it ends with the process.

    Returns:
        The files; None where Ray's client connects to a cluster of which this machine is not a
            node. Workers then need a shared disk or a scratch directory at an address.
    """
    import ray  # noqa: PLC0415 - heavy, optional
    from ray.util.scheduling_strategies import (  # noqa: PLC0415 - as above
        NodeAffinitySchedulingStrategy,
    )

    client: Any = ray.util.client.ray
    if client.is_connected():
        return None
    context = ray.get_runtime_context()
    node, name = context.get_node_id(), f"keju-files-{secrets.token_hex(8)}"
    on_this_node = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
    options = {"name": name, "num_cpus": 0, "max_concurrency": _READERS}
    actor = ray.remote(_FileServer).options(**options, scheduling_strategy=on_this_node)
    # Ray ends an actor to which no handle exists.
    _HANDLES.append(actor.remote())
    return DriverFiles(node, name, context.namespace)


_HANDLES: list[Any] = []


@cache
def _find_actor(name: str, namespace: str) -> Any:  # noqa: ANN401 - a handle of Ray
    import ray  # noqa: PLC0415 - heavy, optional

    return ray.get_actor(name, namespace=namespace)


@cache
def _get_node() -> str:
    import ray  # noqa: PLC0415 - heavy, optional

    return str(ray.get_runtime_context().get_node_id())

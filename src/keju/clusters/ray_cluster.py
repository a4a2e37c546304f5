"""`start_ray`: connect to a Ray cluster or start one; its nodes, and actors on one of them."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any, NamedTuple

from keju import telemetry
from keju.errors import PrerequisiteError, UsageError
from keju.texts import _


def start_ray(address: str) -> None:
    """Connect this process to a Ray cluster, unless it is already connected.

    Args:
        address: the address of the cluster (default: RAY_ADDRESS, else a cluster on this machine).

    Raises:
        PrerequisiteError: Ray is not installed.
        UsageError: the cluster does not respond.
    """
    try:
        import ray  # noqa: PLC0415 - heavy, optional
    except ImportError:
        raise PrerequisiteError(_("--engine ray"), 'pip install "keju[ray]"') from None
    if ray.is_initialized():
        return
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    _check_reachable(where)
    # A local Ray starts its own workers. The workers of a running cluster do not inherit this
    # environment.
    options: dict[str, Any] = (
        {"include_dashboard": False}
        if where == "local"
        else {"runtime_env": {"env_vars": telemetry.DISABLED}}
    )
    try:
        ray.init(address=where, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UsageError("Ray at {!r} does not respond: {}", where, reason) from None


def count_cores() -> int:
    """Count the cores of the cluster to which this process is connected."""
    import ray  # noqa: PLC0415 - heavy, optional

    cluster: Any = ray
    return max(1, int(cluster.cluster_resources().get("CPU", 1)))


def _check_reachable(where: str) -> None:
    """Check that a cluster's address is reachable: Ray itself would retry for minutes."""
    if where in {"local", "auto"}:
        return
    host, __, port = where.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise UsageError("{!r} is not the address of a Ray cluster: HOST:PORT", where)
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise UsageError("Ray at {!r} does not respond: {}", where, error) from None


class Node(NamedTuple):
    """A node: its id, its address, and the cores and GPUs that Ray reports for it."""

    id: str
    address: str
    cores: int
    gpus: int

    def __str__(self) -> str:
        """The address with the beginning of the id, since nodes may share an address."""
        return f"{self.address} ({self.id[:8]})"


def list_nodes(*, gpu: bool = False) -> list[Node]:
    """List the live nodes that have at least one core, and with `gpu` also a GPU."""
    import ray  # noqa: PLC0415 - heavy, optional

    cluster: Any = ray
    found = [_node(each) for each in cluster.nodes() if each["Alive"]]
    return [each for each in found if each.cores and (each.gpus or not gpu)]


def own_address() -> str:
    """The address of this machine in the cluster."""
    import ray  # noqa: PLC0415 - heavy, optional

    cluster: Any = ray
    return str(cluster.util.get_node_ip_address())


def start_actor(
    kind: type,
    node: Node,
    *arguments: object,
    cores: int = 1,
    gpu: bool = False,
    attempts: int = 1,
) -> Any:  # noqa: ANN401 - Ray's handle
    """Start an actor on a node, which ends with the process that started it.

    Args:
        kind: the class of the actor.
        node: the node on which the actor runs.
        arguments: the arguments of the class.
        cores: the number of cores to reserve; the actor waits until they are free.
        gpu: reserve one GPU. Otherwise the actor sees no GPU.
        attempts: how often a call is tried. With more than one, Ray restarts an actor that is lost
            (on its node only) and repeats its calls.
    """
    import ray  # noqa: PLC0415 - heavy, optional
    from ray.util.scheduling_strategies import (  # noqa: PLC0415 - as above
        NodeAffinitySchedulingStrategy,
    )

    actor: Any = ray.remote(kind)
    return actor.options(
        num_cpus=cores,
        num_gpus=int(gpu),
        max_restarts=-1 if attempts > 1 else 0,
        max_task_retries=attempts - 1,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node.id, soft=False),
    ).remote(*arguments)


def result_of(call: Any) -> Any:  # noqa: ANN401 - of any method
    """The result of an actor's call, or None if the actor or its node was lost.

    Raises:
        Exception: the exception that the call raised.
    """
    import ray  # noqa: PLC0415 - heavy, optional
    from ray.exceptions import RayError, RayTaskError  # noqa: PLC0415 - as above

    try:
        return ray.get(call)
    except RayTaskError as error:
        raise error.cause from None
    except RayError:
        return None


def _node(found: dict[str, Any]) -> Node:
    resources = found["Resources"]
    return Node(
        str(found["NodeID"]),
        str(found["NodeManagerAddress"]),
        int(resources.get("CPU", 0)),
        int(resources.get("GPU", 0)),
    )

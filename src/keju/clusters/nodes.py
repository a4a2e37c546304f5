"""The nodes of a Ray cluster, and actors that run on one of them."""

from __future__ import annotations

from typing import Any, NamedTuple


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
    """List the live nodes that have at least one core.

    Args:
        gpu: list only nodes that also have a GPU.
    """
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
    concurrency: int | None = None,
) -> Any:  # noqa: ANN401 - Ray's handle
    """Start an actor on a node. The actor ends with the process that started it.

    Args:
        kind: the class of the actor.
        node: the node on which the actor runs.
        arguments: the arguments of the class.
        cores: the number of cores to reserve; the actor waits until they are free.
        gpu: reserve one GPU. Otherwise the actor sees no GPU.
        concurrency: the maximum number of calls at a time, if the methods are coroutines.
    """
    import ray  # noqa: PLC0415 - heavy, optional
    from ray.util.scheduling_strategies import (  # noqa: PLC0415 - as above
        NodeAffinitySchedulingStrategy,
    )

    options: dict[str, Any] = {
        "num_cpus": cores,
        "num_gpus": int(gpu),
        "scheduling_strategy": NodeAffinitySchedulingStrategy(node_id=node.id, soft=False),
    }
    if concurrency is not None:
        options["max_concurrency"] = concurrency
    return ray.remote(kind).options(**options).remote(*arguments)


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

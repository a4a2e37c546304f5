"""Ray clusters: `start_ray` connects to one, `list_nodes` lists where an actor can run."""

from keju.clusters.nodes import Node, list_nodes, own_address, result_of, start_actor
from keju.clusters.ray_connection import count_cores, start_ray

__all__ = [
    "Node",
    "count_cores",
    "list_nodes",
    "own_address",
    "result_of",
    "start_actor",
    "start_ray",
]

"""Ray clusters: `start_ray` connects to a cluster, `list_nodes` lists the nodes for actors."""

from keju.clusters.ray_cluster import (
    Node,
    count_cores,
    list_nodes,
    own_address,
    result_of,
    start_actor,
    start_ray,
)

__all__ = [
    "Node",
    "count_cores",
    "list_nodes",
    "own_address",
    "result_of",
    "start_actor",
    "start_ray",
]

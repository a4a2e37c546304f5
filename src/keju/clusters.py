"""`start_ray`: connect to a Ray cluster or start one."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

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

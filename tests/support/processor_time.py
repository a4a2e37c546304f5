"""Processor seconds of this process and of the processes that it used."""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):  # not on Windows
    import resource

_elsewhere = [0.0]


def add(seconds: float) -> None:
    """Count the seconds of a process that this one did not start itself."""
    _elsewhere[0] += seconds


def used() -> float:
    """Processor seconds so far, with those of the processes that this one waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + _elsewhere[0]

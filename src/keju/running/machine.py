"""`Machine`, the description of a computer, and `Clocks`, its wall and processor times."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from keju.items import Record

_GIGABYTE = 1e9
_PROC = Path("/proc")


class Machine(Record, frozen=True, kw_only=True):
    """A machine: the model of its processor, the cores that this process may use, memory in GB."""

    processor: str
    cores: int
    memory: float
    system: str


class Clocks(NamedTuple):
    """Times at one moment, in seconds. Only differences are meaningful.

    `wall` is a clock that never goes back. `own` is the processor time of this process and of the
    programs that it ran and that have ended, `all` that of every process on the cores that this
    process may use; `all` is None where the system does not report it (Linux does).
    """

    wall: float
    own: float
    all: float | None

    @classmethod
    def now(cls) -> Clocks:
        """Read the clocks."""
        return cls(monotonic(), sum(os.times()[:4]), _all_processes())


@cache
def this_machine() -> Machine:
    """Describe the machine that this process runs on."""
    return Machine(
        processor=_processor(), cores=cores(), memory=_memory(), system=platform.system()
    )


def cores() -> int:
    """The number of cores that this process may use."""
    return len(_own_cores()) or os.cpu_count() or 1


def load_average() -> float | None:
    """The mean number of processes that ran or waited to run in the last minute, where known."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def _own_cores() -> set[int]:
    try:
        return os.sched_getaffinity(0)
    except (AttributeError, OSError):
        return set()


def _all_processes() -> float | None:
    """Processor seconds of all processes on our cores: ``cpuN user nice system idle iowait …``."""
    try:
        lines = (_PROC / "stat").read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    wanted = {f"cpu{number}" for number in _own_cores()}
    ticks = waiting = 0
    for name, *numbers in (line.split() for line in lines if line.startswith("cpu")):
        if name in wanted:
            counts = [int(each) for each in numbers[:8]]
            waiting += sum(counts[3:5])
            ticks += sum(counts)
    # A container may report zeros, which would mean a machine without other programs.
    return (ticks - waiting) / os.sysconf("SC_CLK_TCK") if ticks else None


def _processor() -> str:
    try:
        for line in (_PROC / "cpuinfo").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def _memory() -> float:
    """GB of memory; 0 where the system does not report it."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0.0
    return round(max(0, size) / _GIGABYTE, 1)

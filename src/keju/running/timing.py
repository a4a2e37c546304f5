"""Timing of engines on this machine: `Stopwatch` measures it, `Timing` is stored.

An engine that computes on this machine runs alone: no other engine of the run works at the same
time. Its first answer includes its start-up (loading of models, compilation), so time counts from
there, and until then only one request is in flight. ``RUN/timings.json`` has an entry for each
session.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from keju.files import read_json, write_json
from keju.items import Record, Response
from keju.runs import RunFolder
from keju.texts import _

MOST_OTHERS = 0.1
"""The share of the machine's processor time that other programs may take in a timing."""
MOST_FAILED = 0.1
"""The maximum share of failures among the responses, because they take another time than
transcribed pages."""
FEWEST_PAGES = 3
"""The minimum number of timed pages from which a speed is computed."""

_PROC = Path("/proc")


class Machine(Record, frozen=True, kw_only=True):
    """A machine: the model of its processor, the cores that this process may use, memory in GB."""

    processor: str
    cores: int
    memory: float
    system: str


@cache
def this_machine() -> Machine:
    """Describe the machine that this process runs on; memory is 0 where it is not reported."""
    try:
        lines = (_PROC / "cpuinfo").read_text("utf-8", "replace").splitlines()
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, OSError, ValueError):
        lines, memory = [], 0.0
    names = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    processor = " ".join(names[0].split()) if names else platform.processor()
    return Machine(
        processor=processor or platform.machine() or "unknown",
        cores=len(_own_cores()) or os.cpu_count() or 1,
        memory=round(max(0.0, memory), 1),
        system=platform.system(),
    )


def _own_cores() -> set[int]:
    """The numbers of the cores that this process may use; empty where they are not reported."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


class Clocks(NamedTuple):
    """Times at one moment, in seconds. Only differences are meaningful.

    `wall` is a clock that never goes back. `own` is the processor time of this process and of the
    programs that it ran and that have ended, `system` that of every process on the cores that
    this process may use; it is None where the system does not report it (Linux does).
    """

    wall: float
    own: float
    system: float | None

    @classmethod
    def now(cls) -> Clocks:
        """Read the clocks."""
        busy = 0
        try:
            lines = (_PROC / "stat").read_text("ascii").splitlines()
        except (OSError, UnicodeDecodeError):
            lines = []
        names = {f"cpu{number}" for number in _own_cores()}
        for name, *ticks in map(str.split, lines):
            if name in names:  # cpuN user nice system idle iowait irq softirq steal
                busy += sum(map(int, ticks[:8])) - sum(map(int, ticks[3:5]))
        # A container may report zeros, which would mean a machine without other programs.
        seconds = busy / os.sysconf("SC_CLK_TCK") if busy else None
        return cls(monotonic(), sum(os.times()[:4]), seconds)


class Timing(Record, frozen=True, kw_only=True):
    """The timing of one engine in one session of a run; times in seconds.

    `pages` are the images and `answers` the responses that were timed, which excludes the first
    response. `wall` is the time that passed, `cpu` the processor time of the engine (None where
    models behind an endpoint ran at the same time). `first` is the time to the first answer,
    including start-up. `failed` counts responses that are failures. `others` is the share of the
    machine's processor time that other programs took; None where the system does not report it.
    `identity` is the model's.
    """

    model: str
    ended: str
    machine: Machine
    identity: Mapping[str, str]
    pages: int
    answers: int
    wall: float
    cpu: float | None
    first: float
    failed: int = 0
    others: float | None = None

    @property
    def busy(self) -> str:
        """The other load of the machine, if it was so high that the wall time is an upper bound."""
        if self.others is None or self.others <= MOST_OTHERS:
            return ""
        return _("other programs took {} % of the processor time", round(100 * self.others))

    @property
    def too_little(self) -> str:
        """Why the timing cannot be used even on a quiet machine, or an empty string."""
        if self.failed > MOST_FAILED * (self.failed + self.answers):
            return _("{:,} of {:,} pages failed", self.failed, self.failed + self.answers)
        if self.pages < FEWEST_PAGES:
            return _("too few pages were timed: {}", self.pages)
        return ""


class Stopwatch:
    """Times one engine from its first answer on; made just before its first request."""

    def __init__(self) -> None:
        self._begun = monotonic()
        self._since: Clocks | None = None
        self._pages = self._answers = self._failed = 0

    def note(self, response: Response, pages: int) -> None:
        """Count a response to a request with `pages` images."""
        if response.status == "failed":
            self._failed += 1
        elif self._since is None:
            self._since = Clocks.now()
        else:
            self._pages += pages
            self._answers += 1

    def timing(self, model: str, identity: Mapping[str, str], *, alone: bool) -> Timing | None:
        """The timing until now, after the last answer; None where nothing was answered.

        Args:
            model: the engine's name.
            identity: the engine's identity.
            alone: no model behind an endpoint ran at the same time.
        """
        if self._since is None:
            return None
        end, machine, others = Clocks.now(), this_machine(), None
        wall, own = end.wall - self._since.wall, end.own - self._since.own
        if end.system is not None and self._since.system is not None and wall > 0:
            seconds = end.system - self._since.system - own
            others = round(max(0.0, seconds) / (wall * machine.cores), 4)
        return Timing(
            model=model,
            ended=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=machine,
            identity=identity,
            pages=self._pages,
            answers=self._answers,
            wall=round(wall, 3),
            cpu=round(own, 3) if alone else None,
            first=round(self._since.wall - self._begun, 3),
            failed=self._failed,
            others=others,
        )


def add_timings(folder: RunFolder, timings: Sequence[Timing]) -> None:
    """Add timings to those of a run, whose lock the caller has."""
    if timings:
        write_json(folder.timings_path, [*read_timings(folder), *timings])


def read_timings(folder: RunFolder) -> list[Timing]:
    """The timings of a run, in the order of its sessions; none where none was stored.

    Raises:
        DataError: the file is damaged.
    """
    path = folder.timings_path
    return read_json(path, list[Timing]) if path.is_file() else []

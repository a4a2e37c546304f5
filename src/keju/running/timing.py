"""Timing of engines on this machine: `Stopwatch` measures it, `Timing` is stored.

An engine that computes on this machine runs alone. Its first answer includes its start-up (loading
of models, compilation), so time counts from there, and until then only one request is in flight.
``RUN/timings.json`` has an entry for each session.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import monotonic

from keju.files import read_json, write_json
from keju.items import Record, Response
from keju.runs import RunFolder

_FEWEST_PAGES = 3
"""The minimum number of timed pages from which a speed is computed."""


class Timing(Record, frozen=True, kw_only=True):
    """The timing of one engine in one session of a run.

    `pages` images and `answers` responses took `seconds`, without the first response. `machine`
    names the processor, the cores that keju may use and the system.
    """

    model: str
    machine: str
    pages: int
    answers: int
    seconds: float


@cache
def this_machine() -> str:
    """The machine that this process runs on, such as ``AMD X, 4 CPU, Linux``, in no language."""
    processor = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        names = [line.partition(":")[2] for line in lines if line.startswith("model name")]
        processor = " ".join(names[0].split()) if names else processor
    own_cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    cores = len(own_cores) or os.cpu_count() or 1
    return f"{processor}, {cores} CPU, {platform.system()}"


class Stopwatch:
    """Times one engine from its first answer to its last response."""

    def __init__(self) -> None:
        self._start: float | None = None
        self._seconds = 0.0
        self._pages = self._answers = 0

    def note(self, response: Response, pages: int) -> None:
        """Count a response to a request with `pages` images; failures only take time."""
        now = monotonic()
        if response.status != "failed":
            if self._start is None:
                self._start = now
            else:
                self._pages += pages
                self._answers += 1
        self._seconds = now - (self._start or now)

    def timing(self, model: str) -> Timing | None:
        """The timing of a model; None where too few pages were transcribed."""
        if self._pages < _FEWEST_PAGES:
            return None
        return Timing(
            model=model,
            machine=this_machine(),
            pages=self._pages,
            answers=self._answers,
            seconds=round(self._seconds, 3),
        )


def add_timings(folder: RunFolder, timings: Iterable[Timing | None]) -> None:
    """Add timings to those of a run, whose lock the caller has."""
    if new_timings := [timing for timing in timings if timing]:
        write_json(folder.timings_path, [*read_timings(folder), *new_timings])


def read_timings(folder: RunFolder) -> list[Timing]:
    """The timings of a run, in the order of its sessions; none where none was stored.

    Raises:
        DataError: the file is damaged.
    """
    path = folder.timings_path
    return read_json(path, list[Timing]) if path.is_file() else []

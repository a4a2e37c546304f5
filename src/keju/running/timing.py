"""How long an engine on this machine takes: `Stopwatch` measures it, `Timing` is what is stored.

An engine that computes on this machine is asked alone: no other engine of the run works meanwhile.
Its first answer contains its start-up (loading of models, compilation), so time counts from there,
and until then only one request is in flight. ``RUN/timings.json`` has an entry for each session.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from keju.files import read_json, write_json
from keju.items import Record, Response
from keju.running.machine import Clocks, Machine, load_average, this_machine
from keju.runs import RunFolder

MOST_OTHERS = 0.1
"""The share of the machine's processor time that other programs may take in a timing."""
LOAD_PER_CORE = 1.5
"""The load average per core from which a machine is busy, where `Timing.others` is not known."""
MOST_FAILED = 0.1
"""The share of responses that may be failures, which take another time than pages that are read."""
FEWEST_PAGES = 3
"""Timed pages; a speed is not computed from fewer."""


class Timing(Record, frozen=True, kw_only=True):
    """What one session of a run measured of one engine; times in seconds.

    `pages` are the images and `answers` the responses that were timed, which excludes the first
    response. `wall` is the time that passed, `cpu` the processor time of the engine (None where
    models behind an endpoint were asked beside it). `first` is the time to the first answer,
    start-up included. `failed` counts responses that are failures. `others` is the share of the
    machine's processor time that other programs took, `load` the load average at the end; None
    where the system does not tell. `identity` is the model's.
    """

    model: str
    ended: str
    machine: Machine
    identity: dict[str, str]
    pages: int
    answers: int
    wall: float
    cpu: float | None
    first: float
    failed: int = 0
    others: float | None = None
    load: float | None = None

    @property
    def busy(self) -> str:
        """What else the machine did, if so much that the time that passed has no meaning."""
        if self.others is not None and self.others > MOST_OTHERS:
            return f"other programs took {100 * self.others:.0f} % of the processor time"
        if self.others is None and (self.load or 0) > LOAD_PER_CORE * self.machine.cores:
            return f"the load average was {self.load:.1f} on {self.machine.cores} cores"
        return ""

    @property
    def too_little(self) -> str:
        """Why nothing may be computed from it, however quiet the machine was."""
        if self.failed > MOST_FAILED * (self.failed + self.answers):
            return f"{self.failed:,} of {self.failed + self.answers:,} pages failed"
        if self.pages < FEWEST_PAGES:
            return f"too few pages were timed: {self.pages}"
        return ""


class Stopwatch:
    """Times one engine from its first answer on."""

    def __init__(self) -> None:
        self._begun: Clocks | None = None
        self._since: Clocks | None = None
        self._until: Clocks | None = None
        self._ended = ""
        self._load: float | None = None
        self._pages = self._answers = self._failed = 0

    @property
    def started(self) -> bool:
        """Whether the engine got a request."""
        return self._begun is not None

    def start(self) -> None:
        """The engine is about to get its first request."""
        self._begun = Clocks.now()

    def note(self, response: Response, pages: int) -> None:
        """Count a response to a request with so many images."""
        if response.status == "failed":
            self._failed += 1
        elif self._since is None:
            self._since = Clocks.now()
        else:
            self._pages += pages
            self._answers += 1

    def stop(self) -> None:
        """The last answer is there."""
        self._until, self._load = Clocks.now(), load_average()
        self._ended = datetime.now(UTC).isoformat(timespec="seconds")

    def timing(self, model: str, identity: dict[str, str], *, alone: bool = True) -> Timing | None:
        """What was measured; None where nothing was answered, or it was not stopped.

        Args:
            model: the engine's name.
            identity: the engine's identity.
            alone: no model behind an endpoint was asked beside it.
        """
        if not (self._begun and self._since and self._until):
            return None
        wall = self._until.wall - self._since.wall
        own = self._until.own - self._since.own
        others = None
        machine = this_machine()
        if self._until.all is not None and self._since.all is not None and wall > 0:
            taken = self._until.all - self._since.all - own
            others = round(max(0.0, taken) / (wall * machine.cores), 4)
        return Timing(
            model=model,
            ended=self._ended,
            machine=machine,
            identity=identity,
            pages=self._pages,
            answers=self._answers,
            wall=round(wall, 3),
            cpu=round(own, 3) if alone else None,
            first=round(self._since.wall - self._begun.wall, 3),
            failed=self._failed,
            others=others,
            load=None if self._load is None else round(self._load, 2),
        )


def add_timings(folder: RunFolder, timings: Sequence[Timing]) -> None:
    """Add timings to those of a run, whose lock the caller holds."""
    if timings:
        write_json(folder.timings_path, [*read_timings(folder), *timings])


def read_timings(folder: RunFolder) -> list[Timing]:
    """The timings of a run, in the order of its sessions; none in a run of an earlier keju.

    Raises:
        DataError: the file is damaged.
    """
    path = folder.timings_path
    return read_json(path, list[Timing]) if path.is_file() else []

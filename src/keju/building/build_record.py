"""The parts of a build, and `BuildRecord`: the content of build.json."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import field

from keju.items import Record


class StageRecord(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A source or a step in build.json: its directory, its result, and its notes."""

    name: str
    folder: str
    items: int
    images: int
    hash: str
    notes: list[str] = field(default_factory=list)


class BuildRecord(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of build.json; `hash` is that of BUILD/dataset."""

    format: str
    keju: str
    recipe: str
    seed: int
    engine: str
    sources: list[StageRecord]
    steps: list[StageRecord]
    hash: str
    finished: bool = True


class PlannedStage(NamedTuple):
    """A part of a build, and whether it exists already.

    `may_change`: an earlier part will be built again; if its result does not change, this part is
    kept.
    """

    name: str
    folder: str
    exists: bool
    may_change: bool = False

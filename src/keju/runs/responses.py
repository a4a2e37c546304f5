"""The responses of a file, without those that a later line replaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec.structs import force_setattr

from keju.files import read_jsonl
from keju.items import PromptScript, Record, Response, Setting

_REPEATED = (
    "model", "benchmark", "task", "query", "setting", "script", "wording", "status",
    "finish_reason", "usage", "uncounted", "box_convention", "served_model", "fingerprint",
)  # fmt: skip
"""The fields of a response whose values many share."""

_MOST_SHARED = 10_000


def current_responses(path: Path) -> Iterator[Response]:
    """The responses of a file as stored, without those that a later line replaces.

    Values that many responses share, such as the model, are in memory once.
    """
    old = superseded(path)
    known: dict[object, object] = {}
    for number, response in enumerate(read_jsonl(path, Response, appended=True), start=1):
        if number not in old:
            if len(known) > _MOST_SHARED:
                known.clear()
            for name in _REPEATED:
                value = getattr(response, name)
                force_setattr(response, name, known.setdefault(value, value))
            yield response


class ResponsePlace(Record, frozen=True, kw_only=True):
    """The place of a response in its run, which distinguishes it from others of its file."""

    item: str
    query: str = ""
    setting: Setting = "image"
    script: PromptScript = "released"
    wording: str = "released"
    round: int = 1
    candidate: int = 0


def superseded(path: Path) -> set[int]:
    """The numbers of the lines that a later line for the same request replaces.

    Lines are numbered from 1, without blank ones.
    """
    repeated = _repeated_hashes(path)
    last: dict[ResponsePlace, int] = {}
    old = set()
    for number, place in _places(path) if repeated else ():
        if hash(place) in repeated:
            if place in last:
                old.add(last[place])
            last[place] = number
    return old


def _places(path: Path) -> Iterator[tuple[int, ResponsePlace]]:
    return enumerate(read_jsonl(path, ResponsePlace, appended=True), start=1)


def _repeated_hashes(path: Path) -> set[int]:
    """The hashes that several places of a file have, in 8 bytes of memory per line."""
    hashes = np.fromiter((hash(place) for _, place in _places(path)), np.int64)
    hashes.sort()
    return set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())

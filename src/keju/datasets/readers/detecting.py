"""`find_candidates` and `find_best`: the readers that recognise a source, and the best one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from keju.datasets.readers.base import Detection, Reader
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.words import detect_command, import_command
from keju.errors import DataError, UsageError
from keju.registry import list_returned
from keju.texts import _

LOWEST = 0.5
"""The lowest fit with which a source is imported without naming its reader."""

APART = 0.04
"""Readers whose fits differ by less fit equally."""


class Candidate(NamedTuple):
    """A reader that recognises a source, and what it recognises in it."""

    reader: Reader[Any]
    detection: Detection


def find_candidates(listing: Listing, readers: Iterable[Reader[Any]]) -> list[Candidate]:
    """The readers that recognise a source, the best first: complete ones, then by fit."""
    found = []
    for reader in readers:
        detection = None
        with suppress(DataError):
            detection = reader.detect(listing) if reader.detect else None
        if reader.detect and detection:
            list_returned(reader.detect, [detection], Detection)
            if detection.fit > 0:
                found.append(Candidate(reader, detection))
    return sorted(found, key=lambda each: -each.detection.fit)


def find_best(listing: Listing, readers: Iterable[Reader[Any]]) -> Candidate | None:
    """The reader that fits a source best; None if no one fits.

    Raises:
        DataError: the source has no data yet, or the best reader misses a part of it.
        UsageError: several fit equally; the error lists their commands.
    """
    if obstacle := listing.obstacle():
        raise DataError(obstacle.problem, file=listing.src, hint=obstacle.hint)
    ranked = find_candidates(listing, readers)
    if not ranked or ranked[0].detection.fit < LOWEST:
        return None
    reader, detection = ranked[0]
    equal = [candidate for candidate in ranked if candidate.detection.fit > detection.fit - APART]
    if len(equal) > 1:
        commands = "; ".join(
            import_command(candidate.reader.name, listing.src, candidate.detection.options)
            for candidate in equal
        )
        raise UsageError("{}: several formats fit equally. Choose one: {}", listing.src, commands)
    if detection.missing:
        problem = _("{} fits, but it needs {}", reader.name, detection.missing)
        raise DataError(problem, file=listing.src, hint=_("See: {}", detect_command(listing.src)))
    return ranked[0]

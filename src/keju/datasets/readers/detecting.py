"""`find_candidates` and `find_best`: the readers that recognise a source, and the best one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from keju.datasets.readers.base import Detection, Reader
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.words import import_command, shell_word
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
        try:
            detection = reader.detect(listing) if reader.detect else None
        except DataError:
            continue
        if reader.detect is None or detection is None:
            continue
        list_returned(reader.detect, [detection], Detection)
        if detection.fit > 0:
            found.append(Candidate(reader, detection))
    return sorted(found, key=lambda each: -each.detection.fit)


def find_best(listing: Listing, readers: Iterable[Reader[Any]]) -> Candidate:
    """The reader that fits a source best.

    Raises:
        DataError: the source has no data yet, or the best reader misses a part of it.
        UsageError: no reader fits, or several fit equally; the error lists their commands.
    """
    if found := listing.obstacle():
        raise DataError(found.problem, file=listing.src, hint=found.hint)
    ranked = find_candidates(listing, readers)
    fitting = [each for each in ranked if each.detection.fit >= LOWEST]
    detect = f"keju data detect {shell_word(str(listing.src))}"
    if not fitting:
        seen = _(" The nearest is {}.", ranked[0].reader.name) if ranked else ""
        raise UsageError("{}: no format fits.{} See: {}", listing.src, seen, detect)
    equal = [each for each in fitting if each.detection.fit > fitting[0].detection.fit - APART]
    if len(equal) > 1:
        commands = "; ".join(detection_command(each, listing) for each in equal)
        raise UsageError("{}: several formats fit equally. Choose one: {}", listing.src, commands)
    if missing := fitting[0].detection.missing:
        problem = _("{} fits, but it needs {}", fitting[0].reader.name, missing)
        raise DataError(problem, file=listing.src, hint=_("See: {}", detect))
    return fitting[0]


def detection_command(candidate: Candidate, listing: Listing) -> str:
    """The command that imports a source with a reader."""
    return import_command(candidate.reader.name, listing.src, candidate.detection.options)

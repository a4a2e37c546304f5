"""Licences: the known ones, their conditions, and whether one may be relicensed under another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from keju.errors import did_you_mean, nearest_names
from keju.files import shipped_toml
from keju.items import Item
from keju.messages import listed, message, noun

_VERSION = re.compile(r"[-/]v?(?P<version>\d+(?:\.\d+)*)(?:[-/][a-z]{2,4})?$")
"""A version at the end of a name or an address, and the country of a ported licence."""

_LINKS = (" OR ", " AND ")
"""Separators of several licences, the weakest binding first."""

_LINK = re.compile("|".join(_LINKS))

_SHARE_ALIKE = "share-alike"
_LEAVE = "leave"


class _Licence(Struct, frozen=True, forbid_unknown_fields=True):
    """A licence of licences.toml; an empty version list means that it has none."""

    name: str
    demands: tuple[str, ...]
    versions: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    written: str = ""

    @property
    def identifiers(self) -> tuple[str, ...]:
        if self.written:
            return (self.written,)
        return tuple(f"{self.name}-{each}" for each in self.versions) or (self.name,)


class _NamedLicence(NamedTuple):
    """The meaning of a licence's wording: a known licence, and its version if stated."""

    licence: _Licence
    version: tuple[int, ...]


class LicenceConflict(NamedTuple):
    """Items whose licence is not compatible with the release's, or may not be."""

    licence: str
    items: int
    first: str
    """The id of the first item."""
    why: str

    @property
    def text(self) -> str:
        """The number of items, their licence and the reason."""
        return message(
            "steps.licence-conflict", count=self.items, licence=self.licence, why=self.why
        )


class LicenceCounts:
    """The licences of items: of each, the number of items and the first one.

    Args:
        whole: the licence of the whole dataset, of items without one in their provenance.
    """

    def __init__(self, whole: str) -> None:
        self._whole = whole
        self._first: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    def add(self, item: Item) -> None:
        """Add the next item."""
        own = dict.fromkeys(step.licence for step in item.provenance if step.licence.strip())
        for licence in own or (self._whole,):
            self.counts[licence] += 1
            self._first.setdefault(licence, item.id)

    def find_conflicts(self) -> list[LicenceConflict]:
        """Find the licences that the whole dataset's does not cover, the most frequent first."""
        found = [
            LicenceConflict(licence, count, self._first[licence], why)
            for licence, count in self.counts.items()
            if (why := explain_conflict(licence, self._whole))
        ]
        return sorted(found, key=lambda each: (-each.items, each.licence))


def explain_conflict(source: str, release: str) -> str:
    """Explain why material under one licence may not be released under another; empty if it may.

    ``A AND B`` is covered if both are, and covers what either does; ``A OR B`` is covered if one
    is, and covers what both do. Unknown wordings are covered only by themselves.
    """
    if _normalise_name(source) == _normalise_name(release):
        return ""
    if link := next((link for link in _LINKS if link in source), ""):
        why = [explain_conflict(part, release) for part in source.split(link)]
        enough = any if link == " OR " else all
    elif link := next((link for link in _LINKS if link in release), ""):
        why = [explain_conflict(source, part) for part in release.split(link)]
        enough = all if link == " OR " else any
    else:
        return _explain_unmet(source, release)
    return "" if enough(not each for each in why) else next(filter(None, why))


def _explain_unmet(source: str, release: str) -> str:
    """Explain which conditions of one licence another does not have."""
    given, wanted = _find_licence(source), _find_licence(release)
    if given is None:
        return message("steps.demands-unknown")
    demands = given.licence.demands
    if not demands or (
        wanted and wanted.licence == given.licence and not _is_earlier(wanted, given)
    ):
        return ""
    if wanted is None:
        return message(
            "steps.demands-of-release-unknown", demands=_name_demands(demands), release=release
        )
    if _SHARE_ALIKE in demands:
        return message(
            "steps.share-alike-other", demands=_name_demands([_SHARE_ALIKE]), release=release
        )
    short = [each for each in demands if each not in wanted.licence.demands]
    if not short:
        return ""
    return message("steps.demands-lacking", demands=_name_demands(short), release=release)


def _name_demands(demands: Iterable[str]) -> str:
    return listed(map(noun, demands))


def _is_earlier(wanted: _NamedLicence, given: _NamedLicence) -> bool:
    """Return whether the release's is an earlier version of a share-alike licence."""
    shared = _SHARE_ALIKE in given.licence.demands
    return shared and bool(wanted.version) and wanted.version < given.version


def describe_unusual(licence: str) -> str:
    """Describe an unusual wording of a licence and its likely meaning; empty if it is usual."""
    known = {name.casefold(): name for each in _load_licences() for name in each.identifiers}
    for part in filter(None, map(str.strip, _LINK.split(licence))):
        text = part.casefold()
        stem = text[: found.end("version")] if (found := _VERSION.search(text)) else text
        named = _find_licence(part)
        if {text, stem} & known.keys() or (named and ("/" in text or text in named.licence.also)):
            continue
        if text.startswith("licenseref-"):
            continue
        if named:
            name = _format_identifier(named)
            return message("steps.licence-not-spdx", part=part, name=name)
        near = did_you_mean(nearest_names(_normalise_name(part), known.values(), cutoff=0.75))
        if near:
            return message("steps.licence-unknown-near", part=part, near=near)
        return message("steps.licence-unknown", part=part)
    return ""


def format_demands(licence: str) -> str:
    """Format the conditions of a licence, in words; of several, of each."""
    parts = _LINK.split(licence)
    if len(parts) > 1:
        return "; ".join(format_demands(part) for part in parts)
    named = _find_licence(licence)
    if named is None:
        return "not known"
    return ", ".join(named.licence.demands) or "nothing"


def _format_identifier(named: _NamedLicence) -> str:
    version = ".".join(map(str, named.version))
    if version in named.licence.versions:
        return f"{named.licence.name}-{version}"
    return named.licence.identifiers[-1]


def _find_licence(licence: str) -> _NamedLicence | None:
    """Find the licence that a wording means, by name with or without its version, or by address."""
    text = _normalise_name(licence)
    if known := _index_by_name().get(text):
        return _NamedLicence(known, ())
    if (found := _VERSION.search(text)) and (known := _index_by_name().get(text[: found.start()])):
        return _NamedLicence(known, tuple(map(int, found["version"].split("."))))
    return None


def _normalise_name(licence: str) -> str:
    """Normalise a wording: case, spaces, ``http://www.``."""
    text = re.sub(r"[\s_]+", "-", licence.strip().casefold()).rstrip("/")
    text = re.sub(r"^https?://(www\.)?", "", text)
    text = re.sub(r"(?<=\d)/(deed|legalcode)[a-z._-]*$", "", text)
    return text.removeprefix("licenseref-")


@cache
def _index_by_name() -> dict[str, _Licence]:
    return {name: each for each in _load_licences() for name in (each.name.casefold(), *each.also)}


@cache
def _load_licences() -> tuple[_Licence, ...]:
    return shipped_toml("keju.datasets", "licences.toml", dict[str, tuple[_Licence, ...]])[
        "licence"
    ]


def forbids_copies(licence: str) -> str:
    """Explain why copies under a licence are not allowed, or not known to be; empty if they are.

    Of ``A OR B`` one is enough.
    """
    if " OR " in licence:
        why = [forbids_copies(part) for part in licence.split(" OR ")]
        return "" if "" in why else why[0]
    for part in licence.split(" AND "):
        named = _find_licence(part)
        if named is None:
            return message("steps.demands-unknown")
        if _LEAVE in named.licence.demands:
            return message("steps.demands-lacking", demands=noun(_LEAVE), release=licence)
    return ""


def list_restricted(whole: str, items: Iterable[Item]) -> Iterator[tuple[str, str]]:
    """List the licences that forbid copies, or are not known to allow them, each once.

    Args:
        whole: the licence of the whole dataset; it is checked first.
        items: its items, whose provenance may name other licences; read as far as needed.

    Yields:
        The licence as it is written, and the reason (`forbids_copies`).
    """
    counts, seen = LicenceCounts(whole), {whole}
    if why := forbids_copies(whole):
        yield whole, why
    for item in items:
        counts.add(item)
        for licence in [each for each in counts.counts if each not in seen]:
            seen.add(licence)
            if why := forbids_copies(licence):
                yield licence, why

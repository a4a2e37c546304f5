"""Licences: how many items have each, and which do not allow copies or are not known to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

from keju.files import shipped_toml
from keju.items import Item
from keju.texts import _

_VERSION = re.compile(r"[-/]v?\d+(?:\.\d+)*(?:[-/][a-z]{2,4})?$")
"""A version at the end of a name or an address, and the country of a ported licence."""


class LicenceCounts:
    """The number of items under each licence; `whole` is that of items without one of their own."""

    def __init__(self, whole: str) -> None:
        self._whole = whole
        self.counts: Counter[str] = Counter()

    def add(self, item: Item) -> None:
        """Add the next item."""
        self.counts.update(_licences_of(item) or [self._whole])

    def list_others(self) -> list[tuple[str, int]]:
        """List the licences that the dataset's does not name, the most frequent first."""
        named = {_normalise_name(part) for part in (self._whole, *self._whole.split(" AND "))}
        counts = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return [pair for pair in counts if _normalise_name(pair[0]) not in named]


def forbids_copies(licence: str) -> str:
    """Explain why copies under a licence are not allowed, or not known to be; empty if they are.

    Of ``A OR B`` one is enough.
    """
    if " OR " in licence:
        reasons = [forbids_copies(part) for part in licence.split(" OR ")]
        return "" if "" in reasons else reasons[0]
    for part in licence.split(" AND "):
        name = _normalise_name(part)
        allowed = _load_licences().get(name, _load_licences().get(_VERSION.sub("", name)))
        if allowed is None:
            return _("keju does not know it")
        if not allowed:
            return _("copies require the permission of the rights holder")
    return ""


def list_restricted(whole: str, items: Iterable[Item]) -> Iterator[tuple[str, str]]:
    """List the licences that forbid copies, or are not known to allow them, each with the reason.

    `whole` is the licence of the whole dataset, which is checked first. The provenance of its
    `items`, which are read as far as needed, may name other licences.
    """
    seen: set[str] = set()
    for licence in chain([whole], chain.from_iterable(map(_licences_of, items))):
        if licence not in seen:
            seen.add(licence)
            if reason := forbids_copies(licence):
                yield licence, reason


def _licences_of(item: Item) -> list[str]:
    return list(dict.fromkeys(step.licence for step in item.provenance if step.licence.strip()))


def _normalise_name(licence: str) -> str:
    """Normalise a wording: case, spaces, ``http://www.``."""
    text = re.sub(r"[\s_]+", "-", licence.strip().casefold()).rstrip("/")
    text = re.sub(r"^https?://(www\.)?", "", text)
    text = re.sub(r"(?<=\d)/(deed|legalcode)[a-z._-]*$", "", text)
    return text.removeprefix("licenseref-")


@cache
def _load_licences() -> dict[str, bool]:
    """Whether copies are allowed, by the names of licences."""
    lists = shipped_toml("keju.datasets", "licences.toml", dict[str, tuple[str, ...]])
    return {name: key == "copies_allowed" for key, names in lists.items() for name in names}

"""The reading order as a file states it, in PAGE-XML and in ALTO 4.3, which took it over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from keju.datasets.readers.xml_parsing import name_of, number

_ORDERED = ("OrderedGroup", "OrderedGroupIndexed")
_UNORDERED = ("UnorderedGroup", "UnorderedGroupIndexed")


class Stated(NamedTuple):
    """The places of lines in the order to read, and whether the file states that order."""

    places: list[int]
    explicit: bool


def stated_order(
    chains: Sequence[tuple[str, ...]], reading_order: etree._Element | None, file: Path
) -> Stated:
    """The order of lines by a file's ReadingOrder, else as they stand in the document.

    Args:
        chains: for each line, in the order of the document, the ids that name it or stand around
            it, innermost first.
        reading_order: the element, if the file has one.
        file: what an error names.

    An ordered group goes by the index of its members, or as written where they bear none (ALTO).
    The members of an unordered group come as they stand in the document; alone it claims no order.
    Where there are several orders (ALTO), the first that claims one counts. A line goes where the
    innermost id that is referred to stands; lines to which nothing refers come last.

    Raises:
        DataError: an index is no number.
    """
    groups = (
        [group for group in reading_order if _claims(group)] if reading_order is not None else []
    )
    if not groups:
        return Stated(list(range(len(chains))), explicit=False)
    places: dict[str, int] = {}
    for place, chain in enumerate(chains):
        for id_ in chain:
            places.setdefault(id_, place)
    rank: dict[str, int] = {}
    for ref in _refs(groups[0], places, file):
        rank.setdefault(ref, len(rank))
    keys = [next((rank[id_] for id_ in chain if id_ in rank), len(rank)) for chain in chains]
    return Stated(sorted(range(len(chains)), key=keys.__getitem__), explicit=bool(rank))


def _claims(group: etree._Element) -> bool:
    return any(name_of(part) in _ORDERED for part in group.iter())


def _refs(group: etree._Element, places: dict[str, int], file: Path) -> list[str]:
    own = (group.get("regionRef") or group.get("REF") or "").split()
    members = list(group)
    if name_of(group) in _ORDERED:
        keys = [_index(member, place, file) for place, member in enumerate(members)]
        members = [members[place] for place in sorted(range(len(members)), key=keys.__getitem__)]
    listed = [_refs(member, places, file) for member in members]
    if name_of(group) in _UNORDERED:
        listed.sort(key=lambda refs: min((places[r] for r in refs if r in places), default=0))
    return own + [ref for refs in listed for ref in refs]


def _index(member: etree._Element, place: int, file: Path) -> float:
    given = member.get("index")
    return place if given is None else number(given, file=file, item="ReadingOrder")

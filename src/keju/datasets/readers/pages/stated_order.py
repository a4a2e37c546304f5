"""The reading order stated in a file, in PAGE-XML and in ALTO 4.3, which adopted it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from keju.datasets.readers.xml_parsing import name_of, number

_ORDERED = ("OrderedGroup", "OrderedGroupIndexed")
_UNORDERED = ("UnorderedGroup", "UnorderedGroupIndexed")


class Stated(NamedTuple):
    """The indices of lines in reading order, and whether the file states that order."""

    places: list[int]
    explicit: bool


def stated_order(
    chains: Sequence[tuple[str, ...]], reading_order: etree._Element | None, file: Path
) -> Stated:
    """The order of lines by a file's ReadingOrder, else document order.

    Args:
        chains: for each line, in document order, the ids of itself and the elements around it,
            innermost first.
        reading_order: the element, if the file has one.
        file: the name for errors.

    An ordered group uses the index of its members, or document order where they have none (ALTO).
    The members of an unordered group are in document order; alone it states no order. Where there
    are several orders (ALTO), the first that states one counts. A line is placed by the innermost
    id that is referenced; unreferenced lines come last.

    Raises:
        DataError: an index is not a number.
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

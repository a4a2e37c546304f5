"""Lines of PAGE-XML and ALTO: ids and types by the regions around them, and the stated order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from keju.datasets.line_kinds import FLOW, kind_of, most_specific_word
from keju.datasets.readers.xml_parsing import name_of, number, parse_xml
from keju.errors import DataError
from keju.items import Line, LineKind, Point
from keju.texts import _

_ORDERED = ("OrderedGroup", "OrderedGroupIndexed")
_UNORDERED = ("UnorderedGroup", "UnorderedGroupIndexed")


class Around(NamedTuple):
    """The regions around a line: ids, innermost first, and types, outermost first."""

    ids: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def inside(self, id_: str, *types: str) -> Around:
        """The context of lines in a region inside this one."""
        return Around((*filter(None, [id_]), *self.ids), (*self.types, *types))

    def line(
        self,
        name: str,
        text: str,
        polygon: tuple[Point, ...],
        kinds: Mapping[str, LineKind] | None,
        types: Sequence[str] = (),
    ) -> Line:
        """A line in this region, its kind by all types around it and its own.

        `kinds` are the user's.

        A `name` that begins with a point is completed with that of the innermost region.
        """
        words = (*self.types, *types)
        return Line(
            id=f"{self.ids[0] if self.ids else 'page'}{name}" if name.startswith(".") else name,
            text=text,
            polygon=polygon,
            kind=kind_of(words, kinds),
            source_kind=most_specific_word(words),
        )


class FoundLine(NamedTuple):
    """A line, and the ids of itself and the regions around it, innermost first."""

    line: Line
    ids: tuple[str, ...]


def in_stated_order(
    found: Sequence[FoundLine], reading_order: etree._Element | None, file: Path
) -> tuple[tuple[Line, ...], bool]:
    """The lines in the order of a file's ReadingOrder, if it has one, and whether it states one.

    An ordered group uses the index of its members, or document order where they have none (ALTO).
    The members of an unordered group are in document order; alone it states no order. Where there
    are several orders (ALTO), the first that places a line counts. A line is placed by the
    innermost id that is referenced; unreferenced lines come last. An order that leaves half of the
    lines of the running text unplaced, as where regions were drawn or deleted later, states none.

    Raises:
        DataError: an index is not a number.
    """
    places: dict[str, int] = {}
    for place, each in enumerate(found):
        for id_ in each.ids:
            places.setdefault(id_, place)
    for group in reading_order if reading_order is not None else ():
        rank: dict[str, int] = {}
        for ref in _refs(group, places, file) if _claims(group) else ():
            rank.setdefault(ref, len(rank))
        keys = [next((rank[id_] for id_ in each.ids if id_ in rank), None) for each in found]
        if all(key is None for key in keys):
            continue
        order = sorted(
            range(len(found)), key=[len(rank) if key is None else key for key in keys].__getitem__
        )
        flow = [
            key is not None
            for each, key in zip(found, keys, strict=True)
            if each.line.text.strip() and each.line.kind in FLOW
        ]
        return tuple(found[place].line for place in order), not flow or 2 * sum(flow) > len(flow)
    return tuple(each.line for each in found), False


def _claims(group: etree._Element) -> bool:
    """Whether a group orders something: an ordered group with more than one unordered group."""
    return any(
        name_of(part) in _ORDERED
        and (len(part) > 1 or any(name_of(member) not in _UNORDERED for member in part))
        for part in group.iter()
    )


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


def root_of(path: Path, root: str, form: str) -> etree._Element:
    """The root element of a file of a format.

    Raises:
        DataError: the file is not well-formed XML, or has another root element.
    """
    found = parse_xml(path)
    if name_of(found) != root:
        raise DataError(
            "the root element is <{}>, not <{}>, so this is not {}",
            name_of(found),
            root,
            form,
            file=path,
            hint=_(
                "Give a folder that contains only {} files, or use the format of this file", form
            ),
        )
    return found

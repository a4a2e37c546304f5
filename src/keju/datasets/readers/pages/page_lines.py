"""Lines of PAGE-XML and ALTO, nested in regions or blocks that provide ids and types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from keju.datasets.line_kinds import kind_of, most_specific_word
from keju.datasets.readers.pages.stated_order import stated_order
from keju.datasets.readers.xml_parsing import name_of, parse_xml
from keju.errors import DataError
from keju.items import Line, LineKind, Point
from keju.messages import message


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
    """The lines in the order that the file states, and whether it states one (`stated_order`)."""
    order = stated_order([each.ids for each in found], reading_order, file)
    return tuple(found[place].line for place in order.places), order.explicit


def root_of(path: Path, root: str, form: str) -> etree._Element:
    """The root element of a file of a format.

    Raises:
        DataError: the file is not well-formed XML, or has another root element.
    """
    found = parse_xml(path)
    if name_of(found) != root:
        raise DataError(
            message("datasets.other-root", found=name_of(found), root=root, form=form), file=path
        )
    return found

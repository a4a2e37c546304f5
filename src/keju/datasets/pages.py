"""`Page`: a page of a transcription file, and the order in which its lines are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from msgspec.structs import replace

from keju.datasets.line_kinds import FLOW, is_specific
from keju.errors import DataError
from keju.items import Line, LineKind, Record
from keju.layout.order import order_lines

TextChoice = Literal["all", "body", "main", "notes"]
"""The selected lines of a page: every line; main text and notes, without marginal text; main text
with titles and authors' names; notes only."""

OrderChoice = Literal["auto", "document", "geometry"]
"""The source of the order: the file where it states one, else geometry; always the file; always
geometry."""

_KINDS: dict[TextChoice, frozenset[LineKind]] = {
    "all": frozenset(get_args(LineKind)),
    "body": FLOW,
    "main": FLOW - {"note"},
    "notes": frozenset({"note"}),
}


class Page(Record, frozen=True, kw_only=True):
    """One page: its lines in the file's order, outlines in pixels of a `width` x `height` image.

    `explicit_order` says that the file states the reading order, so that `lines` follow it; else
    they are in document order. A size of 0 means that the file states none.
    """

    file: str
    image_name: str
    width: float
    height: float
    lines: tuple[Line, ...]
    explicit_order: bool

    def __repr__(self) -> str:
        return f"Page({self.image_name!r}, {len(self.lines)} lines)"


def page_in_reading_order(page: Page, *, order: OrderChoice = "auto") -> tuple[Line, ...]:
    """The lines of a page in reading order.

    By geometry the running text comes first and marginal text (head and foot notes, centre column,
    page numbers, seals) after it. There the kind that the file states is kept; a line without a
    meaningful type gets the kind that the geometry shows.

    Args:
        page: the page.
        order: the source of the order. A line without an outline follows the one before it in the
            file; with ``auto``, a page without any outline keeps the file's order.

    Raises:
        DataError: geometry is requested, but no line has an outline.
    """
    if effective_order(page, order) != "geometry":
        return page.lines
    points = [point for line in page.lines for point in line.polygon]
    if not points:
        raise DataError(
            "no line has an outline, so geometry cannot order them",
            file=page.file,
            hint="Use the document's order",
        )
    # Ids of a file may repeat.
    ordered = order_lines(
        [replace(line, id=str(place)) for place, line in enumerate(page.lines)],
        width=page.width or max(x for x, _ in points),
        height=page.height or max(y for _, y in points),
    )
    lines = []
    for placed in (*ordered.reading, *ordered.marginalia):
        line = page.lines[int(placed.id)]
        has_kind = line.kind != "main" or is_specific(line.source_kind)
        lines.append(line if has_kind else replace(line, kind=placed.kind))
    return tuple(lines)


def effective_order(page: Page, order: OrderChoice) -> Literal["stated", "document", "geometry"]:
    """Which order `page_in_reading_order` uses for that page under that choice."""
    outlined = any(line.polygon for line in page.lines)
    if order == "geometry" or (order == "auto" and outlined and not page.explicit_order):
        return "geometry"
    return "stated" if page.explicit_order else "document"


def select_lines(lines: Iterable[Line], kinds: TextChoice) -> tuple[Line, ...]:
    """The lines of the selected kinds, in their order."""
    return tuple(line for line in lines if line.kind in _KINDS[kinds])

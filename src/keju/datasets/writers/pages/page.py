"""`PageContent`: one page transcribed by an engine, in regions, ready to be written.

Texts are cleaned (`Cleaner`) and outlines are whole pixels inside the image (`outline_within`), so
that a writer only serialises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from keju.items import Line, LineKind

Pixel = tuple[int, int]
Rectangle = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels."""

LANGUAGE = "zh"
"""The language of all transcription tasks (BCP 47)."""

_BREAKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
_INVALID = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

WORDS: dict[LineKind, str] = {
    "note": "note",
    "title": "heading",
    "author": "credit",
    "head": "header",
    "foot": "footer",
    "centre": "running-title",
    "number": "page-number",
    "margin": "marginalia",
    "seal": "seal",
    "other": "other",
}
"""The words for kinds of line in the files; main text has none. The readers recognise them."""

_REGION_OF: dict[LineKind, str] = {
    "main": "paragraph",
    "note": "paragraph",
    "centre": "marginalia",
    "seal": "other",
}
"""Regions whose name differs from the word of their lines' kind; PAGE-XML's names."""


class Engine(NamedTuple):
    """Engine of a page: its name, its version, and other programs with versions, as one text."""

    name: str
    version: str
    settings: str


class PageLine(NamedTuple):
    """A line: text, kind, confidence in 0..1 or None, and position.

    `outline` is empty where the engine gave no valid position. `vertical` means that its characters
    are ordered from top to bottom; None where this is not known.
    """

    text: str
    kind: LineKind
    confidence: float | None
    outline: tuple[Pixel, ...]
    vertical: bool | None

    @property
    def box(self) -> Rectangle:
        """The bounding box of the outline, which must not be empty."""
        return box_around(self.outline)

    @property
    def baseline(self) -> tuple[Pixel, Pixel]:
        """A column's middle axis from head to foot, or a row's lower edge from left to right.

        It is derived from the outline: from its edges where that has four corners, else from its
        bounding box (our reading; keju's engines return no baseline).
        """
        x0, y0, x1, y1 = self.box
        points = sorted(self.outline, key=lambda point: point[1])
        if len(points) != 4:
            points = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)]
        if self.vertical:
            head, foot = _middle(points[:2]), _middle(points[2:])
            return (head, foot) if head != foot else (((x0 + x1) // 2, y0), ((x0 + x1) // 2, y1))
        left, right = sorted(points[2:])
        return (left, right) if left[0] < right[0] else ((x0, y1), (x1, y1))


class Region(NamedTuple):
    """Consecutive lines of one kind of region.

    `box` is their bounding box; None where none of the lines has a position.
    """

    kind: str
    lines: tuple[PageLine, ...]
    box: Rectangle | None
    vertical: bool | None


class PageContent(NamedTuple):
    """One page: its image's name and size in pixels, its regions in reading order, its text.

    `text` is the running text, one row per column; `number` counts the images of an item from 1;
    `created` is a UTC time as XML Schema writes it.
    """

    image: str
    width: int
    height: int
    number: int
    regions: tuple[Region, ...]
    text: str
    engine: Engine
    exporter: str
    created: str


class PageForm(NamedTuple):
    """A format of one page, with the suffix of its files.

    `of_text` means that it contains the page's running text instead of its lines.
    """

    title: str
    suffix: str
    write: Callable[[PageContent], bytes]
    of_text: bool = False


class Cleaner:
    """Replaces characters that XML cannot contain, and counts them in `replaced`."""

    def __init__(self) -> None:
        self.replaced = 0

    def line(self, text: str) -> str:
        """One line: tabs and line breaks become spaces, other control characters U+FFFD."""
        text, breaks = _BREAKS.subn(" ", text)
        text, others = _INVALID.subn("\ufffd", text)
        self.replaced += breaks + others
        return text

    def rows(self, text: str) -> list[str]:
        """A text's rows, each cleaned; the ends of rows are not counted."""
        return [self.line(row) for row in re.split(r"\r\n|\r|\n", text)] if text else []


def page_lines(lines: Iterable[Line], width: int, height: int, cleaner: Cleaner) -> list[PageLine]:
    """An engine's lines, cleaned, with outlines inside an image of that size in pixels.

    A line is vertical if its outline is higher than wide; a line of a single character has the
    direction of the page, which is that of most characters.
    """
    found = [
        PageLine(
            text=cleaner.line(line.text),
            kind=line.kind,
            confidence=_share(line.confidence),
            outline=outline_within(line.polygon, width, height),
            vertical=None,
        )
        for line in lines
    ]
    longer = {at: _is_high(line) for at, line in enumerate(found) if _shows_direction(line)}
    columns = sum(len(found[at].text) * (1 if high else -1) for at, high in longer.items())
    page = columns > 0 if longer else None
    return [
        line._replace(vertical=longer.get(at, page)) if line.outline else line
        for at, line in enumerate(found)
    ]


def rows_as_lines(rows: Iterable[str]) -> list[PageLine]:
    """The rows of a text without line positions, as lines; empty rows are dropped."""
    return [PageLine(row, "main", None, (), None) for row in rows if row.strip()]


def regions_of(lines: Sequence[PageLine]) -> tuple[Region, ...]:
    """The lines in regions, in their order: a new one wherever the kind of region changes.

    Lines without a position are regions of their own.
    """

    def region(line: PageLine) -> tuple[str, bool]:
        return _REGION_OF.get(line.kind) or WORDS[line.kind], bool(line.outline)

    found = []
    for (kind, placed), group in groupby(lines, key=region):
        members = tuple(group)
        points = [point for line in members for point in line.outline]
        columns = sum((1 if line.vertical else -1) * max(1, len(line.text)) for line in members)
        directed = placed and any(line.vertical is not None for line in members)
        found.append(
            Region(kind, members, box_around(points) if placed else None,
                   columns > 0 if directed else None)
        )  # fmt: skip
    return tuple(found)


def outline_within(
    polygon: Sequence[tuple[float, float]], width: int, height: int
) -> tuple[Pixel, ...]:
    """A polygon in whole pixels, clipped at the image's edges; empty if no area is left."""
    if not all(math.isfinite(x) and math.isfinite(y) for x, y in polygon):
        return ()
    points = [(_between(x, width), _between(y, height)) for x, y in polygon]
    kept = tuple(point for at, point in enumerate(points) if point != points[at - 1])
    if len(set(kept)) < 3:
        return ()
    x0, y0, x1, y1 = box_around(kept)
    return kept if x1 > x0 and y1 > y0 else ()


def box_around(points: Iterable[Pixel]) -> Rectangle:
    """The bounding box of at least one point."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _between(value: float, most: int) -> int:
    return round(min(max(value, 0.0), float(most)))


def _middle(points: Sequence[Pixel]) -> Pixel:
    (x0, y0), (x1, y1) = points
    return (x0 + x1) // 2, (y0 + y1) // 2


def _is_high(line: PageLine) -> bool:
    x0, y0, x1, y1 = line.box
    return y1 - y0 > x1 - x0


def _shows_direction(line: PageLine) -> bool:
    return bool(line.outline) and len(line.text.strip()) > 1


def _share(value: float | None) -> float | None:
    """A confidence in 0..1, or None where it is not a number."""
    return None if value is None or math.isnan(value) else min(max(value, 0.0), 1.0)

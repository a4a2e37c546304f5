"""`PAGE_FORMS`: writers of one page, as PAGE-XML, ALTO and hOCR; plain text needs none.

Lines have clean texts (`clean`) and outlines of whole pixels inside the image (`outline_within`);
the forms are the templates in ``assets``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

import jinja2

from keju.items import Line, LineKind

Pixel = tuple[int, int]
Rectangle = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels."""

_BREAKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
_INVALID = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

_WORDS: dict[LineKind, tuple[str, str]] = {
    "main": ("", "paragraph"),
    "note": ("note", "paragraph"),
    "title": ("heading", "heading"),
    "author": ("credit", "credit"),
    "head": ("header", "header"),
    "foot": ("footer", "footer"),
    "centre": ("running-title", "marginalia"),
    "number": ("page-number", "page-number"),
    "margin": ("marginalia", "marginalia"),
    "seal": ("seal", "other"),
    "other": ("other", "other"),
}
"""The words for kinds of line in the files, which the readers recognise, and for their regions,
which are PAGE-XML's."""


class PageLine(NamedTuple):
    """A line: clean text, kind, confidence in 0..1 or None, and position.

    `outline` is empty where the engine gave no valid position. `vertical` means that its characters
    are ordered from top to bottom; None where this is not known.
    """

    text: str
    kind: LineKind = "main"
    confidence: float | None = None
    outline: tuple[Pixel, ...] = ()
    vertical: bool | None = None

    @property
    def word(self) -> str:
        """The word for its kind; empty for main text."""
        return _WORDS[self.kind][0]

    @property
    def box(self) -> Rectangle:
        """The bounding box of the outline, which must not be empty."""
        return _box_around(self.outline)

    @property
    def baseline(self) -> tuple[Pixel, Pixel]:
        """A column's middle axis from head to foot, or a row's lower edge from left to right.

        It is derived from the outline: from its edges where that has four corners, else from its
        bounding box (our reading; keju's engines return no baseline).
        """
        x0, y0, x1, y1 = self.box
        corners = sorted(self.outline, key=lambda corner: corner[1])
        if len(corners) != 4:
            corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)]
        if self.vertical:
            head, foot = (
                ((left + right) // 2, (upper + lower) // 2)
                for (left, upper), (right, lower) in (corners[:2], corners[2:])
            )
            return (head, foot) if head != foot else (((x0 + x1) // 2, y0), ((x0 + x1) // 2, y1))
        left, right = sorted(corners[2:])
        return (left, right) if left[0] < right[0] else ((x0, y1), (x1, y1))


class PageForm(NamedTuple):
    """A format of one page: the suffix of its files, and its template; empty for plain text."""

    suffix: str
    template: str = ""

    def write(self, lines: Iterable[PageLine], **page: object) -> bytes:
        """The file of a page, with a new region wherever kind or direction of its lines change.

        Args:
            lines: the lines in reading order.
            page: the name of its `image`, `width` and `height` in pixels, its `number` among the
                images of an item, from 1 on; name and `version` of the `engine`, the `exporter`,
                and `created`, a UTC time as XML Schema writes it.
        """
        regions, words = list[dict[str, object]](), set[str]()
        for (kind, vertical, has_place), group in groupby(lines, key=_region_of):
            members = list(group)
            words.update(line.word for line in members if line.word)
            corners = [corner for line in members for corner in line.outline]
            box = _box_around(corners) if has_place else None
            regions.append({"kind": kind, "vertical": vertical, "lines": members, "box": box})
        template = _templates().get_template(self.template)
        # The language is that of all transcription tasks (BCP 47).
        return template.render(
            page=page, words=sorted(words), regions=regions, language="zh"
        ).encode()


PAGE_FORMS: Mapping[str, PageForm] = {
    "page-xml": PageForm(".xml", "page-xml.xml.j2"),
    "alto": PageForm(".xml", "alto.xml.j2"),
    "hocr": PageForm(".hocr", "hocr.html.j2"),
    "txt": PageForm(".txt"),
}
"""The formats of one page, by name."""


def clean(text: str) -> str:
    """One line without what XML cannot contain, of the same length.

    Tabs and line breaks become spaces, other control characters U+FFFD.
    """
    return _INVALID.sub("\ufffd", _BREAKS.sub(" ", text))


def page_lines(lines: Iterable[Line], width: int, height: int) -> list[PageLine]:
    """An engine's lines, cleaned, with outlines inside an image of that size in pixels.

    A line is vertical if its outline is higher than wide; a line of a single character has the
    direction of the page, which is that of most characters.
    """
    outlined = [
        PageLine(
            clean(line.text),
            line.kind,
            line.confidence,
            outline_within(line.polygon, width, height),
        )
        for line in lines
    ]
    directions = dict[int, bool]()
    columns = 0
    for place, line in enumerate(outlined):
        if line.outline and len(line.text.strip()) > 1:
            x0, y0, x1, y1 = line.box
            directions[place] = y1 - y0 > x1 - x0
            columns += len(line.text) if directions[place] else -len(line.text)
    usual = columns > 0 if directions else None
    return [
        line._replace(vertical=directions.get(place, usual)) if line.outline else line
        for place, line in enumerate(outlined)
    ]


def outline_within(
    polygon: Sequence[tuple[float, float]], width: int, height: int
) -> tuple[Pixel, ...]:
    """A polygon in whole pixels, clipped at the image's edges; empty if no area is left."""
    if not all(math.isfinite(x) and math.isfinite(y) for x, y in polygon):
        return ()
    corners = [
        (round(min(max(x, 0.0), float(width))), round(min(max(y, 0.0), float(height))))
        for x, y in polygon
    ]
    outline = tuple(corner for place, corner in enumerate(corners) if corner != corners[place - 1])
    if len(set(outline)) < 3:
        return ()
    x0, y0, x1, y1 = _box_around(outline)
    return outline if x1 > x0 and y1 > y0 else ()


def _region_of(line: PageLine) -> tuple[str, bool | None, bool]:
    return _WORDS[line.kind][1], line.vertical, bool(line.outline)


def _box_around(points: Iterable[Pixel]) -> Rectangle:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        loader=jinja2.PackageLoader("keju.datasets.writers", "assets"),
    )
    # Points as PAGE-XML and ALTO write them.
    environment.filters["points"] = lambda points: " ".join(f"{x},{y}" for x, y in points)
    return environment

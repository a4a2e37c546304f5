"""The reading order of a page's lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from keju.items import Line, LineKind, Record
from keju.layout.asides import ASIDE_KINDS, find_centre, find_margins
from keju.layout.boxes import Boxes, outline, straighten
from keju.layout.columns import cut_columns
from keju.layout.notes import find_notes
from keju.layout.pitch import measure_pitch
from keju.layout.sequence import order_column
from keju.layout.skew import estimate_skew


class PageOrder(Record, frozen=True):
    """A page's lines in reading order.

    `reading` is the running text: main text, titles, authors, and notes in place. `asides` are
    head- and foot-margin notes, the centre column, page numbers and seals, right to left and from
    top to bottom. Together they are the lines given, each once, with `kind` corrected where the
    geometry shows what the source didn't say: ``note`` for half of a double-row note; ``centre``,
    ``head`` or ``foot`` for an aside.
    """

    reading: tuple[Line, ...]
    asides: tuple[Line, ...]


def order_lines(lines: Sequence[Line], *, width: float, height: float) -> PageOrder:
    """Put the lines of a page into reading order.

    Args:
        lines: the lines in any order, with outlines in pixels of the page. A line without an
            outline follows the line that comes before it in `lines`.
        width: width of the page in the same pixels.
        height: height of the page in the same pixels.

    Returns:
        The running text and, apart from it, the asides; the rules are those of `keju.layout`.
    """
    placed = [at for at, line in enumerate(lines) if outline(line.polygon) is not None]
    found = _analyse([lines[at] for at in placed], width)
    reading = [placed[at] for column in found.columns for at in column]
    asides = [placed[at] for at in found.asides]
    kinds = {placed[at]: kind for at, kind in found.kinds.items()}
    _put_unplaced(lines, set(placed), reading, asides)
    return PageOrder(
        reading=tuple(_with_kind(lines[at], kinds.get(at)) for at in reading),
        asides=tuple(_with_kind(lines[at], kinds.get(at)) for at in asides),
    )


def group_columns(lines: Sequence[Line]) -> list[list[Line]]:
    """The columns of a page, right to left, each from its first line to its last.

    Every line that has an outline is in exactly one column, whatever its kind; no line is taken
    for an aside. Lines without an outline are left out.
    """
    placed = [line for line in lines if outline(line.polygon) is not None]
    boxes = straighten(placed, estimate_skew(placed))
    columns = cut_columns(boxes, measure_pitch(boxes))
    return [[placed[at] for at in order_column(boxes, column.members)] for column in columns]


class _Found(NamedTuple):
    columns: list[list[int]]
    asides: list[int]
    kinds: dict[int, LineKind]


def _analyse(lines: Sequence[Line], width: float) -> _Found:
    """Order lines that all have outlines: places of the columns' lines, and of the asides."""
    boxes = straighten(lines, estimate_skew(lines))
    named = {line.kind for line in lines}
    text = [at for at, line in enumerate(lines) if line.kind not in ASIDE_KINDS]
    marks = [at for at, line in enumerate(lines) if line.kind in {"number", "margin"}]
    kinds: dict[int, LineKind] = {}
    # A source that names its head notes, or its centre column, is believed to name them all.
    if text and not named & {"head", "foot"}:
        some = boxes.take(text)
        margins = find_margins(some, measure_pitch(some))
        kinds |= {text[at]: kind for at, kind in margins.items()}
        text = [at for at in text if at not in kinds]
    some = boxes.take(text)
    pitch = measure_pitch(some, [at for at, i in enumerate(text) if lines[i].kind == "note"])
    columns = cut_columns(some, pitch)
    if "centre" not in named:
        centre = find_centre(some, columns, pitch, marks=boxes.take(marks), width=width)
        kinds |= {text[at]: "centre" for column in centre for at in column.members}
        columns = [column for column in columns if column not in centre]
    kinds |= {text[at]: "note" for at in find_notes(some, columns, pitch)}
    ordered = [[text[at] for at in order_column(some, column.members)] for column in columns]
    asides = sorted(set(range(len(lines))) - {at for column in ordered for at in column})
    return _Found(ordered, _order_asides(boxes, asides), kinds)


def _order_asides(boxes: Boxes, asides: list[int]) -> list[int]:
    if not asides:
        return []
    some = boxes.take(asides)
    columns = cut_columns(some, measure_pitch(some))
    return [asides[at] for column in columns for at in order_column(some, column.members)]


def _put_unplaced(
    lines: Sequence[Line], placed: Collection[int], reading: list[int], asides: list[int]
) -> None:
    """Insert the lines without an outline behind their predecessors in the source."""
    for at, line in enumerate(lines):
        if at in placed:
            continue
        before = asides if at - 1 in asides else reading
        if line.kind in ASIDE_KINDS and before is reading:
            asides.append(at)
        else:
            before.insert(before.index(at - 1) + 1 if at - 1 in before else 0, at)


def _with_kind(line: Line, kind: LineKind | None) -> Line:
    """The line with the kind that the geometry found, unless the source knew better."""
    if kind is None or line.kind == kind:
        return line
    if kind == "note" and line.kind != "main":
        return line
    return replace(line, kind=kind)

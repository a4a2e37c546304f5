"""The reading order of a page's lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from keju.items import Line, LineKind, Record
from keju.layout.boxes import Boxes, outline, rotate, straighten
from keju.layout.column_grid import measure_column_grid
from keju.layout.columns import cut_columns
from keju.layout.marginalia import MARGINAL_KINDS, find_centre, find_margins
from keju.layout.notes import find_notes
from keju.layout.sequence import order_column
from keju.layout.skew import estimate_skew


class PageOrder(Record, frozen=True, kw_only=True):
    """A page's lines in reading order.

    `reading` is the running text: main text, titles, authors, and notes in place. `marginalia` are
    head- and foot-margin notes, the centre column, page numbers and seals, right to left and from
    top to bottom. Together they are the given lines, each once, with `kind` corrected where the
    geometry shows what the source does not label: ``note`` for half of a double-row note;
    ``centre``, ``head`` or ``foot`` for a marginal line.
    """

    reading: tuple[Line, ...]
    marginalia: tuple[Line, ...]


def order_lines(lines: Sequence[Line], *, width: float, height: float) -> PageOrder:
    """Put the lines of a page into reading order.

    Args:
        lines: the lines in any order, with outlines in pixels of the page. A line without an
            outline follows the line that comes before it in `lines`.
        width: width of the page in the same pixels.
        height: height of the page in the same pixels.

    Returns:
        The running text and the marginalia; the rules are those of `keju.layout`.
    """
    placed = _placed(lines)
    drawn_lines = [lines[at] for at in placed]
    skew = estimate_skew(drawn_lines)
    boxes = straighten(drawn_lines, skew)
    labels = {line.kind for line in drawn_lines}
    text = [at for at, line in enumerate(drawn_lines) if line.kind not in MARGINAL_KINDS]
    kinds: dict[int, LineKind] = {}
    # A source that labels head notes, or the centre column, is assumed to label all of them.
    if not labels & {"head", "foot"}:
        part = boxes.take(text)
        margins = find_margins(part, measure_column_grid(part))
        kinds |= {text[at]: kind for at, kind in margins.items()}
        text = [at for at in text if at not in kinds]
    if "centre" not in labels:
        part = boxes.take(text)
        grid = measure_column_grid(part, _notes(drawn_lines, text))
        middle = rotate(width / 2, height / 2, skew)[0]
        centre = find_centre(part, cut_columns(part, grid), grid, middle=middle, width=width)
        kinds |= {text[at]: "centre" for column in centre for at in column.members}
        text = [at for at in text if at not in kinds]
    columns, notes = _columns(drawn_lines, boxes, text)
    kinds |= dict.fromkeys(notes, "note")
    margin_columns, _ = _columns(
        drawn_lines, boxes, sorted(set(range(len(drawn_lines))) - set(text))
    )
    reading = [placed[at] for column in columns for at in column]
    marginalia = [placed[at] for column in margin_columns for at in column]
    _put_unplaced(lines, set(placed), reading, marginalia)
    kind_of = {placed[at]: kind for at, kind in kinds.items()}
    return PageOrder(
        reading=tuple(_with_kind(lines[at], kind_of.get(at)) for at in reading),
        marginalia=tuple(_with_kind(lines[at], kind_of.get(at)) for at in marginalia),
    )


def group_columns(lines: Sequence[Line]) -> list[list[Line]]:
    """The columns of a page in reading order, each from its first line to its last.

    Every line that has an outline is in exactly one column, whatever its kind; no line counts as an
    marginalia. Lines without an outline are skipped.
    """
    return [[lines[at] for at in column] for column in _grouped(lines)]


def page_text(lines: Sequence[Line]) -> str:
    r"""The text of lines in reading order, one row per column of the page.

    Args:
        lines: the lines, e.g. `PageOrder.reading`. Their order is kept; their outlines only
            determine which of them share a column. A line without an outline is a row of its own.

    Returns:
        Rows joined with ``"\n"``; lines without text are skipped.
    """
    column_of = {at: name for name, column in enumerate(_grouped(lines)) for at in column}
    rows: list[str] = []
    last = -1
    for at, line in enumerate(lines):
        if not line.text:
            continue
        column = column_of.get(at, -1)
        if column == last >= 0:
            rows[-1] += line.text
        else:
            rows.append(line.text)
        last = column
    return "\n".join(rows)


def _placed(lines: Sequence[Line]) -> list[int]:
    return [at for at, line in enumerate(lines) if outline(line.polygon) is not None]


def _grouped(lines: Sequence[Line]) -> list[list[int]]:
    placed = _placed(lines)
    some = [lines[at] for at in placed]
    columns, _ = _columns(some, straighten(some, estimate_skew(some)), list(range(len(some))))
    return [[placed[at] for at in column] for column in columns]


def _columns(
    lines: Sequence[Line], boxes: Boxes, text: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """The columns of these lines, in reading order, and which lines are halves of notes."""
    some = boxes.take(text)
    grid = measure_column_grid(some, _notes(lines, text))
    columns = cut_columns(some, grid)
    notes = [text[at] for at in find_notes(some, columns, grid)]
    ordered = [[text[at] for at in order_column(some, column.members)] for column in columns]
    return ordered, notes


def _notes(lines: Sequence[Line], places: Sequence[int]) -> list[int]:
    """Which of these lines the source labels as a note."""
    return [at for at, place in enumerate(places) if lines[place].kind == "note"]


def _put_unplaced(
    lines: Sequence[Line], placed: Collection[int], reading: list[int], marginalia: list[int]
) -> None:
    """Insert the lines without an outline after their predecessors in the source."""
    for at, line in enumerate(lines):
        if at in placed:
            continue
        before = marginalia if at - 1 in marginalia else reading
        if line.kind in MARGINAL_KINDS and before is reading:
            marginalia.append(at)
        else:
            before.insert(before.index(at - 1) + 1 if at - 1 in before else 0, at)


def _with_kind(line: Line, kind: LineKind | None) -> Line:
    """The line with the kind that the geometry found, unless the source has a more specific one."""
    if kind is None or line.kind == kind or (kind == "note" and line.kind != "main"):
        return line
    return replace(line, kind=kind)

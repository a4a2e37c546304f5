"""The boxes that a response gives, in whatever notation, in the convention that was asked for."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from keju.metrics.boxes import Axes
from keju.scoring.box_notations import BRACKETED, FOUR, NUMBER, as_lists
from keju.scoring.extraction import Extracted, body_of
from keju.scoring.numeric_answer import extract_count
from keju.scoring.wordings import fold, wording
from keju.text import to_half_width

MOST = 5_000
"""Maximum number of boxes of an answer; no image has more characters."""

Row = tuple[float, float, float, float]

_BARE = re.compile(
    rf"^[ \t]*(?:[-*•]\s*)?(?:[^\n\[\](){{}}<>]{{0,60}}?[:：]\s*|\d{{1,4}}[.)、]\s+)?"
    rf"{FOUR}[ \t]*[.。;；,，]?[ \t]*$",
    re.MULTILINE,
)
_SENTENCES = re.compile(
    r"[^。.!?！？\n]*(?:\.(?=[^\s])[^。.!?！？\n]*)*(?:[。!?！？\n]|\.(?=\s|$)|$)"
)
_WHOLE = re.compile(rf"\s*{FOUR}\s*")
_CELL = rf"[ \t]*({NUMBER})[ \t]*\|"
_IN_TABLE = re.compile(rf"^[ \t]*\|(?:[^|\n]{{0,60}}\|)?{_CELL * 4}[ \t]*$", re.MULTILINE)
_TAGGED = re.compile(
    r"<(?:\|box_start\||box|bbox)>(?P<inside>[^<]{0,4000})<(?:\|box_end\||/box|/bbox)>",
    re.IGNORECASE,
)
_LOCATIONS = re.compile(r"<loc_?(\d{1,5})>" * 4)
_FENCED = re.compile(r"```[A-Za-z0-9]*[ \t]*\n(?P<inside>.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_EDGES = {
    name: edge
    for edge, names in enumerate((
        ("xmin", "x_min", "x1", "x0", "left"), ("ymin", "y_min", "y1", "y0", "top"),
        ("xmax", "x_max", "x2", "right"), ("ymax", "y_max", "y2", "bottom"),
    ))
    for name in names
}  # fmt: skip
_SIDES = {"x": 0, "y": 1, "width": 2, "w": 2, "height": 3, "h": 3}
_NAMED = re.compile(
    rf"(?<![A-Za-z0-9_])(?P<name>{'|'.join(_EDGES)})[\"'*`]?\s{{0,3}}[:=：]\s{{0,3}}"
    rf"(?P<value>{NUMBER})(?![\d.]\d)",
    re.IGNORECASE,
)
_POINTS = re.compile(r"<points?\b[^<>]{0,4000}>")
"""Points of a model that marks places, not boxes."""
_OPENS_JSON = re.compile(r"^[ \t]*[{\[]\s*[{\[\"]", re.MULTILINE)
_DEEPEST = 12
_MOST_CORRECTIONS = 3
_OF_THE_FORMAT = re.compile(
    r"(?:尺寸|大小|分辨率|范围|格式|(?:image|page) (?:size|dimensions?)|resolution|format)"
    r"[^\[\]\n。;；]{0,16}[\[(（][^\[\]()（）\n]{1,40}[\])）]",
    re.IGNORECASE,
)
_ROWS = re.compile(r"[;；。]\s*")


class BoxList(NamedTuple):
    """Boxes as a response gives them.

    Attributes:
        rows: four numbers each, in the axes that were asked for; None where nothing could be
            read. An empty tuple is a response that says there are none.
        extracted: the rows as text, the rule by which they were found, and where.
    """

    rows: tuple[Row, ...] | None
    extracted: Extracted


def extract_boxes(text: str, axes: Axes) -> BoxList:
    """All boxes that a response lists after its reasoning.

    Notations, in order; the first that gives a box decides, and all boxes in it are taken: JSON
    (alone, or in code fences; lists of four numbers, or objects with named edges, at any depth),
    ``<box>`` tags, ``[a, b, c, d]`` in running text, named edges in running text (xmin=1 …), lines
    of four numbers, rows of a Markdown table. Four numbers mean what the query declared; only where
    the response names the edges itself do the names count. Nothing is inferred from the values.

    Args:
        text: the response.
        axes: the order of the four numbers that the query declared.
    """
    body = to_half_width(body_of(text))
    if not body.strip():
        rule = "no answer after the reasoning" if text.strip() else "empty"
        return BoxList(None, Extracted(None, rule))
    for rule, read in _RULES:
        rows = read(body, axes)
        if rows is not None:
            return _checked(rows, rule, body)
    return BoxList(None, Extracted(None, "no box found"))


def extract_any_boxes(text: str, axes: Axes) -> BoxList:
    """As `extract_boxes`, and where that finds none, boxes in further notations (`strict`).

    Two corners, each in brackets ([[1, 2], [3, 4]]; (1,2)-(3,4); 左上角(1,2)，右下角(3,4)), where
    the query declared corners; numbers with px, or as strings; rows parted by semicolons.
    """
    text = _POINTS.sub(" ", _OF_THE_FORMAT.sub(" ", _corrected(text)))
    rest = _without_others(text)
    if rest != text and (others := extract_any_boxes(rest, axes)).rows:
        return others
    found = extract_boxes(text, axes)
    if found.rows is not None or found.extracted.rule != "no box found":
        return found
    if (rows := _embedded(to_half_width(body_of(text)), axes)) is not None:
        return _checked(rows, "JSON in the text", text)
    plain = as_lists(to_half_width(body_of(text)), axes)
    again = extract_boxes(plain, axes)
    if again.rows is None:
        again = extract_boxes(_ROWS.sub("\n", plain), axes)
    return again


def _embedded(body: str, axes: Axes) -> list[Row] | None:
    """The boxes of a JSON object or list after other words."""
    start = _OPENS_JSON.search(body)
    if start is None:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(body, start.start())
    except (ValueError, RecursionError):
        return None
    return _in_json(value, axes) or None


def _without_others(text: str) -> str:
    """The text without sentences on boxes that are not the answer."""
    return "".join(
        each
        for each in _SENTENCES.findall(text)
        if not (BRACKETED.search(each) and wording("discourse", "box_of_others").search(fold(each)))
    )


def _corrected(text: str) -> str:
    """The text after a correction if boxes follow it, else the whole text."""
    body = body_of(text)
    flat = fold(body)
    corrections = list(wording("discourse", "correction").finditer(flat))
    for found in reversed(corrections[-_MOST_CORRECTIONS:]):
        start = max(body.rfind(mark, 0, found.start()) for mark in "。；;\n") + 1
        replaced = BRACKETED.search(body, start, found.start())
        if replaced and BRACKETED.match(body, found.end() + body[found.end() :].find("[")):
            return body[:start] + body[found.end() :]
        if BRACKETED.search(body, found.end()) and BRACKETED.search(body, 0, found.start()):
            return body[found.end() :]
    return text


def extract_count_beside(text: str, axes: Axes) -> Extracted:
    """How many things a response counts that was asked for their boxes in the same prompt.

    The number that its words state, without code fences and lines with boxes; where they state
    none, the number of boxes that it lists. Our reading: the authors' script for Gemini asks both
    at once and reads the boxes alone.
    """
    words = "\n".join(
        line
        for line in _without_fences(to_half_width(body_of(text))).splitlines()
        if not _has_box(line)
    )
    stated = extract_count(words)
    if stated.answer is not None:
        return stated
    rows = extract_boxes(text, axes).rows
    if rows is None:
        return extract_count(text) if not words.strip() else stated
    return Extracted(str(len(rows)), "number of boxes listed", text[:80])


def _without_fences(body: str) -> str:
    """A text without code fences and box tags."""
    return _TAGGED.sub(" ", _FENCED.sub(" ", body))


def _has_box(line: str) -> bool:
    return bool(
        BRACKETED.search(line)
        or _BARE.match(line)
        or _IN_TABLE.match(line)
        or _NAMED.search(line)
        or (line.strip().startswith(("{", "[", "}", "]")))
    )


def _checked(rows: Sequence[Row], rule: str, body: str) -> BoxList:
    if len(rows) > MOST:
        return BoxList(None, Extracted(None, f"more than {MOST:,} boxes"))
    said = "[" + ", ".join("[" + ", ".join(f"{x:.10g}" for x in row) + "]" for row in rows) + "]"
    return BoxList(tuple(rows), Extracted(said, rule, body))


def _from_json(body: str, axes: Axes) -> list[Row] | None:
    value = _decoded(body)
    return None if value is None else _in_json(value, axes)


def _from_fences(body: str, axes: Axes) -> list[Row] | None:
    """The boxes of all code fences together; text in one that is no JSON is read as text."""
    rows: list[Row] | None = None
    for fence in _FENCED.finditer(body):
        for read in (_from_json, _bracketed, _named, _bare):
            found = read(fence["inside"], axes)
            if found is not None:
                rows = (rows or []) + found
                break
    return rows


def _decoded(text: str) -> object:
    core = text.strip()
    if not core.startswith(("{", "[")):
        return None
    try:
        value: object = msgspec.json.decode(core.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value


def _in_json(value: object, axes: Axes) -> list[Row] | None:
    """The boxes in decoded JSON; None where it holds something, but no box."""
    rows = list(_walk(value, axes, 0))
    return rows if rows or _says_none(value) else None


def _says_none(value: object) -> bool:
    """``[]``, ``{"boxes": []}``."""
    if isinstance(value, dict):
        return any(each == [] for each in value.values())
    return value == []


def _walk(value: object, axes: Axes, depth: int) -> Iterator[Row]:
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield from _bracketed(value, axes) or _of_matches(_WHOLE, value) or []
    elif isinstance(value, list):
        row = _row(value)
        if row:
            yield row
        else:
            for each in value:
                yield from _walk(each, axes, depth + 1)
    elif isinstance(value, dict):
        row = _of_names(value, axes)
        if row:
            yield row
        else:
            for each in value.values():
                yield from _walk(each, axes, depth + 1)


def _row(values: Sequence[object]) -> Row | None:
    if len(values) != 4:
        return None
    numbers = [_float(x) for x in values if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(numbers) != 4:
        return None
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _of_names(value: dict[object, object], axes: Axes) -> Row | None:
    """A box from an object whose keys name its edges, or a corner and its size."""
    for names, sized in ((_EDGES, False), (_SIDES, True)):
        found = {names[k]: value[key] for key in value if (k := str(key).lower()) in names}
        row = _row([found.get(place) for place in range(4)])
        if row:
            left, top, third, fourth = row
            right, bottom = (left + third, top + fourth) if sized else (third, fourth)
            return _in_axes((left, top, right, bottom), axes)
    return None


def _in_axes(edges: Row, axes: Axes) -> Row:
    """Left, top, right, bottom in the order that was asked for."""
    left, top, right, bottom = edges
    match axes:
        case "xyxy":
            return edges
        case "yxyx":
            return top, left, bottom, right
        case "xywh":
            return left, top, right - left, bottom - top
        case "cxcywh":
            return (left + right) / 2, (top + bottom) / 2, right - left, bottom - top


def _tagged(body: str, axes: Axes) -> list[Row] | None:
    """``<box>(1,2),(3,4)</box>`` and ``<box>[[1, 2, 3, 4]]</box>``."""
    del axes
    rows: list[Row] = []
    for tag in _TAGGED.finditer(body):
        numbers = [float(each) for each in re.findall(NUMBER, tag["inside"])]
        if len(numbers) % 4 == 0:
            rows += [row for at in range(0, len(numbers), 4) if (row := _row(numbers[at : at + 4]))]
    return rows or None


def _bracketed(body: str, axes: Axes) -> list[Row] | None:
    del axes
    return _of_matches(BRACKETED, body)


def _tabled(body: str, axes: Axes) -> list[Row] | None:
    """Rows of a Markdown table of four numbers, or of a name and four numbers."""
    del axes
    return _of_matches(_IN_TABLE, body)


def _bare(body: str, axes: Axes) -> list[Row] | None:
    del axes
    return _of_matches(_BARE, body)


def _of_matches(pattern: re.Pattern[str], body: str) -> list[Row] | None:
    found = (_row([float(each) for each in match.groups()]) for match in pattern.finditer(body))
    return [row for row in found if row] or None


def _named(body: str, axes: Axes) -> list[Row] | None:
    """Four named edges one after the other, in any order; edges that remain are not a box."""
    rows: list[Row] = []
    edges: dict[int, float] = {}
    for match in _NAMED.finditer(body):
        place = _EDGES[match["name"].lower()]
        if place in edges:
            edges = {}
        edges[place] = float(match["value"])
        row = _row([edges.get(each) for each in range(4)])
        if row:
            rows.append(_in_axes(row, axes))
            edges = {}
    return rows or None


def _located(body: str, axes: Axes) -> list[Row] | None:
    """``<loc_1><loc_2><loc_3><loc_4>``."""
    del axes
    return _of_matches(_LOCATIONS, body)


_RULES: tuple[tuple[str, Callable[[str, Axes], list[Row] | None]], ...] = (
    ("JSON", _from_json),
    ("code fence", _from_fences),
    ("box tags", _tagged),
    ("location tokens", _located),
    ("lists in the text", _bracketed),
    ("named edges", _named),
    ("lines of four numbers", _bare),
    ("table", _tabled),
)

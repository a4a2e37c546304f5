"""Boxes in the usual notations of models; named edges and sizes are put into the asked order."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from keju.extraction.answer import Answer, Reading, behind_last, plain, sentences_of, unclear
from keju.extraction.words import fold, has, words
from keju.metrics.boxes import Axes, BoxConvention, from_pixels

MOST = 5_000
"""Maximum number of boxes of an answer; no image has more characters."""

Box = tuple[float, float, float, float]

_DEEPEST = 12
_NUMBER = r"[\"']?(-?\d{1,9}(?:\.\d{1,9})?)(?:px)?[\"']?"
_COMMA = r"\s{0,3},\s{0,3}"
_FOUR = _COMMA.join([_NUMBER] * 4)
_PAIR = rf"[(\[]\s{{0,3}}(?:x\d?\s?=\s?)?{_NUMBER}{_COMMA}(?:y\d?\s?=\s?)?{_NUMBER}\s{{0,3}}[)\]]"
_LABEL = r"(?:[-*•]\s)?(?:[^\n\[\](){}<>|]{0,40}?:\s?|\d{1,4}[.)、]\s)?"
_BETWEEN = r"(?:[\s,;\"']|with|and|px|像素|height|top){0,12}?"


def _keyed(*keys: str) -> str:
    """The pattern of four numbers, each with its key (x=1, "y": 2)."""
    return _BETWEEN.join(
        rf"[\"']?\b(?:{key})[\"']?\s{{0,3}}[:=是为]\s{{0,3}}{_NUMBER}" for key in keys
    )


_NOTATIONS = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rf"[\[(]\s{{0,3}}{_FOUR}\s{{0,3}}[\])]",
        rf"{_PAIR}[^()\[\]\d]{{0,24}}{_PAIR}",
        r"\|[ \t]*".join(["", *[rf"{_NUMBER}[ \t]*"] * 4]) + r"\|?[ \t]*$",
        r"<loc_?(\d{1,5})>" * 4,
        rf"^[ \t]*{_LABEL}{_FOUR}[ \t]*[.;]?[ \t]*$",
    )
)
"""[1, 2, 3, 4]; (1, 2), (3, 4); | 1 | 2 | 3 | 4 |; <loc_1><loc_2>…; a line of four numbers."""
_EDGES = re.compile(
    _keyed("x_?1|x_?min|x0|left", "y_?1|y_?min|y0|top", "x_?2|x_?max|right", "y_?2|y_?max|bottom"),
    re.IGNORECASE,
)
_SIZED = re.compile(
    _keyed("x", "y", "width|w|宽度?", "height|h|高度?")
    + rf"|{_PAIR}{_BETWEEN}"
    + _keyed("width|w|宽度?", "height|h|高度?"),
    re.IGNORECASE,
)
_EDGE_KEYS = (
    ("xmin", "x_min", "x1", "x0", "left"), ("ymin", "y_min", "y1", "y0", "top"),
    ("xmax", "x_max", "x2", "right"), ("ymax", "y_max", "y2", "bottom"),
)  # fmt: skip
_SIZE_KEYS = (("x",), ("y",), ("width", "w"), ("height", "h"))


def read(answer: Answer) -> Reading:
    """The boxes of the response, in the order given, as JSON; ``[]`` where it says none."""
    boxes = list(_in_json(answer.json, answer.axes, 0))
    if answer.json in ([], {}) or (isinstance(answer.json, dict) and [] in answer.json.values()):
        return Reading("read", "[]", "empty list", answer.body)
    kinds = [boxes] if boxes else list(_in_text(answer))
    if len(kinds) != 1:
        return unclear("several" if kinds else "silent")
    if len(kinds[0]) > MOST:
        return unclear("too many")
    corners = answer.axes in ("xyxy", "yxyx")
    if corners and not all(
        first < third and second < fourth for first, second, third, fourth in kinds[0]
    ):
        return unclear("order")
    rows = ", ".join("[" + ", ".join(f"{edge:.10g}" for edge in box) + "]" for box in kinds[0])
    return Reading("read", f"[{rows}]", "JSON" if boxes else "text", answer.body[:200])


def _in_text(answer: Answer) -> Iterator[list[Box]]:
    """The boxes of each notation that the text uses, without those that it only mentions."""
    body = re.sub(r"</?(?:bbox|box)>|<\|?/?[a-z_]+\|?>|<points?\b[^<>]*>", "\n", answer.body)
    text = words("box_replaced").sub("", behind_last("correction", fold(plain(body))))
    text = "\n".join(
        sentence for sentence in sentences_of(text) if not has("draft box_format", sentence)
    )
    text = re.sub(r"(?<=\d);\s?(?=\d)", "\n", text)
    text = re.sub(r"(?<=\d) (?=\d)", ", ", text)
    for notation in _NOTATIONS:
        if boxes := [_box(match) for match in notation.findall(text)]:
            yield boxes
            break
    if boxes := [_in_axes(_box(match), answer.axes) for match in _EDGES.findall(text)]:
        yield boxes
    sized = [[float(edge) for edge in match if edge] for match in _SIZED.findall(text)]
    if boxes := [
        _in_axes((x, y, x + width, y + height), answer.axes) for x, y, width, height in sized
    ]:
        yield boxes


def _box(numbers: tuple[str, ...]) -> Box:
    left, top, right, bottom = map(float, numbers)
    return left, top, right, bottom


def _in_json(value: object, axes: Axes, depth: int) -> Iterator[Box]:
    """The boxes in decoded JSON: lists of four numbers, and objects with edges or sizes."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        keys = {str(key).lower(): edge for key, edge in value.items()}
        for names, is_sized in ((_EDGE_KEYS, False), (_SIZE_KEYS, True)):
            edges = [next((keys[name] for name in group if name in keys), None) for group in names]
            if box := _four(edges):
                left, top, third, fourth = box
                right, bottom = (left + third, top + fourth) if is_sized else (third, fourth)
                yield _in_axes((left, top, right, bottom), axes)
                return
        value = list(value.values())
    if isinstance(value, list):
        if box := _four(value):
            yield box
            return
        for part in value:
            yield from _in_json(part, axes, depth + 1)


def _four(values: list[object]) -> Box | None:
    """Four numbers, also as strings; None for anything else."""
    try:
        numbers = [float(value) for value in values if isinstance(value, int | float | str)]
    except (ValueError, OverflowError):
        return None
    if len(values) != 4 or len(numbers) != 4 or not all(map(math.isfinite, numbers)):
        return None
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _in_axes(edges: Box, axes: Axes) -> Box:
    """Left, top, right, bottom in the order that was asked for."""
    rows = from_pixels([edges], BoxConvention(axes), width=1, height=1).tolist()
    first, second, third, fourth = rows[0]
    return first, second, third, fourth

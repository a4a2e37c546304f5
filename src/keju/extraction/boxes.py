"""Boxes as corners, in the usual notations of models; width and height are converted if named."""

from __future__ import annotations

import json
import re

from keju.extraction.answer import Answer, Reading, behind_last, plain, unclear
from keju.extraction.words import fold, has

_N = r"(-?\d+(?:\.\d+)?)"
_GAP = r"\s*,\s*"
_PAIR = rf"\(\s*(?:x\d?\s*=\s*)?{_N}{_GAP}(?:y\d?\s*=\s*)?{_N}\s*\)"
_BETWEEN = r"(?:[\s,;\"'，]|with|and|px|像素|height|top)*?"


def _keyed(*keys: str) -> str:
    """The pattern of four numbers, each with its key (x=1, "y": 2)."""
    return _BETWEEN.join(rf"[\"']?\b(?:{key})[\"']?\s*[:=是为]\s*{_N}" for key in keys)


_NOTATIONS = (
    rf"[\[(]\s*{_N}{_GAP}{_N}{_GAP}{_N}{_GAP}{_N}\s*[\])]",
    rf"{_PAIR}[^()\d]{{0,24}}{_PAIR}",
    rf"\|\s*{_N}\s*\|\s*{_N}\s*\|\s*{_N}\s*\|\s*{_N}\s*\|?\s*(?:\n|$)",
    _keyed("x_?1|x_?min|x0|left", "y_?1|y_?min|y0|top", "x_?2|x_?max|right", "y_?2|y_?max|bottom"),
)
_SIZED = _keyed("x", "y", "width|w|宽度?", "height|h|高度?")


def read(answer: Answer) -> Reading:
    """The boxes of the response, in the order given, as [x1, y1, x2, y2]."""
    body = re.sub(r"<\|?/?[a-z_]+\|?>", " ", answer.body)
    text = behind_last("correction", fold(plain(body)))
    ways = [re.findall(each, text, re.IGNORECASE) for each in _NOTATIONS]
    boxes = [[[float(each) for each in box] for box in way] for way in ways if way]
    sized = [tuple(map(float, box)) for box in re.findall(_SIZED, text, re.IGNORECASE)]
    boxes += [[[x, y, x + w, y + h] for x, y, w, h in sized]] if sized else []
    if len(boxes) != 1 or has("draft", text):
        return unclear("several" if boxes else "silent")
    ordered = all(x1 < x2 and y1 < y2 for x1, y1, x2, y2 in boxes[0])
    return Reading("read", json.dumps(boxes[0]), "boxes") if ordered else unclear("order")

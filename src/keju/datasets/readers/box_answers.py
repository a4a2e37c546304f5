"""`boxes_in`: the boxes that a cell of a table has as an answer."""

from __future__ import annotations

import math

import msgspec

from keju.datasets.checks import box_fault
from keju.datasets.readers.records import Place
from keju.errors import DataError, shortened
from keju.items import Box, ImageRef
from keju.texts import _


def boxes_in(cell: object, images: tuple[ImageRef, ...], place: Place) -> tuple[Box, ...]:
    """The boxes of a cell, on the first image: a list of lists of four numbers, or its JSON.

    The JSON may lack the outer brackets, as in the tables that keju exports.

    Raises:
        DataError: the cell is something else, or a box is not on the image.
    """
    if isinstance(cell, str):
        text = cell.strip()
        several = text.startswith("[") and "]," in text and not text.startswith("[[")
        try:
            cell = msgspec.json.decode(f"[{text}]" if several else text)
        except msgspec.DecodeError:
            cell = text
    if isinstance(cell, list) and len(cell) == 4 and all(map(_is_finite, cell)):
        cell = [cell]
    if not isinstance(cell, list):
        raise _not_boxes(_("the answer {!r} is not a list of boxes", shortened(str(cell))), place)
    boxes = []
    for number, sides in enumerate(cell, 1):
        if not isinstance(sides, list) or len(sides) != 4 or not all(map(_is_finite, sides)):
            raise _not_boxes(_("box {} of the answer is not four numbers", number), place)
        left, top, right, bottom = map(float, sides)
        boxes.append(Box(x0=left, y0=top, x1=right, y1=bottom))
    size = (images[0].width, images[0].height) if images else None
    if fault := next(filter(None, (box_fault(box, size) for box in boxes)), ""):
        raise _not_boxes(_("the box {}", fault), place)
    return tuple(boxes)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _not_boxes(problem: str, place: Place) -> DataError:
    return place.error(
        problem, _("Write [[left, top, right, bottom], …] in pixels, or [] if the image has none")
    )

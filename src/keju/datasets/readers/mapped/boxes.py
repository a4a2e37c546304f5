"""`boxes_in`: the boxes that answer an item, as a cell of a table has them."""

from __future__ import annotations

import math

import msgspec

from keju.datasets.boxes import box_fault
from keju.datasets.readers.records import Place
from keju.errors import DataError, shortened
from keju.items import Box, ImageRef
from keju.messages import message


def boxes_in(value: object, images: tuple[ImageRef, ...], place: Place) -> tuple[Box, ...]:
    """The boxes of a cell, on the first image: a list of lists of four numbers, or its JSON.

    Raises:
        DataError: the cell is something else, or a box is not on the image.
    """
    if isinstance(value, str):
        text = value
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            raise _wrong(
                message("datasets.answer-not-boxes", answer=shortened(text)), place
            ) from None
    if isinstance(value, list) and len(value) == 4 and all(map(_is_number, value)):
        value = [value]
    if not isinstance(value, list):
        raise _wrong(message("datasets.answer-not-boxes", answer=str(value)[:80]), place)
    boxes = []
    for number, each in enumerate(value, 1):
        if not isinstance(each, list) or len(each) != 4 or not all(map(_is_number, each)):
            raise _wrong(message("datasets.answer-box-not-four-numbers", number=number), place)
        boxes.append(Box(**dict(zip(("x0", "y0", "x1", "y1"), map(float, each), strict=True))))
    size = (images[0].width, images[0].height) if images else None
    if fault := next(filter(None, (box_fault(box, size) for box in boxes)), ""):
        raise _wrong(message("datasets.box-invalid", problem=fault), place)
    return tuple(boxes)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _wrong(problem: str, place: Place) -> DataError:
    return place.error(problem, message("datasets.write-boxes-so"))

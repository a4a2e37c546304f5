"""`boxes_in`: the boxes that a cell of a table has as an answer."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from keju.datasets.checks import box_fault
from keju.datasets.readers.records import Place
from keju.errors import shortened
from keju.items import Box, ImageRef
from keju.texts import _

_Sides = tuple[float, float, float, float]


def boxes_in(cell: object, images: tuple[ImageRef, ...], place: Place) -> tuple[Box, ...]:
    """The boxes of a cell, on the first image: a list of lists of four numbers, or its JSON.

    Raises:
        DataError: the cell is something else, or a box is not on the image.
    """
    hint = _("Write [[left, top, right, bottom], …] in pixels, or [] if the image has none")
    if isinstance(cell, str):
        with suppress(msgspec.DecodeError):
            cell = msgspec.json.decode(cell)
    if isinstance(cell, list) and len(cell) == 4 and not isinstance(cell[0], list):
        cell = [cell]
    try:
        boxes = [
            Box(x0=left, y0=top, x1=right, y1=bottom)
            for left, top, right, bottom in msgspec.convert(cell, list[_Sides])
        ]
    except msgspec.ValidationError:
        cell_text = shortened(str(cell))
        raise place.error(
            _("the answer {!r} is not a list of boxes of four numbers", cell_text), hint
        ) from None
    size = (images[0].width, images[0].height) if images else None
    if fault := next(filter(None, (box_fault(box, size) for box in boxes)), ""):
        raise place.error(_("the box {}", fault), hint)
    return tuple(boxes)

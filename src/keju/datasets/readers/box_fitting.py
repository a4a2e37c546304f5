"""`fit_boxes`: convert boxes to pixels of the upright image, clipped and without duplicates.

`boxes_in` reads the boxes that a cell of a table has as an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.datasets.checks import box_fault
from keju.datasets.readers.records import Place
from keju.errors import shortened
from keju.images import decoding, open_header, orientation_of, upright_size
from keju.items import Box, ImageRef
from keju.texts import Text, _, n_

_DECIMALS = 2
"""Decimals of a pixel, for boxes that are shares of an image: tools write shares with six decimals.
"""


class Drawn(NamedTuple):
    """A box, and its position in the source.

    Attributes:
        box: its corners, in pixels, or as shares of the image where `relative` is set.
        place: the file and the record in it.
        size: width and height of the image that was annotated; 0 where the file does not state it.
        relative: whether the corners are shares of the image's width and height, as in YOLO.
    """

    box: Box
    place: Place
    size: tuple[float, float] = (0, 0)
    relative: bool = False


class Canvas(NamedTuple):
    """Size of an image after EXIF rotation, as models see it, and its EXIF orientation, 1 to 8."""

    width: int
    height: int
    orientation: int = 1


class Fitted(NamedTuple):
    """The boxes of an image; how many were `clipped`, `skipped`, listed `twice`; if it `turned`."""

    boxes: tuple[Box, ...]
    counts: Counter[str]


def read_canvas(data: bytes, path: Path) -> Canvas:
    """The size and orientation of an image, from its header.

    Raises:
        DataError: it is not an image that keju reads.
    """
    with decoding(data, str(path)):
        image = open_header(data, name=str(path))
        return Canvas(*upright_size(image), orientation_of(image))


def fit_boxes(drawn: Sequence[Drawn], canvas: Canvas, *, skip_faulty: bool = False) -> Fitted:
    """The boxes of an image in pixels of the upright image.

    Boxes are clipped where they exceed the image by at most one pixel, a rounding error of tools.
    If a file states the size of an image that EXIF rotates by 90 degrees, the size shows in which
    orientation it was annotated: boxes on the stored image are rotated with it. Without a size,
    boxes are assumed to be drawn on the upright image. `skip_faulty` skips boxes without area and
    boxes outside the image.

    Raises:
        DataError: a box without area or outside, or drawn on an image of another size.
    """
    boxes: list[Box] = []
    counts: Counter[str] = Counter()
    for annotation in drawn:
        box = _in_pixels(annotation, canvas)
        clip = Box(
            x0=max(0.0, box.x0),
            y0=max(0.0, box.y0),
            x1=min(float(canvas.width), box.x1),
            y1=min(float(canvas.height), box.y1),
        )
        fault = box_fault(box, canvas[:2]) or box_fault(clip, canvas[:2])
        if not fault:
            boxes.append(clip)
            counts["clipped"] += clip != box
        elif skip_faulty:
            counts["skipped"] += 1
        else:
            hint = _("Correct it, or skip such boxes: --option skip-faulty=yes")
            raise annotation.place.error(_("the box {}", fault), hint)
    unique = tuple(dict.fromkeys(boxes))
    counts["twice"] = len(boxes) - len(unique)
    if drawn and canvas.orientation > 1:
        sideways = canvas.orientation >= 5 and canvas.width != canvas.height
        counts["turned"] = not (sideways and all(drawn[0].size) and not drawn[0].relative)
    return Fitted(unique, counts)


def box_notes(counts: Mapping[str, int]) -> Iterator[Text]:
    """Notes on the changes of boxes that `fit_boxes` counted."""
    notes = (
        n_(
            "{n:,} box clipped that left the image by a pixel or less",
            "{n:,} boxes clipped that left the image by a pixel or less",
            counts["clipped"],
        ),
        n_(
            "{n:,} box skipped without area or outside the image",
            "{n:,} boxes skipped without area or outside the image",
            counts["skipped"],
        ),
        n_(
            "{n:,} box listed twice and counted once",
            "{n:,} boxes listed twice and counted once",
            counts["twice"],
        ),
        n_(
            "{n:,} image turned by EXIF, whose annotation does not show on which image it was "
            "drawn: boxes are read as drawn on the upright image",
            "{n:,} images turned by EXIF, whose annotation does not show on which image it was "
            "drawn: boxes are read as drawn on the upright image",
            counts["turned"],
        ),
    )
    return (note for note in notes if note.number)


def _in_pixels(drawn: Drawn, canvas: Canvas) -> Box:
    box, (width, height) = drawn.box, drawn.size
    if drawn.relative:
        return Box(
            x0=round(box.x0 * canvas.width, _DECIMALS), y0=round(box.y0 * canvas.height, _DECIMALS),
            x1=round(box.x1 * canvas.width, _DECIMALS), y1=round(box.y1 * canvas.height, _DECIMALS),
        )  # fmt: skip
    if not (width and height) or drawn.size == canvas[:2]:
        return box
    if canvas.orientation < 5 or (height, width) != canvas[:2]:
        problem = _(
            "the box was drawn on an image of {:g}x{:g} pixels; this one has {}x{}",
            width,
            height,
            canvas.width,
            canvas.height,
        )
        hint = _("Put the image there that was annotated, or annotate this one")
        raise drawn.place.error(problem, hint)
    # The box on the stored image becomes one on the upright image: EXIF orientations 5 to 8 swap
    # the axes.
    x0, x1, y0, y1 = box.y0, box.y1, box.x0, box.x1
    if canvas.orientation in {6, 7}:
        x0, x1 = canvas.width - x1, canvas.width - x0
    if canvas.orientation in {7, 8}:
        y0, y1 = canvas.height - y1, canvas.height - y0
    return Box(x0=x0, y0=y0, x1=x1, y1=y1)


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
        corners = msgspec.convert(cell, list[tuple[float, float, float, float]])
    except msgspec.ValidationError:
        problem = _("the answer {!r} is not a list of boxes of four numbers", shortened(str(cell)))
        raise place.error(problem, hint) from None
    boxes = tuple(Box(x0=left, y0=top, x1=right, y1=bottom) for left, top, right, bottom in corners)
    size = (images[0].width, images[0].height) if images else None
    if fault := next(filter(None, (box_fault(box, size) for box in boxes)), ""):
        raise place.error(_("the box {}", fault), hint)
    return boxes

"""`fit_boxes`: convert boxes to pixels of the upright image, clipped and without duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from keju.datasets.checks import box_fault
from keju.datasets.readers.records import Place
from keju.errors import DataError
from keju.images import decoding, open_header, orientation_of, upright_size
from keju.items import Box
from keju.texts import _

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
    """The boxes of an image, and how many were clipped, skipped, or given twice."""

    boxes: tuple[Box, ...]
    clipped: int = 0
    skipped: int = 0
    twice: int = 0


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
    clipped = skipped = 0
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
            clipped += clip != box
        elif skip_faulty:
            skipped += 1
        else:
            raise _faulty(annotation, fault)
    unique = tuple(dict.fromkeys(boxes))
    return Fitted(unique, clipped, skipped, len(boxes) - len(unique))


def is_ambiguous(drawn: Drawn, canvas: Canvas) -> bool:
    """Whether EXIF turns an image, and the annotation does not show on which one it was drawn."""
    sideways = canvas.orientation >= 5 and canvas.width != canvas.height
    return canvas.orientation > 1 and not (sideways and all(drawn.size) and not drawn.relative)


def _in_pixels(drawn: Drawn, canvas: Canvas) -> Box:
    width, height = drawn.size
    box = drawn.box
    if drawn.relative:
        return Box(
            x0=round(box.x0 * canvas.width, _DECIMALS), y0=round(box.y0 * canvas.height, _DECIMALS),
            x1=round(box.x1 * canvas.width, _DECIMALS), y1=round(box.y1 * canvas.height, _DECIMALS),
        )  # fmt: skip
    if not (width and height) or drawn.size == canvas[:2]:
        return box
    if canvas.orientation >= 5 and (height, width) == canvas[:2]:
        return _turned(box, canvas)
    raise _faulty(
        drawn,
        _(
            "was drawn on an image of {:g}x{:g} pixels; this one has {}x{}",
            width,
            height,
            canvas.width,
            canvas.height,
        ),
        "Put the image there that was annotated, or annotate this one",
    )


def _turned(box: Box, canvas: Canvas) -> Box:
    """A box on the stored image, converted to the upright one.

    EXIF orientations 5 to 8 swap the axes.
    """
    x0, x1, y0, y1 = box.y0, box.y1, box.x0, box.x1
    if canvas.orientation in {6, 7}:
        x0, x1 = canvas.width - x1, canvas.width - x0
    if canvas.orientation in {7, 8}:
        y0, y1 = canvas.height - y1, canvas.height - y0
    return Box(x0=x0, y0=y0, x1=x1, y1=y1)


def _faulty(drawn: Drawn, problem: str, hint: str = "") -> DataError:
    return drawn.place.error(
        _("the box {}", problem),
        hint=hint or _("Correct it, or skip such boxes: --option skip-faulty=yes"),
    )

"""`Drawn`: one box in an annotation file; `Annotations`: all boxes of one source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from keju.datasets.readers.base import source_text
from keju.datasets.readers.records import Place
from keju.datasets.readers.xml_parsing import LARGEST
from keju.errors import DataError
from keju.items import Box
from keju.texts import _, hint_of

T = TypeVar("T")

MOST_BYTES = 512 << 20
"""Maximum size of an annotation file. COCO's own train2017 has 450 MB."""

MOST_BOXES = 10_000
"""Maximum number of boxes of one image. The densest rubbings have some hundred characters."""


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


class Annotations(NamedTuple):
    """The boxes of one source.

    Attributes:
        form: their format, a key of `NAMES`.
        of: the boxes on each image that has an annotation, even an empty one.
        files: the annotation file of each such image.
        notes: what was skipped, for the user.
    """

    form: str
    of: dict[Path, list[Drawn]]
    files: dict[Path, Path]
    notes: tuple[str, ...] = ()


def box_of_size(values: Sequence[object], place: Place) -> Box:
    """A box of left, top, width, height.

    Raises:
        DataError: not four numbers of a size that an image can have.
    """
    x0, y0, wide, high = numbers(values, 4, place)
    return Box(x0=x0, y0=y0, x1=x0 + wide, y1=y0 + high)


def bounding_box(points: Sequence[Sequence[float]], place: Place) -> Box:
    """The bounding box of points.

    Raises:
        DataError: no points, or not two numbers each.
    """
    pairs = [numbers(point, 2, place) for point in points]
    if not pairs:
        raise box_error(_("the shape has no points"), place)
    xs, ys = zip(*pairs, strict=True)
    return Box(x0=min(xs), y0=min(ys), x1=max(xs), y1=max(ys))


def numbers(values: Sequence[object], count: int, place: Place) -> list[float]:
    """`count` numbers, each of a size that an image can have.

    Raises:
        DataError: another number of values, or one that is not such a number.
    """
    if len(values) != count:
        raise box_error(_("{} numbers, expected {}", len(values), count), place)
    found: list[float] = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise box_error(_("{!r} is not a number", str(value)[:40]), place)
        if not abs(value) <= LARGEST:
            raise box_error(_("{} is too large for an image, or not a number", value), place)
        found.append(float(value))
    return found


def box_error(problem: str, place: Place) -> DataError:
    """The error about one record of an annotation file."""
    return place.error(problem, hint_of(problem) or _("Correct it, or export it again"))


def decode_json(file: Path, shape: type[T]) -> T:
    """A JSON file as `shape`; unknown fields are skipped.

    Raises:
        DataError: too large, not readable, or not of that shape.
    """
    text = source_text(file, MOST_BYTES)
    try:
        return msgspec.json.decode(text, type=shape)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DataError(
            "not readable as JSON boxes: {}",
            error,
            file=file,
            hint="Correct it, or export it again",
        ) from None

"""YOLO's text files: one for each image, a line ``class cx cy width height`` in shares of it.

Source: the label format of darknet and Ultralytics; LabelImg writes it with ``classes.txt``. Lines
of more values are outlines (segmentation, oriented boxes), of which the bounding box is used.
"""

from __future__ import annotations

import math
from pathlib import Path

from keju.datasets.readers.base import source_text
from keju.datasets.readers.boxes.collecting import Collector
from keju.datasets.readers.boxes.model import Drawn, bounding_box, box_error
from keju.datasets.readers.records import Place
from keju.items import Box
from keju.texts import _

_OUTSIDE = 2.0
"""Largest share that is accepted; 1 is the edge of the image."""


def read_yolo(file: Path, found: Collector) -> None:
    """Collect the boxes of a YOLO label file.

    Raises:
        DataError: a line is not of the form above, or the image of the file is missing.
    """
    image = found.image_beside(file)
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        if line.strip():
            place = Place(file, f"line {number}")
            found.add(image, Drawn(_box(line, place), place, relative=True))


def read_fractions(line: str) -> list[float] | None:
    """The numbers after the class of a line; None if it is not a line of YOLO."""
    label, *words = line.split()
    if not label.isascii() or not label.isdigit() or len(words) < 4 or len(words) % 2:
        return None
    try:
        return [float(word) for word in words]
    except ValueError:
        return None


def _box(line: str, place: Place) -> Box:
    shares = read_fractions(line)
    if shares is None:
        raise box_error(
            _(
                "{!r} is not a line of a YOLO file",
                line.strip()[:60],
                hint="Write class, centre and size as fractions of the image: 0 0.5 0.5 0.2 0.1",
            ),
            place,
        )
    if not all(math.isfinite(share) and abs(share) <= _OUTSIDE for share in shares):
        raise box_error(
            _(
                "{!r} has values that are not fractions of the image",
                line.strip()[:60],
                hint="Write class, centre and size as fractions of the image: 0 0.5 0.5 0.2 0.1",
            ),
            place,
        )
    if len(shares) > 4:
        return bounding_box(list(zip(shares[::2], shares[1::2], strict=True)), place)
    x, y, wide, high = shares
    return Box(x0=x - wide / 2, y0=y - high / 2, x1=x + wide / 2, y1=y + high / 2)

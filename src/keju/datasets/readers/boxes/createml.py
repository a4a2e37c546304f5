"""Create ML's JSON, as LabelImg and Roboflow write it: a box's centre and size, in pixels.

Source: Apple's "Building an object detector data source", whose own example names the fields
``imagefilename`` and ``annotation``; LabelImg writes ``image`` and ``annotations``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from keju.datasets.readers.boxes.collecting import Collector, Source
from keju.datasets.readers.boxes.model import Drawn, box_error, decode_json, numbers
from keju.datasets.readers.records import Place
from keju.items import Box
from keju.messages import message


class _Middle(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float


class _Label(msgspec.Struct, frozen=True):
    coordinates: _Middle


class _Image(msgspec.Struct, frozen=True):
    image: str = ""
    imagefilename: str = ""
    annotations: list[_Label] = []
    annotation: list[_Label] = []


def read_createml(source: Source, found: Collector) -> None:
    """Collect the boxes of Create ML files.

    Raises:
        DataError: a file is not Create ML's, or an image is missing.
    """
    for file in source.files:
        for number, each in enumerate(decode_json(file, list[_Image]), start=1):
            _read_image(each, Place(file, f"object {number}"), found)


def _read_image(each: _Image, place: Place, found: Collector) -> None:
    name = each.image or each.imagefilename
    if not name:
        raise box_error(message("datasets.annotation-without-image"), place)
    path: Path | None = found.image(name, place)
    if path is None:
        return
    for number, label in enumerate(each.annotations or each.annotation, start=1):
        where = Place(place.file, f"{place.item}, annotation {number}")
        at = label.coordinates
        x, y, wide, high = numbers((at.x, at.y, at.width, at.height), 4, where)
        box = Box(x0=x - wide / 2, y0=y - high / 2, x1=x + wide / 2, y1=y + high / 2)
        found.add(path, Drawn(box, where))

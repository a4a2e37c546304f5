"""The JSON of VGG Image Annotator: regions of each image, as a project or as exported annotations.

Source: VIA 2's own export. Its CSV is read as a table (`table`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from keju.datasets.readers.boxes.collecting import Collector, Source
from keju.datasets.readers.boxes.model import (
    Drawn,
    bounding_box,
    box_error,
    box_of_size,
    decode_json,
)
from keju.datasets.readers.records import Place
from keju.items import Box
from keju.messages import message


class Shape(msgspec.Struct, frozen=True):
    """The ``shape_attributes`` of a region; the name is empty for a region without shape."""

    name: str = ""
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    all_points_x: list[float] = []
    all_points_y: list[float] = []


class _Region(msgspec.Struct, frozen=True):
    shape_attributes: Shape


class _Image(msgspec.Struct, frozen=True):
    filename: str
    regions: list[_Region] | dict[str, _Region] = []


class _Project(msgspec.Struct, frozen=True, rename={"images": "_via_img_metadata"}):
    images: dict[str, _Image] | None = None


def read_via(source: Source, found: Collector) -> None:
    """Collect the bounding boxes of rectangles and polygons; other regions are skipped and counted.

    Raises:
        DataError: a file is not VIA's, or an image is missing.
    """
    for file in source.files:
        project = decode_json(file, _Project)
        images = (
            project.images if project.images is not None else decode_json(file, dict[str, _Image])
        )
        for number, image in enumerate(images.values(), start=1):
            _read_image(image, Place(file, f"image {number}"), found)


def _read_image(image: _Image, place: Place, found: Collector) -> None:
    path: Path | None = found.image(image.filename, place)
    regions = image.regions
    if path is None:
        return
    for number, region in enumerate(
        regions.values() if isinstance(regions, Mapping) else regions, start=1
    ):
        where = Place(place.file, f"{place.item}, region {number}")
        box = box_of(region.shape_attributes, where)
        if box is None:
            found.skip(f"regions of the kind {region.shape_attributes.name[:20]!r}")
        else:
            found.add(path, Drawn(box, where))


def box_of(shape: Shape, place: Place) -> Box | None:
    """The box of a rectangle, or around a polygon; None for other shapes.

    Raises:
        DataError: the shape is not complete.
    """
    if shape.name == "rect":
        return box_of_size((shape.x, shape.y, shape.width, shape.height), place)
    if shape.name in {"polygon", "polyline"}:
        if len(shape.all_points_x) != len(shape.all_points_y):
            raise box_error(message("datasets.polygon-uneven"), place)
        return bounding_box(list(zip(shape.all_points_x, shape.all_points_y, strict=True)), place)
    return None

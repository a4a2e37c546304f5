"""labelme's JSON: one file for each image, rectangles and polygons as points in pixels."""

from __future__ import annotations

import msgspec

from keju.datasets.readers.boxes.collecting import Collector, Source
from keju.datasets.readers.boxes.model import Drawn, bounding_box, decode_json
from keju.datasets.readers.records import Place


class _Shape(msgspec.Struct, frozen=True):
    points: list[list[float]]
    shape_type: str | None = None


class _Labelme(
    msgspec.Struct,
    frozen=True,
    rename={"path": "imagePath", "wide": "imageWidth", "high": "imageHeight"},
):
    shapes: list[_Shape]
    path: str | None = None
    wide: float | None = None
    high: float | None = None


def read_labelme(source: Source, found: Collector) -> None:
    """Collect the bounding boxes of rectangles and polygons; other shapes are skipped and counted.

    ``imageData``, the image as base64, is not read.

    Raises:
        DataError: a file is not labelme's, or its image is missing.
    """
    for file in source.files:
        whole = decode_json(file, _Labelme)
        image = source.images.beside(file, whole.path or "")
        found.annotated(image, file)
        for number, shape in enumerate(whole.shapes, start=1):
            kind = shape.shape_type or "polygon"
            if kind not in {"rectangle", "polygon"}:
                found.skip(f"shapes of the kind {kind[:20]!r}")
                continue
            place = Place(file, f"shape {number}")
            size = (whole.wide or 0, whole.high or 0)
            found.add(image, Drawn(bounding_box(shape.points, place), place, size))

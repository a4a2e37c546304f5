"""COCO's detection JSON: ``images``, ``annotations`` with ``bbox`` (x, y, width, height)."""

from __future__ import annotations

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
from keju.errors import DataError
from keju.items import Box
from keju.messages import message


class _Image(msgspec.Struct, frozen=True, gc=False):
    id: int | str
    file_name: str
    width: float | None = None
    height: float | None = None


class _Annotation(msgspec.Struct, frozen=True, gc=False):
    image_id: int | str
    bbox: list[float] = []
    iscrowd: int | bool = 0
    segmentation: msgspec.Raw = msgspec.Raw(b"null")


class _Coco(msgspec.Struct, frozen=True):
    images: list[_Image]
    annotations: list[_Annotation] = []


def read_coco(source: Source, found: Collector) -> None:
    """Collect the boxes of one or several COCO files, each with ids of its own.

    An annotation of a crowd covers several characters with one box; it is skipped and counted.

    Raises:
        DataError: a file is not COCO's, an annotation names no image, or an image is missing.
    """
    for file in source.files:
        _read_file(decode_json(file, _Coco), file, found)


def _read_file(coco: _Coco, file: Path, found: Collector) -> None:
    images: dict[int | str, tuple[Path | None, tuple[float, float]]] = {}
    for each in coco.images:
        place = Place(file, f"image {each.id}")
        if each.id in images:
            raise DataError(message("datasets.image-id-repeated"), file=file, item=place.item)
        images[each.id] = (
            found.image(each.file_name, place),
            (each.width or 0, each.height or 0),
        )
    for number, annotation in enumerate(coco.annotations, start=1):
        place = Place(file, f"annotation {number}")
        if annotation.image_id not in images:
            raise box_error(
                message("datasets.image-id-unknown", image_id=annotation.image_id), place
            )
        path, size = images[annotation.image_id]
        if path is None:
            continue
        if annotation.iscrowd:
            found.skip("annotations of crowds")
        else:
            found.add(path, Drawn(_box(annotation, place), place, size))


def _box(annotation: _Annotation, place: Place) -> Box:
    """The bbox; the box around the polygons where there is none."""
    if annotation.bbox:
        return box_of_size(annotation.bbox, place)
    try:
        polygons = msgspec.json.decode(annotation.segmentation, type=list[list[float]])
    except (msgspec.MsgspecError, RecursionError):
        raise box_error(message("datasets.no-box-or-polygon"), place) from None
    flat = [value for polygon in polygons for value in polygon]
    if not flat or len(flat) % 2:
        raise box_error(message("datasets.no-box-or-polygon"), place)
    return bounding_box(list(zip(flat[::2], flat[1::2], strict=True)), place)

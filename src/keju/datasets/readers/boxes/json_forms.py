"""Boxes as JSON: COCO, Create ML, labelme, VGG Image Annotator and YinQiWenYuan_detection.

Each function collects the boxes of one file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast

import msgspec

from keju.datasets.readers.boxes.collecting import Collector
from keju.datasets.readers.boxes.model import (
    Drawn,
    bounding_box,
    box_error,
    box_of_size,
    decode_json,
    numbers,
)
from keju.datasets.readers.records import Place
from keju.items import Box
from keju.texts import _


class _CocoImage(msgspec.Struct, frozen=True, gc=False):
    id: int | str
    file_name: str
    width: float | None = None
    height: float | None = None


class _CocoAnnotation(msgspec.Struct, frozen=True, gc=False):
    image_id: int | str
    bbox: list[float] = []
    iscrowd: int | bool = 0
    segmentation: msgspec.Raw = msgspec.Raw(b"null")


class _Coco(msgspec.Struct, frozen=True):
    images: list[_CocoImage]
    annotations: list[_CocoAnnotation] = []


def read_coco(file: Path, found: Collector) -> None:
    """Collect the boxes of COCO's detection JSON; each file has ids of its own.

    An annotation of a crowd covers several characters with one box; it is skipped and counted.

    Raises:
        DataError: the file is not COCO's, or an annotation names no image.
    """
    coco = decode_json(file, _Coco)
    images: dict[int | str, tuple[Path | None, tuple[float, float]]] = {}
    for each in coco.images:
        place = Place(file, f"image {each.id}")
        if each.id in images:
            raise place.error(_("two images have this id", hint="Give each image its own id"))
        size = (each.width or 0, each.height or 0)
        images[each.id] = (found.image(each.file_name, place), size)
    for number, annotation in enumerate(coco.annotations, start=1):
        place = Place(file, f"annotation {number}")
        if annotation.image_id not in images:
            raise box_error(_("no image has the id {}", annotation.image_id), place)
        path, size = images[annotation.image_id]
        if path is None:
            continue
        if annotation.iscrowd:
            found.skip("annotations of crowds")
        else:
            found.add(path, Drawn(_coco_box(annotation, place), place, size))


def _coco_box(annotation: _CocoAnnotation, place: Place) -> Box:
    """The bbox; the box around the polygons where there is none."""
    if annotation.bbox:
        return box_of_size(annotation.bbox, place)
    try:
        polygons = msgspec.json.decode(annotation.segmentation, type=list[list[float]])
    except (msgspec.MsgspecError, RecursionError):
        raise box_error(_("the annotation has neither a bbox nor polygons"), place) from None
    flat = [value for polygon in polygons for value in polygon]
    if not flat or len(flat) % 2:
        raise box_error(_("the annotation has neither a bbox nor polygons"), place)
    return bounding_box(list(zip(flat[::2], flat[1::2], strict=True)), place)


class _Middle(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float


class _Label(msgspec.Struct, frozen=True):
    coordinates: _Middle


class _CreateMlImage(msgspec.Struct, frozen=True):
    image: str = ""
    imagefilename: str = ""
    annotations: list[_Label] = []
    annotation: list[_Label] = []


def read_createml(file: Path, found: Collector) -> None:
    """Collect the boxes of Create ML's JSON, as LabelImg and Roboflow write it: centre and size.

    Source: Apple's "Building an object detector data source", whose own example names the fields
    ``imagefilename`` and ``annotation``; LabelImg writes ``image`` and ``annotations``.

    Raises:
        DataError: the file is not Create ML's.
    """
    for number, each in enumerate(decode_json(file, list[_CreateMlImage]), start=1):
        place = Place(file, f"object {number}")
        name = each.image or each.imagefilename
        if not name:
            raise box_error(_("the annotation does not name an image"), place)
        path = found.image(name, place)
        if path is None:
            continue
        for count, label in enumerate(each.annotations or each.annotation, start=1):
            where = Place(file, f"{place.item}, annotation {count}")
            at = label.coordinates
            x, y, wide, high = numbers((at.x, at.y, at.width, at.height), 4, where)
            box = Box(x0=x - wide / 2, y0=y - high / 2, x1=x + wide / 2, y1=y + high / 2)
            found.add(path, Drawn(box, where))


class _LabelmeShape(msgspec.Struct, frozen=True):
    points: list[list[float]]
    shape_type: str | None = None


class _Labelme(
    msgspec.Struct,
    frozen=True,
    rename={"path": "imagePath", "wide": "imageWidth", "high": "imageHeight"},
):
    shapes: list[_LabelmeShape]
    path: str | None = None
    wide: float | None = None
    high: float | None = None


def read_labelme(file: Path, found: Collector) -> None:
    """Collect the bounding boxes of rectangles and polygons of labelme's JSON, a file for an image.

    Other shapes are skipped and counted. ``imageData``, the image as base64, is not read.

    Raises:
        DataError: the file is not labelme's, or its image is missing.
    """
    whole = decode_json(file, _Labelme)
    image = found.image_beside(file, whole.path or "")
    for number, shape in enumerate(whole.shapes, start=1):
        kind = shape.shape_type or "polygon"
        if kind not in {"rectangle", "polygon"}:
            found.skip(f"shapes of the kind {kind[:20]!r}")
            continue
        place = Place(file, f"shape {number}")
        size = (whole.wide or 0, whole.high or 0)
        found.add(image, Drawn(bounding_box(shape.points, place), place, size))


class ViaShape(msgspec.Struct, frozen=True):
    """The ``shape_attributes`` of a region; the name is empty for a region without shape."""

    name: str = ""
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    all_points_x: list[float] = []
    all_points_y: list[float] = []


class _ViaRegion(msgspec.Struct, frozen=True):
    shape_attributes: ViaShape


class _ViaImage(msgspec.Struct, frozen=True):
    filename: str
    regions: list[_ViaRegion] | dict[str, _ViaRegion] = []


class _ViaProject(msgspec.Struct, frozen=True, rename={"images": "_via_img_metadata"}):
    images: dict[str, _ViaImage] | None = None


def read_via(file: Path, found: Collector) -> None:
    """Collect the boxes of VGG Image Annotator's JSON: a project, or exported annotations.

    Source: VIA 2's own export. Its CSV is read as a table (`table`).

    Raises:
        DataError: the file is not VIA's.
    """
    images = decode_json(file, _ViaProject).images
    if images is None:
        images = decode_json(file, dict[str, _ViaImage])
    for number, image in enumerate(images.values(), start=1):
        place = Place(file, f"image {number}")
        path, regions = found.image(image.filename, place), image.regions
        if path is None:
            continue
        several = regions.values() if isinstance(regions, Mapping) else regions
        for count, region in enumerate(several, start=1):
            where = Place(file, f"{place.item}, region {count}")
            add_via_shape(region.shape_attributes, path, where, found)


def add_via_shape(shape: ViaShape, path: Path, place: Place, found: Collector) -> None:
    """Add the box of a rectangle or around a polygon; other shapes are skipped and counted.

    Raises:
        DataError: the shape is not complete.
    """
    if shape.name == "rect":
        box = box_of_size((shape.x, shape.y, shape.width, shape.height), place)
    elif shape.name in {"polygon", "polyline"}:
        if len(shape.all_points_x) != len(shape.all_points_y):
            raise box_error(_("a polygon has unequal numbers of x and y"), place)
        points = list(zip(shape.all_points_x, shape.all_points_y, strict=True))
        box = bounding_box(points, place)
    else:
        found.skip(f"regions of the kind {shape.name[:20]!r}")
        return
    found.add(path, Drawn(box, place))


_Corners = Annotated[list[object], msgspec.Meta(min_length=4)]


class _Bone(msgspec.Struct, frozen=True):
    ann: list[_Corners]
    img_name: str | None = None


_BONES = cast("type[_Bone | list[_Bone]]", _Bone | list[_Bone])


def read_yinqiwenyuan(file: Path, found: Collector) -> None:
    """Collect the boxes of a ``{"img_name": …, "ann": [[x1, y1, x2, y2, 1.0], …]}``, or of a list.

    Source: programs that read the release (``Train/b02519Z.json`` beside ``b02519Z.jpg``): the
    first four values are the corners in pixels, in the order of Pascal VOC. Some draw only boxes
    whose fifth value is 1.0; no program gives another value a meaning, so boxes with other values
    are imported too, and counted.

    Raises:
        DataError: the file is not of this form, or its image is missing.
    """
    bones = decode_json(file, _BONES)
    if isinstance(bones, _Bone):
        image = found.image_beside(file, bones.img_name or "")
        _add_bone(bones, image, Place(file, ""), found)
        return
    for number, bone in enumerate(bones, start=1):
        place = Place(file, f"object {number}")
        if not bone.img_name:
            raise place.error(
                _("the entry does not name its image", hint="Write the name as img_name")
            )
        if path := found.image(bone.img_name, place):
            _add_bone(bone, path, place, found)


def _add_bone(bone: _Bone, image: Path, place: Place, found: Collector) -> None:
    for number, row in enumerate(bone.ann, start=1):
        where = Place(place.file, ", ".join(filter(None, (place.item, f"ann {number}"))))
        x0, y0, x1, y1 = numbers(row[:4], 4, where)
        found.add(image, Drawn(Box(x0=x0, y0=y0, x1=x1, y1=y1), where))
        found.odd += len(row) > 4 and row[4] != 1

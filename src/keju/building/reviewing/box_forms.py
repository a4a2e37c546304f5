"""Character boxes in the formats of annotation tools: COCO, Pascal VOC, YOLO, labelme."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple
from xml.sax.saxutils import escape

from msgspec import Meta, Struct

from keju.building.reviewing.exported_images import (
    IMAGES,
    export_images,
    find_box_changes,
    parse_hash,
)
from keju.building.reviewing.verdicts import Corrections, Decision, Verdict
from keju.datasets.readers.base import files_under, source_text
from keju.datasets.readers.boxes import BoxSettings, Drawn, boxes_of, keep_valid
from keju.datasets.readers.records import Place
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import read_json, write_atomic, write_json
from keju.items import Box, ImageRef, Item
from keju.messages import message

LABEL = "character"
COCO_FILE, CLASSES = "boxes.json", "classes.txt"

_WITHIN = 1.0
"""Tolerance of an unmoved edge in pixels: VOC and some tools store whole pixels."""


class _ExportedImage(NamedTuple):
    """An exported image: its file name, its size, and its boxes."""

    name: str
    ref: ImageRef
    boxes: tuple[Box, ...]


def write_boxes(form: str, dataset: Dataset, items: Sequence[Item], out: Path) -> None:
    """Write the images of items with boxes, and the boxes in one of the formats.

    Raises:
        DataError: no item has boxes, two items have different boxes on the same image, or an image
            is rotated only by its EXIF data.
    """
    boxed: dict[str, Item] = {}
    for item in items:
        if item.boxes and item.images:
            first = boxed.setdefault(item.images[0].sha256, item)
            if first.boxes != item.boxes:
                # The returned boxes of the image would be read as corrections of both items.
                raise DataError(
                    message("building.other-boxes-on-picture", item=first.id),
                    file=dataset.path,
                    item=item.id,
                )
    if not boxed:
        raise DataError(message("building.no-item-has-boxes"), file=dataset.path)
    names = export_images(dataset, (item.images[0] for item in boxed.values()), out)
    exported = [_ExportedImage(names[h], item.images[0], item.boxes) for h, item in boxed.items()]
    _WRITERS[form](exported, out)


def _write_coco(exported: Sequence[_ExportedImage], out: Path) -> None:
    images: list[dict[str, object]] = []
    boxes: list[dict[str, object]] = []
    for number, image in enumerate(exported, start=1):
        images.append({"id": number, "file_name": image.name, "width": image.ref.width,
                         "height": image.ref.height})  # fmt: skip
        for box in image.boxes:
            wide, high = box.x1 - box.x0, box.y1 - box.y0
            boxes.append({"id": len(boxes) + 1, "image_id": number, "category_id": 1, "iscrowd": 0,
                          "bbox": [box.x0, box.y0, wide, high], "area": wide * high})  # fmt: skip
    categories = [{"id": 1, "name": LABEL}]
    write_json(out / COCO_FILE, {"images": images, "annotations": boxes, "categories": categories})


def _write_voc(exported: Sequence[_ExportedImage], out: Path) -> None:
    for image in exported:
        objects = "".join(
            f"<object><name>{LABEL}</name><difficult>0</difficult><bndbox>"
            f"<xmin>{box.x0:.0f}</xmin><ymin>{box.y0:.0f}</ymin>"
            f"<xmax>{box.x1:.0f}</xmax><ymax>{box.y1:.0f}</ymax></bndbox></object>\n"
            for box in image.boxes
        )
        text = (
            f"<annotation>\n<filename>{escape(image.name)}</filename>\n<size>"
            f"<width>{image.ref.width}</width><height>{image.ref.height}</height>"
            f"<depth>3</depth></size>\n{objects}</annotation>\n"
        )
        write_atomic((out / IMAGES / image.name).with_suffix(".xml"), text)


def _write_yolo(exported: Sequence[_ExportedImage], out: Path) -> None:
    for image in exported:
        wide, high = image.ref.width, image.ref.height
        lines = [
            f"0 {(box.x0 + box.x1) / 2 / wide:.8f} {(box.y0 + box.y1) / 2 / high:.8f} "
            f"{(box.x1 - box.x0) / wide:.8f} {(box.y1 - box.y0) / high:.8f}\n"
            for box in image.boxes
        ]
        write_atomic((out / "labels" / image.name).with_suffix(".txt"), "".join(lines))
    write_atomic(out / CLASSES, f"{LABEL}\n")


def _write_labelme(exported: Sequence[_ExportedImage], out: Path) -> None:
    for image in exported:
        shapes: list[dict[str, object]] = [
            {"label": LABEL, "points": [[box.x0, box.y0], [box.x1, box.y1]], "group_id": None,
             "shape_type": "rectangle", "flags": {}}
            for box in image.boxes
        ]  # fmt: skip
        whole: dict[str, object] = {
            "version": "5.5.0",
            "flags": {},
            "shapes": shapes,
            "imagePath": image.name,
            "imageData": None,
            "imageHeight": image.ref.height,
            "imageWidth": image.ref.width,
        }
        write_json((out / IMAGES / image.name).with_suffix(".json"), whole)


_WRITERS: Mapping[str, Callable[[Sequence[_ExportedImage], Path], None]] = {
    "coco": _write_coco,
    "voc": _write_voc,
    "yolo": _write_yolo,
    "labelme": _write_labelme,
}

_BoxesByHash = dict[str, list[Drawn]]
"""Boxes by the beginning of the hash of their image."""


def read_boxes(form: str, src: Path, items: Mapping[str, Item], person: str) -> list[Verdict]:
    """Read returned boxes as verdicts on the items with boxes that show the image.

    The verdict is ``accept`` if no box has changed, otherwise a correction.

    Args:
        form: the format.
        src: the returned file or directory.
        items: the exported items, by id.
        person: the reviewer.

    Raises:
        DataError: an image was not exported or has another size, or a box is not valid.
    """
    by_hash: dict[str, list[str]] = {}
    refs: dict[str, ImageRef] = {}
    for item in items.values():
        if item.boxes and item.images:
            ref = item.images[0]
            by_hash.setdefault(ref.sha256[:16], []).append(item.id)
            refs.setdefault(ref.sha256[:16], ref)
    verdicts = []
    for name, drawn in _READERS[form](src, refs).items():
        boxes = keep_valid(drawn, refs[name])
        for item in map(items.__getitem__, by_hash[name]):
            changed = find_box_changes(item, boxes, within=_WITHIN)
            verdicts.append(
                Verdict(item=item.id, person=person, decision=Decision.ACCEPT)
                if changed is None
                else Verdict(
                    item=item.id,
                    person=person,
                    decision=Decision.CORRECT,
                    corrections=Corrections(boxes=changed),
                )
            )
    return verdicts


def _find_image(name: str, refs: Mapping[str, ImageRef], file: Path) -> str:
    found = parse_hash(name)
    if found not in refs:
        raise DataError(message("building.picture-not-sent", name=name[:80]), file=file)
    return found


class _CocoImage(Struct, frozen=True):
    id: int
    file_name: str
    width: float = 0
    height: float = 0


class _CocoBox(Struct, frozen=True):
    image_id: int
    bbox: Annotated[list[float], Meta(min_length=4, max_length=4)]


class _Coco(Struct, frozen=True):
    images: list[_CocoImage]
    annotations: list[_CocoBox]


def _read_coco(src: Path, refs: Mapping[str, ImageRef]) -> _BoxesByHash:
    file = src / COCO_FILE if src.is_dir() else src
    whole = read_json(file, _Coco)
    images = {each.id: each for each in whole.images}
    found: _BoxesByHash = {_find_image(each.file_name, refs, file): [] for each in whole.images}
    for number, each in enumerate(whole.annotations, start=1):
        image = images.get(each.image_id)
        if image is None:
            raise DataError(
                message("building.review-no-image", image_id=each.image_id),
                file=file,
                item=f"annotation {number}",
            )
        x, y, wide, high = each.bbox
        box = Box(x0=x, y0=y, x1=x + wide, y1=y + high)
        drawn = Drawn(box, Place(file, f"annotation {number}"), (image.width, image.height))
        found[_find_image(image.file_name, refs, file)].append(drawn)
    return found


def _read_voc(src: Path, refs: Mapping[str, ImageRef]) -> _BoxesByHash:
    names = [path for path in files_under(src, {"xml"}) if _find_image(path.name, refs, path)]
    images = [path.with_suffix(".jpg") for path in names]
    drawn = boxes_of(src, images, BoxSettings())
    return {parse_hash(path.name): boxes for path, boxes in drawn.items()}


def _read_yolo(src: Path, refs: Mapping[str, ImageRef]) -> _BoxesByHash:
    found: _BoxesByHash = {}
    for file in files_under(src, {"txt"}):
        if file.name == CLASSES:
            continue
        name = _find_image(file.name, refs, file)
        wide, high = refs[name].width, refs[name].height
        found[name] = []
        for number, line in enumerate(source_text(file).splitlines(), start=1):
            if not line.strip():
                continue
            x, y, w, h = _parse_yolo_line(line, file, number)
            box = Box(
                x0=(x - w / 2) * wide, y0=(y - h / 2) * high,
                x1=(x + w / 2) * wide, y1=(y + h / 2) * high,
            )  # fmt: skip
            found[name].append(Drawn(box, Place(file, f"line {number}")))
    return found


def _parse_yolo_line(line: str, file: Path, number: int) -> list[float]:
    try:
        values = [float(word) for word in line.split()[1:]]
    except ValueError:
        values = []
    if len(values) != 4 or not all(abs(value) <= 2 for value in values):
        raise DataError(
            message("building.not-a-yolo-box", line=line[:60]), file=file, item=f"line {number}"
        )
    return values


class _Shape(Struct, frozen=True):
    points: list[Annotated[list[float], Meta(min_length=2, max_length=2)]]
    shape_type: str = "polygon"


class _Labelme(Struct, frozen=True, rename={"path": "imagePath", "wide": "imageWidth",
                                            "high": "imageHeight"}):  # fmt: skip
    shapes: list[_Shape]
    path: str = ""
    wide: float = 0
    high: float = 0


def _read_labelme(src: Path, refs: Mapping[str, ImageRef]) -> _BoxesByHash:
    found: _BoxesByHash = {}
    for file in files_under(src, {"json"}):
        whole = read_json(file, _Labelme)
        name = _find_image(whole.path or file.name, refs, file)
        found[name] = []
        for number, shape in enumerate(whole.shapes, start=1):
            if not shape.points:
                raise DataError(
                    message("building.review-shape-without-points"),
                    file=file,
                    item=f"shape {number}",
                )
            xs, ys = ([point[axis] for point in shape.points] for axis in (0, 1))
            box = Box(x0=min(xs), y0=min(ys), x1=max(xs), y1=max(ys))
            drawn = Drawn(box, Place(file, f"shape {number}"), (whole.wide, whole.high))
            found[name].append(drawn)
    return found


_READERS: Mapping[str, Callable[[Path, Mapping[str, ImageRef]], _BoxesByHash]] = {
    "coco": _read_coco,
    "voc": _read_voc,
    "yolo": _read_yolo,
    "labelme": _read_labelme,
}

FORMS = tuple(_WRITERS)


def detect_form(src: Path) -> str:
    """The name of the box format of a directory or file, or ""."""
    if src.is_file():
        return "coco"
    if (src / COCO_FILE).is_file():
        return "coco"
    for form, suffix in (("voc", "xml"), ("yolo", "txt"), ("labelme", "json")):
        if any(files_under(src, {suffix})):
            return form
    return ""

"""Character boxes in the formats of annotation tools: COCO, Pascal VOC, YOLO, labelme."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from keju.building.reviewing.exported_images import (
    IMAGES,
    export_images,
    find_box_changes,
    parse_hash,
)
from keju.building.reviewing.verdicts import Corrections, Decision, Verdict
from keju.datasets.readers.base import files_under
from keju.datasets.readers.boxes import BoxSettings, Canvas, collect_boxes, fit_boxes
from keju.datasets.readers.image_names import ImageNames
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import write_atomic, write_json
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

_SUFFIXES = {"coco": "json", "voc": "xml", "yolo": "txt", "labelme": "json"}


def read_boxes(form: str, src: Path, items: Mapping[str, Item], person: str) -> list[Verdict]:
    """Read returned boxes as verdicts on the items with boxes that show the image.

    The verdict is ``accept`` if no box has changed, otherwise a correction.

    Raises:
        DataError: an image was not exported or has another size, a box is not valid, or an
            annotation is not a box.
    """
    by_hash: dict[str, list[Item]] = {}
    for item in items.values():
        if item.boxes and item.images:
            by_hash.setdefault(item.images[0].sha256[:16], []).append(item)
    files, images = _list_files(form, src), _ExportedImages(by_hash)
    found = collect_boxes(form, files, images, BoxSettings())
    if found.notes:
        # If such annotations were ignored, their boxes would count as removed.
        raise DataError(message("building.not-only-boxes", notes="; ".join(found.notes)), file=src)
    verdicts = []
    for path, drawn in found.of.items():
        shown = by_hash[path.name]
        ref = shown[0].images[0]
        boxes = fit_boxes(drawn, Canvas(ref.width, ref.height)).boxes
        for item in shown:
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


def _list_files(form: str, src: Path) -> list[Path]:
    if form == "coco":
        return [src / COCO_FILE if src.is_dir() else src]
    return [file for file in files_under(src, {_SUFFIXES[form]}) if file.name != CLASSES]


class _ExportedImages(ImageNames):
    """Finds exported images by the hash in a name; the path of an image is its hash."""

    def __init__(self, hashes: Collection[str]) -> None:
        self._hashes = hashes

    def named(self, name: str, file: Path, item: str = "") -> Path:
        """The image of a name.

        Raises:
            DataError: it was not exported.
        """
        del item
        found = parse_hash(name)
        if found not in self._hashes:
            raise DataError(message("building.picture-not-sent", name=name[:80]), file=file)
        return Path(found)

    def beside(self, file: Path, *names: str) -> Path:
        """The image of an annotation file: of its own name, else of a name in it."""
        known = (name for name in (file.name, *names) if parse_hash(name) in self._hashes)
        return self.named(next(known, file.name), file)


FORMS = tuple(_WRITERS)


def detect_form(src: Path) -> str:
    """The name of the box format of a directory or file, or ""."""
    if src.is_file() or (src / COCO_FILE).is_file():
        return "coco"
    forms = (
        form for form in ("voc", "yolo", "labelme") if any(files_under(src, {_SUFFIXES[form]}))
    )
    return next(forms, "")

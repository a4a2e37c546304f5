"""Character boxes for review as COCO: written for annotation tools, and read back as verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from keju.building.reviewing.exported_images import (
    export_images,
    find_box_changes,
    parse_hash,
)
from keju.building.reviewing.verdicts import Corrections, Decision, Verdict
from keju.datasets.readers.boxes import Canvas, collect_boxes, fit_boxes
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.records import Place
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import write_json
from keju.items import Item

LABEL = "character"
COCO_FILE = "boxes.json"

_WITHIN = 1.0
"""Tolerance of an unmoved edge in pixels: some tools store whole pixels."""


def write_boxes(dataset: Dataset, items: Sequence[Item], out: Path) -> None:
    """Write the images of items with boxes, and the boxes as COCO.

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
                    "the item and {} show the same image, but have different boxes",
                    first.id,
                    file=dataset.path,
                    item=item.id,
                    hint="Export the two separately, or export to Label Studio",
                )
    if not boxed:
        raise DataError(
            "none of the items has boxes",
            file=dataset.path,
            hint="Export the items as a sheet: --form sheet",
        )
    names = export_images(dataset, (item.images[0] for item in boxed.values()), out)
    images: list[dict[str, object]] = []
    boxes: list[dict[str, object]] = []
    for number, (image_hash, item) in enumerate(boxed.items(), start=1):
        ref = item.images[0]
        images.append({"id": number, "file_name": names[image_hash], "width": ref.width,
                       "height": ref.height})  # fmt: skip
        for box in item.boxes:
            wide, high = box.x1 - box.x0, box.y1 - box.y0
            boxes.append({"id": len(boxes) + 1, "image_id": number, "category_id": 1, "iscrowd": 0,
                          "bbox": [box.x0, box.y0, wide, high], "area": wide * high})  # fmt: skip
    categories = [{"id": 1, "name": LABEL}]
    write_json(out / COCO_FILE, {"images": images, "annotations": boxes, "categories": categories})


def read_boxes(file: Path, items: Mapping[str, Item], person: str) -> list[Verdict]:
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
    annotations = collect_boxes("coco", [file], _ExportedImages(by_hash))
    if annotations.notes:
        # If such annotations were ignored, their boxes would count as removed.
        notes = "; ".join(annotations.notes)
        raise DataError(
            "the annotations are not only boxes: {}", notes, file=file, hint="Draw each as a box"
        )
    verdicts = []
    for path, drawn in annotations.of.items():
        boxed = by_hash[path.name]
        ref = boxed[0].images[0]
        boxes = fit_boxes(drawn, Canvas(ref.width, ref.height)).boxes
        for item in boxed:
            corrected = find_box_changes(item, boxes, within=_WITHIN)
            verdicts.append(
                Verdict(item=item.id, person=person, decision=Decision.ACCEPT)
                if corrected is None
                else Verdict(
                    item=item.id,
                    person=person,
                    decision=Decision.CORRECT,
                    corrections=Corrections(boxes=corrected),
                )
            )
    return verdicts


class _ExportedImages(ImageFinder):
    """Finds exported images by the hash in a name; the path of an image is its hash."""

    def __init__(self, hashes: Collection[str]) -> None:
        super().__init__([])
        self._hashes = hashes

    def find(self, name: str, place: Place, near: Collection[str] = ()) -> Path:
        """The image of a name.

        Raises:
            DataError: it was not exported.
        """
        del near
        image_hash = parse_hash(name)
        if image_hash not in self._hashes:
            raise DataError(
                "the image {!r} was not exported with boxes of this dataset",
                name[:80],
                file=place.file,
                hint="Keep the names of the exported images",
            )
        return Path(image_hash)

"""Images that are exported with a review; their file names identify them when they come back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from keju.datasets.checks import box_fault
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import write_atomic
from keju.images import decoding, open_header, orientation_of
from keju.items import Box, ImageRef, Item
from keju.local_paths import check_local

IMAGES = "images"

_NAME = re.compile(r"\d+-([0-9a-f]{16})")


def name_image(place: int, ref: ImageRef) -> str:
    """The file name of an exported image: a number for people, and the hash of the image."""
    return f"{place:05d}-{ref.sha256[:16]}{Path(ref.path).suffix}"


def parse_hash(name: str) -> str:
    """The beginning of the hash in the name of an image or of a file about it, or ""."""
    found = _NAME.match(Path(name.replace("\\", "/").replace("\0", "")).name)
    return found[1] if found else ""


def export_images(dataset: Dataset, refs: Iterable[ImageRef], out: Path) -> dict[str, str]:
    """Copy images to OUT/images; return the file name of each by its hash.

    Raises:
        DataError: an image is rotated only by its EXIF data. Tools disagree on the orientation of
            such an image, so boxes drawn on it are ambiguous.
    """
    names: dict[str, str] = {}
    check_local(out)
    (out / IMAGES).mkdir(parents=True, exist_ok=True)
    for ref in refs:
        if ref.sha256 in names:
            continue
        packed = ref.path in dataset.packed
        source = dataset.image_bytes(ref) if packed else dataset.image_path(ref)
        name = str(dataset.path / ref.path if isinstance(source, bytes) else source)
        with decoding(source, name):
            turned = orientation_of(open_header(source, name=name)) != 1
        if turned:
            raise DataError(
                "only the EXIF data rotates this image, and some tools ignore it",
                file=name,
                hint="Rotate the pixels first: keju build standardise",
            )
        names[ref.sha256] = name_image(len(names) + 1, ref)
        target = out / IMAGES / names[ref.sha256]
        target.unlink(missing_ok=True)
        if isinstance(source, bytes):
            write_atomic(target, source)
        else:
            # Not a hard link: a tool that saves the file in place would change the dataset.
            shutil.copyfile(source, target)
    return names


def find_box_changes(item: Item, found: Sequence[Box], *, within: float) -> tuple[Box, ...] | None:
    """Compare returned boxes with those of the item.

    An edge of an unchanged box may differ by `within` pixels.

    Returns:
        None if all boxes are unchanged. Otherwise the unchanged boxes with their exact edges, in
        the item's order, and then the others.

    Raises:
        DataError: a box has no area or is outside the image.
    """
    size = (item.images[0].width, item.images[0].height)
    for box in found:
        if fault := box_fault(box, size):
            raise DataError("the box {}", fault, item=item.id, hint="Draw it again")
    left = list(found)
    kept = []
    for own in item.boxes:
        same = next((box for box in left if _measure_shift(own, box) <= within), None)
        if same is not None:
            left.remove(same)
            kept.append(own)
    return None if not left and len(kept) == len(item.boxes) else (*kept, *left)


def _measure_shift(one: Box, other: Box) -> float:
    return max(abs(one.x0 - other.x0), abs(one.y0 - other.y0),
               abs(one.x1 - other.x1), abs(one.y1 - other.y1))  # fmt: skip

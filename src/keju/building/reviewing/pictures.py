"""Images exported with a review, with file names that identify them on import."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from keju.datasets.boxes import box_fault
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.images import decoding, open_header, orientation_of
from keju.items import Box, ImageRef, Item
from keju.local_paths import check_local
from keju.messages import message

IMAGES = "images"

_NAME = re.compile(r"\d+-([0-9a-f]{16})")


def picture_name(place: int, ref: ImageRef) -> str:
    """The file name of an exported image: a number for people, and its hash."""
    return f"{place:05d}-{ref.sha256[:16]}{Path(ref.path).suffix}"


def hash_in(name: str) -> str:
    """The beginning of the hash in the name of an image or of a file about it; else empty."""
    found = _NAME.match(Path(name.replace("\\", "/").replace("\0", "")).name)
    return found[1] if found else ""


def send_pictures(dataset: Dataset, refs: Iterable[ImageRef], out: Path) -> dict[str, str]:
    """Copy images to OUT/images; return the name of each by its hash.

    Raises:
        DataError: an image is rotated by EXIF only. Tools disagree on the orientation of such an
            image, so that boxes drawn on it are ambiguous.
    """
    names: dict[str, str] = {}
    check_local(out)
    (out / IMAGES).mkdir(parents=True, exist_ok=True)
    for ref in refs:
        if ref.sha256 in names:
            continue
        source = dataset.image_path(ref)
        with decoding(source, str(source)):
            turned = orientation_of(open_header(source, name=str(source))) != 1
        if turned:
            raise DataError(message("building.turned-by-exif"), file=source)
        names[ref.sha256] = picture_name(len(names) + 1, ref)
        target = out / IMAGES / names[ref.sha256]
        target.unlink(missing_ok=True)
        # A copy, not a hard link: a tool that saves in place would alter the dataset.
        shutil.copyfile(source, target)
    return names


def drawn_anew(item: Item, found: Sequence[Box], *, within: float) -> tuple[Box, ...] | None:
    """The returned boxes, or None where they equal the item's own within `within` pixels.

    Boxes that were not moved keep their exact edges and their order, new ones come after them.

    Raises:
        DataError: a box without area, or outside the image.
    """
    size = (item.images[0].width, item.images[0].height)
    for box in found:
        if fault := box_fault(box, size):
            raise DataError(message("building.review-box-fault", fault=fault), item=item.id)
    left = list(found)
    kept = []
    for own in item.boxes:
        same = next((box for box in left if _apart(own, box) <= within), None)
        if same is not None:
            left.remove(same)
            kept.append(own)
    return None if not left and len(kept) == len(item.boxes) else (*kept, *left)


def _apart(one: Box, other: Box) -> float:
    return max(abs(one.x0 - other.x0), abs(one.y0 - other.y0),
               abs(one.x1 - other.x1), abs(one.y1 - other.y1))  # fmt: skip

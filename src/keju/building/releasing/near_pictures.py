"""Images of ours that occur in another dataset re-encoded, scaled, rotated slightly or cropped.

They are found as in the step ``dedup-images``: perceptual hashes find candidate pairs, and a pair
counts when the images, registered on each other, agree stroke by stroke.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from keju.building.dedup.image_hashes import ImageFile, find_near_hashes, hash_images
from keju.building.dedup.image_similarity import SAME_IMAGE, compare_pairs
from keju.building.engine import Engine
from keju.building.image_files import ImageFiles
from keju.datasets.store import Dataset
from keju.items import ImageRef


class NearImage(NamedTuple):
    """An image of ours and one of theirs, by SHA-256, and their similarity, 0 to 1."""

    ours: str
    theirs: str
    likeness: float


def find_near_images(
    ours: Mapping[str, tuple[Dataset, ImageRef]],
    theirs: Mapping[str, tuple[Dataset, ImageRef]],
    engine: Engine,
) -> Iterator[NearImage]:
    """Find pairs of images that are the same, but with different bytes.

    Args:
        ours: images by their SHA-256, each with its dataset.
        theirs: the same of the others.
        engine: hashes and compares.

    Raises:
        DataError: an image cannot be read.
    """
    names = [*ours, *(name for name in theirs if name not in ours)]
    with TemporaryDirectory(prefix="keju-leaks-") as folder:
        pictures = [
            ImageFile(str(_get_file(dataset, ref, Path(folder)).absolute()), ref.width, ref.height)
            for dataset, ref in map({**theirs, **ours}.__getitem__, names)
        ]
        images = ImageFiles(driver=engine.driver_files())
        hashes = hash_images(engine, pictures, images)
        first = len(ours)
        pairs = [
            (one, other)
            for some, _ in find_near_hashes(hashes)
            for one, other in some.T.tolist()
            if (one < first and names[other] in theirs) or (other < first and names[one] in theirs)
        ]
        files = ((pictures[one], pictures[other]) for one, other in pairs)
        found = compare_pairs(engine, files, images)
    for (one, other), likeness in zip(pairs, found, strict=True):
        if likeness < SAME_IMAGE:
            continue
        for mine, other_one in ((one, other), (other, one)):
            if mine < first and names[other_one] in theirs:
                yield NearImage(names[mine], names[other_one], round(likeness, 4))


def _get_file(dataset: Dataset, ref: ImageRef, folder: Path) -> Path:
    """Return the path of an image; one in a release's tables is written to a temporary file."""
    if ref.path not in dataset.packed:
        return dataset.image_path(ref)
    path = folder / Path(ref.path).name
    path.write_bytes(dataset.image_bytes(ref))
    return path

"""Small grey renderings of images, and their perceptual hashes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from keju.building.dedup.union_find import Indices
from keju.building.engine import Engine, check_rows
from keju.building.image_files import LOCAL_FILES, ImageFiles, label_image
from keju.images import open_image, thumbnail

if TYPE_CHECKING:
    from PIL.Image import Image

AREA = 384 * 288
"""Pixels of a rendering: enough to keep the strokes that distinguish the characters of a page."""

LIMITS = (16, 80, 12)
"""Distances up to which a pair is a candidate: of 64-bit pHash, 256-bit pHash and 64-bit dHash.

Measured on 273 images (40 of them pages of one layout): a rotation by 1 degree stays below 14 / 52
/ 14, cropping 3 % of every side below 20 / 84 / 21, while of distinct pairs one in a thousand is at
16 / 82 / 12. No single hash covers both, so one is enough, and candidates are compared in detail.
"""

_WORDS = (1, 4, 1)
_BLOCK = 2048
_QUALITY = 90


class ImageFile(Struct, frozen=True):
    """An image file, by its path or its name for `ImageFiles`, and its size in pixels."""

    path: str
    width: int
    height: int


class Hashes(Struct, frozen=True):
    """An image's perceptual hashes: 8 bytes pHash, 32 bytes pHash, 8 bytes dHash."""

    bits: bytes = b""
    error: str = ""


def render_grey(picture: ImageFile, images: ImageFiles = LOCAL_FILES) -> Image:
    """Render an image in grey, upright, with about `AREA` pixels; a smaller one keeps its size.

    Raises:
        DataError: it cannot be read.
    """
    data, name = images.read(picture.path), label_image(picture.path)
    longer = max(picture.width, picture.height)
    scale = math.sqrt(AREA / max(1, picture.width * picture.height))
    if scale < 1:
        side = math.ceil(longer * scale)
        data = thumbnail(data, name=name, max_side=side, quality=_QUALITY)
    return open_image(data, name=name).convert("L")


def compute_hashes(picture: ImageFile, images: ImageFiles = LOCAL_FILES) -> Hashes:
    """Compute the hashes of an image.

    Raises:
        DataError: it cannot be read.
    """
    import imagehash  # noqa: PLC0415 - imports scipy

    small = render_grey(picture, images)
    found = imagehash.phash(small), imagehash.phash(small, hash_size=16), imagehash.dhash(small)
    return Hashes(bits=b"".join(np.packbits(each.hash).tobytes() for each in found))


def hash_images(engine: Engine, pictures: Sequence[ImageFile], images: ImageFiles) -> list[bytes]:
    """Compute the hashes of images by an engine: `Hashes.bits` of each.

    Raises:
        DataError: one cannot be read.
    """
    compute = partial(compute_hashes, images=images)
    found = engine.map("hashes", pictures, compute, Hashes)
    check_rows(found)
    return [each.bits for each in found]


def find_near_hashes(
    bits: list[bytes], limits: tuple[int, int, int] = LIMITS
) -> Iterator[tuple[Indices, NDArray[np.int64]]]:
    """Find the pairs of which at least one hash is near.

    All pairs are compared, a block at a time: exact, and quadratic (10^4 images: 5 10^7 pairs).

    Yields:
        Pairs [2, n], the smaller index first, and their distances [3, n].
    """
    if not bits:
        return
    words = np.frombuffer(b"".join(bits), np.uint64).reshape(len(bits), sum(_WORDS))
    cuts = np.cumsum((0, *_WORDS))
    for top in range(0, len(bits), _BLOCK):
        for left in range(0, top + 1, _BLOCK):
            one, other = words[left : left + _BLOCK], words[top : top + _BLOCK]
            near = np.zeros((len(one), len(other)), bool)
            apart = []
            for start, stop, limit in zip(cuts, cuts[1:], limits, strict=False):
                distance = np.zeros(near.shape, np.uint16)
                for word in range(start, stop):
                    distance += np.bitwise_count(one[:, word, None] ^ other[None, :, word])
                near |= distance <= limit
                apart.append(distance)
            first, second = np.nonzero(near)
            kept = first + left < second + top
            first, second = first[kept], second[kept]
            distances = np.stack([each[first, second] for each in apart]).astype(np.int64)
            yield np.stack((first + left, second + top)), distances

"""Images of fragments: the pixels of a piece divided by fractures, eroded, rotated, cut out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageFilter

from keju_synthetic.fragmentation import Fragmentation, erode_part, fragment_mask
from keju_synthetic.noise import Plane, make_noise, to_image, to_plane

Affine = tuple[float, float, float, float, float, float]
"""From a point (x, y) of a fragment's image to its place (ax + by + c, dx + ey + f) in the whole;
the middle of the first pixel is (.5, .5)."""

_MARGIN = 6
_DIGITS = 6


class FragmentationPlan(NamedTuple):
    """The parameters of a fragmentation.

    `erosion` is how deep breaks are worn where chips came off, in parts of the side of a square as
    large as the piece; `rough` how far they stray from a straight line; `turn` by how many degrees
    a fragment is turned to either side at most; `parts` how many there are.
    """

    parts: int
    erosion: float
    rough: float
    turn: float


class FragmentImage(NamedTuple):
    """A fragment: its image on the ground of the whole, where its pixels came from, its size.

    `lost` is the share of the part that wear has taken.
    """

    picture: Image.Image
    affine: Affine
    lost: float


def fragment_image(
    picture: Image.Image,
    mask: Plane,
    plan: FragmentationPlan,
    rng_of: Callable[[str], np.random.Generator],
) -> tuple[Fragmentation, list[FragmentImage]]:
    """Break the masked area of an image into fragments.

    Every part is eroded separately, so that touching outlines no longer fit to the pixel.

    Args:
        picture: the whole piece, RGB.
        mask: where it is, 0..1, of the image's size.
        plan: how it breaks.
        rng_of: the random generator for a name.

    Raises:
        DataError: no break leaves parts large enough.
    """
    torn = fragment_mask(mask, plan.parts, rng_of("tear"), rough=plan.rough)
    depth = plan.erosion * math.sqrt(float(np.count_nonzero(torn.labels)))
    ground = _measure_background(picture, mask)
    shards = []
    for part in range(1, torn.parts + 1):
        rng = rng_of(f"part {part}")
        kept = erode_part(torn.labels, part, rng, depth=depth)
        whole = int(np.count_nonzero(torn.labels == part))
        lost = 1 - int(np.count_nonzero(kept)) / max(1, whole)
        degrees = (float(rng.random()) * 2 - 1) * plan.turn
        shards.append(_cut_out(picture, kept.astype(np.float32), ground, degrees, rng, lost))
    return torn, shards


def _measure_background(picture: Image.Image, mask: Plane) -> Plane:
    """The colour beside the piece, or white where it fills its image."""
    beside = to_plane(picture)[mask < 0.5]
    if not len(beside):
        return np.ones(3, np.float32)
    return np.asarray(np.median(beside, axis=0), np.float32)


def _cut_out(
    picture: Image.Image,
    kept: Plane,
    ground: Plane,
    degrees: float,
    rng: np.random.Generator,
    lost: float,
) -> FragmentImage:
    affine, size = _rotate_part(kept, degrees)
    how = (Image.Transform.AFFINE, affine, Image.Resampling.BICUBIC)
    turned = to_plane(picture.transform(size, *how))
    soft = to_image(kept).filter(ImageFilter.GaussianBlur(0.7))
    cover = to_plane(soft.transform(size, *how))[..., None]
    grain = (make_noise(rng, (size[1], size[0]), 1.6) - 0.5)[..., None] * 0.03
    whole = ground * (1 - cover) + turned * cover + grain * (1 - cover)
    pixels = (np.clip(whole, 0, 1) * 255 + 0.5).astype(np.uint8)
    return FragmentImage(Image.fromarray(pixels), affine, lost)


def _rotate_part(kept: Plane, degrees: float) -> tuple[Affine, tuple[int, int]]:
    """The map of an image that holds the turned fragment, and that image's size."""
    # Rounded, because the last bit of a sine differs between machines.
    cos = round(math.cos(math.radians(degrees)), _DIGITS)
    sin = round(math.sin(math.radians(degrees)), _DIGITS)
    rows, columns = np.nonzero(kept > 0.5)
    along = (columns + 0.5) * cos - (rows + 0.5) * sin
    down = (columns + 0.5) * sin + (rows + 0.5) * cos
    x0, y0 = math.floor(along.min()) - _MARGIN, math.floor(down.min()) - _MARGIN
    size = (math.ceil(along.max()) + _MARGIN - x0 + 1, math.ceil(down.max()) + _MARGIN - y0 + 1)
    affine = (
        cos, sin, round(x0 * cos + y0 * sin, _DIGITS),
        -sin, cos, round(y0 * cos - x0 * sin, _DIGITS),
    )  # fmt: skip
    return affine, size

"""The mask of the main object in an image: by transparency, or by contrast to the background."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageOps

from keju.errors import DataError
from keju.images import decoding, open_header, open_image
from keju.outlines import largest_contour
from keju_synthetic.noise import Plane, to_plane

_LEAST, _MOST = 0.02, 0.98
"""Minimum and maximum share of an image that its object fills."""

_RADIUS_AT_RIM = 3

_RECTANGLE, _NEARLY = 0.9, 0.82
"""Shares of the least rectangle around it that a thing fills: a page or its frame fills .97, free
text .84 to .93; drawn bones, shells and rubbings of both at most .81 (measured on the mini set)."""

_SAME_GREY = 12


def load_masked(data: bytes, *, name: str, most_side: int) -> tuple[Image.Image, Plane]:
    """An image in RGB, and the mask of its main object, 0 or 1.

    Args:
        data: the bytes of the file. With transparency the opaque part is the object, otherwise the
            largest region that differs from the background along the rim.
        name: what an error calls it.
        most_side: larger images are made smaller.

    Raises:
        DataError: the image is damaged, or no object is found in it.
    """
    picture = open_image(data, name=name)
    alpha = _read_alpha(data, name)
    scale = most_side / max(picture.size)
    if scale < 1:
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
        alpha = alpha and alpha.resize(size, Image.Resampling.BOX)
    mask = (to_plane(alpha) > 0.5).astype(np.float32) if alpha else _segment_foreground(picture)
    share = float(mask.mean())
    if not _LEAST <= share <= _MOST:
        raise DataError(
            "no object is distinguished from the background ({:.0%} of the image would be the "
            "piece)",
            share,
            file=name,
            hint="Use images with a plain or transparent background",
        )
    return picture, mask


def is_page(picture: Image.Image, mask: Plane) -> bool:
    """Whether the outline of the object is that of a page, its frame, or its block of text.

    That is a rectangle at any angle, or nearly a rectangle whose inside has the background's grey.

    Args:
        picture: the image in RGB.
        mask: the mask of its object, from `load_masked`.
    """
    import cv2  # noqa: PLC0415 - heavy

    inside = mask > 0.5
    points = np.argwhere(inside).astype(np.float32)
    _, (one, other), _ = cv2.minAreaRect(points)
    filled = len(points) / ((one + 1) * (other + 1))
    if filled >= _RECTANGLE:
        return True
    grey = np.asarray(picture.convert("L"))
    apart = abs(float(np.median(grey[inside])) - float(np.median(grey[~inside])))
    return filled >= _NEARLY and apart <= _SAME_GREY


def _read_alpha(data: bytes, name: str) -> Image.Image | None:
    """The image's transparency, upright; None where it is opaque throughout."""
    with decoding(data, name):
        image = open_header(data, name=name)
        if "A" not in image.getbands() and "transparency" not in image.info:
            return None
        alpha = ImageOps.exif_transpose(image.convert("RGBA")).getchannel("A")
        low, _ = alpha.getextrema()
        return alpha if isinstance(low, int | float) and low < 128 else None


def _segment_foreground(picture: Image.Image) -> Plane:
    contour = largest_contour(np.asarray(picture.convert("L")))
    mask = Image.new("L", picture.size, 0)
    if contour is not None and len(contour) > _RADIUS_AT_RIM:
        ImageDraw.Draw(mask).polygon([(int(x), int(y)) for x, y in contour], fill=255)
    return to_plane(mask)

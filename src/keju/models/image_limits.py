"""Scaling of images to a model's own limits, which the user declares and the run records.

Images are sent as they are stored. Only an image beyond a limit that the user gave is decoded,
scaled down and encoded again; all others are sent byte for byte. The limits and the method are in
the model's identity, so that answers to smaller images have other cache keys.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from math import prod, sqrt
from typing import NamedTuple, Self

import PIL
from PIL import Image

from keju.errors import UsageError
from keju.images import open_image
from keju.items import ImageRef, Record, Request
from keju.texts import _

_LOSSLESS = frozenset({"png", "bmp", "gif", "tif", "tiff"})
_QUALITY = 95
_LEAST_BYTES = 1000
_SMALLER = 0.9  # applied again while an image is still too large


class FittedImage(NamedTuple):
    """An image as it is sent, its media type, and its width and height in pixels."""

    data: bytes
    mime: str
    size: tuple[int, int]


class Fit(Record, frozen=True, kw_only=True):
    """The largest image that a model accepts: its pixels, and the bytes of its file; None: any."""

    max_pixels: int | None = None
    max_bytes: int | None = None

    def check(self) -> None:
        """Check the limits.

        Raises:
            UsageError: below 1 pixel, or below 1,000 bytes.
        """
        if self.max_pixels is not None and self.max_pixels < 1:
            raise UsageError("--max-pixels must be 1 or more, not {}", self.max_pixels)
        if self.max_bytes is not None and self.max_bytes < _LEAST_BYTES:
            raise UsageError(
                "--max-bytes must be {:,} or more, not {}", _LEAST_BYTES, self.max_bytes
            )

    @property
    def identity(self) -> dict[str, str]:
        """The entries of a model's identity; empty where there are no limits."""
        limits = {"max_pixels": self.max_pixels, "max_bytes": self.max_bytes}
        given = {name: str(limit) for name, limit in limits.items() if limit is not None}
        if given:
            given["resize"] = f"Lanczos, JPEG {_QUALITY} or PNG as stored, Pillow {PIL.__version__}"
        return given

    @classmethod
    def of(cls, identity: Mapping[str, str]) -> Self:
        """The limits in a model's identity."""
        said = {name: identity.get(name, "") for name in cls.__struct_fields__}
        return cls(**{name: int(limit) for name, limit in said.items() if limit.isdecimal()})

    def size(self, ref: ImageRef) -> tuple[int, int]:
        """Width and height at which an image is sent, unless its bytes require less."""
        pixels = ref.width * ref.height
        if self.max_pixels is None or pixels <= self.max_pixels:
            return ref.width, ref.height
        scale = sqrt(self.max_pixels / pixels)
        while prod(size := _size(ref.width, ref.height, scale)) > max(1, self.max_pixels):
            scale *= _SMALLER
        return size

    def touches(self, ref: ImageRef) -> bool:
        """Whether an image is beyond a limit."""
        too_wide = self.max_pixels is not None and ref.width * ref.height > self.max_pixels
        return too_wide or (self.max_bytes is not None and ref.size > self.max_bytes)

    def unsupported_reason(self, request: Request) -> str:
        """Why a request cannot be made with smaller images, or an empty string.

        Boxes in pixels would refer to another image than the dataset's.
        """
        in_pixels = request.box_convention and "-" not in request.box_convention
        if in_pixels and any(map(self.touches, request.all_images)):
            return _("boxes in pixels of a picture that is made smaller: use --boxes xyxy-1000")
        return ""

    def fitted(self, data: bytes, ref: ImageRef) -> FittedImage:
        """The image within the limits: upright, RGB, of the same shape, scaled down only.

        Losslessly stored images (PNG, BMP, GIF, TIFF) are written as PNG, unless only JPEG is small
        enough; the others as JPEG of quality 95 with full colour.

        Raises:
            DataError: it cannot be decoded.
        """
        picture = open_image(data, name=ref.path)
        lossless = ref.path.rpartition(".")[2].lower() in _LOSSLESS
        forms = ("PNG", "JPEG") if lossless else ("JPEG",)
        scale = 1.0
        if self.max_pixels is not None:
            scale = min(1.0, sqrt(self.max_pixels / (picture.width * picture.height)))
        while True:
            small = _scaled(picture, scale)
            written = [
                FittedImage(_written(small, form), f"image/{form.lower()}", small.size)
                for form in forms
            ]
            good = [each for each in written if self._holds(small, each.data)]
            if good or small.size == (1, 1):
                return [*good, *written][0]
            scale *= _SMALLER

    def _holds(self, picture: Image.Image, data: bytes) -> bool:
        few_pixels = self.max_pixels is None or picture.width * picture.height <= self.max_pixels
        return few_pixels and (self.max_bytes is None or len(data) <= self.max_bytes)


def _scaled(picture: Image.Image, scale: float) -> Image.Image:
    if scale == 1.0:
        return picture
    return picture.resize(_size(*picture.size, scale), Image.Resampling.LANCZOS)


def _size(width: int, height: int, scale: float) -> tuple[int, int]:
    return max(1, int(width * scale)), max(1, int(height * scale))


def _written(picture: Image.Image, form: str) -> bytes:
    out = io.BytesIO()
    if form == "PNG":
        picture.save(out, "PNG")
    else:
        picture.save(out, "JPEG", quality=_QUALITY, subsampling=0)
    return out.getvalue()

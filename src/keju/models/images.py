"""Images as they are sent: as ``data:`` URLs, scaled down only to limits that the user declares.

An image is sent byte for byte as it is stored, unless it is beyond a limit; then it is decoded,
scaled down and encoded again. The limits and the method are in the model's identity, so that
answers to smaller images have other cache keys.
"""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from math import prod, sqrt
from pathlib import PurePosixPath
from typing import Self

import PIL
from PIL import Image

from keju.definitions import has_task, task
from keju.errors import DataError, UsageError
from keju.images import EXTENSIONS, open_image
from keju.items import ImageRef, Record, Request
from keju.texts import _

_SUBTYPES = {"jpg": "jpeg", "tif": "tiff"}  # the other extensions are the names of the media types
_LOSSLESS = frozenset({"png", "bmp", "gif", "tif", "tiff"})
_QUALITY = 95
_SMALLER = 0.9  # applied again while an image is still too large


class Fit(Record, frozen=True, kw_only=True):
    """The largest image that a model accepts: its pixels, and the bytes of its file; None: any."""

    max_pixels: int | None = None
    max_bytes: int | None = None

    def check(self) -> None:
        """Check the limits: 1 pixel and 1,000 bytes, or more.

        Raises:
            UsageError: a limit is lower.
        """
        limits = (("--max-pixels", self.max_pixels, 1), ("--max-bytes", self.max_bytes, 1000))
        for option, limit, least in limits:
            if limit is not None and limit < least:
                raise UsageError("{} must be {:,} or more, not {}", option, least, limit)

    @property
    def identity(self) -> dict[str, str]:
        """The entries of a model's identity; empty where there are no limits."""
        limits = {"max_pixels": self.max_pixels, "max_bytes": self.max_bytes}
        identity = {name: str(limit) for name, limit in limits.items() if limit is not None}
        method = f"Lanczos, JPEG {_QUALITY} or PNG as stored, Pillow {PIL.__version__}"
        return {**identity, "resize": method} if identity else {}

    @classmethod
    def of(cls, identity: Mapping[str, str]) -> Self:
        """The limits in a model's identity."""
        limits = {name: identity.get(name, "") for name in cls.__struct_fields__}
        return cls(**{name: int(limit) for name, limit in limits.items() if limit.isdecimal()})

    def size(self, ref: ImageRef) -> tuple[int, int]:
        """Width and height at which an image is sent, unless its bytes require less."""
        return next(self._sizes(ref.width, ref.height))

    def _sizes(self, width: int, height: int) -> Iterator[tuple[int, int]]:
        """Smaller and smaller sizes, from the largest one within the limit of pixels."""
        most = self.max_pixels or width * height
        scale = min(1.0, sqrt(most / (width * height)))
        while True:
            size = max(1, int(width * scale)), max(1, int(height * scale))
            if prod(size) <= most:
                yield size
            scale *= _SMALLER

    def touches(self, ref: ImageRef) -> bool:
        """Whether an image is beyond a limit."""
        many_pixels = self.max_pixels is not None and ref.width * ref.height > self.max_pixels
        return many_pixels or (self.max_bytes is not None and ref.size > self.max_bytes)

    def fitted(self, data: bytes, ref: ImageRef) -> tuple[bytes, str]:
        """The image within the limits and its media type: upright, RGB, scaled down only.

        Losslessly stored images (PNG, BMP, GIF, TIFF) are written as PNG, unless only JPEG is small
        enough; the others as JPEG of quality 95 with full colour.

        Raises:
            DataError: it cannot be decoded.
        """
        image = open_image(data, name=ref.path)
        lossless = ref.path.rpartition(".")[2].lower() in _LOSSLESS
        sizes = self._sizes(*image.size)
        while True:
            size = next(sizes)
            is_whole = size == image.size
            small = image if is_whole else image.resize(size, Image.Resampling.LANCZOS)
            for form in ("PNG", "JPEG") if lossless else ("JPEG",):
                file = io.BytesIO()
                small.save(file, form, quality=_QUALITY, subsampling=0)  # PNG has neither
                byte_count = file.getbuffer().nbytes
                if size == (1, 1) or self.max_bytes is None or byte_count <= self.max_bytes:
                    return file.getvalue(), f"image/{form.lower()}"


def mime_of(ref: ImageRef) -> str:
    """The media type of an image, from its path.

    Raises:
        DataError: the extension is not that of an image.
    """
    extension = PurePosixPath(ref.path).suffix.lstrip(".").lower()
    if extension not in EXTENSIONS:
        problem = _("no media type for the extension {!r}", extension)
        raise DataError(problem, item=ref.path, hint="Import the dataset again")
    return f"image/{_SUBTYPES.get(extension, extension)}"


_MOST_KEPT = 4 << 20
"""Bytes, not a number of images, because pages differ a hundredfold in size."""

_kept_urls: dict[tuple[str, str, Fit | None], bytes] = {}
"""The URLs that were sent last: several models, rounds and questions use the same image."""


async def data_urls(request: Request, images: Sequence[bytes], fit: Fit) -> list[bytes]:
    """The URLs of the images of a request within the limits, each a JSON string with its quotes.

    An image is read and scaled down only if its URL is not kept.

    Raises:
        DataError: an image has no media type or cannot be decoded.
    """
    urls = []
    for index, ref in enumerate(request.images):
        mime, is_beyond = mime_of(ref), fit.touches(ref)
        name = (ref.sha256, mime, fit if is_beyond else None)
        url = _kept_urls.pop(name, b"")
        if not url:
            data = images[index]
            if is_beyond:
                data, mime = await asyncio.to_thread(fit.fitted, data, ref)
            url = b"".join((f'"data:{mime};base64,'.encode(), base64.b64encode(data), b'"'))
        _kept_urls[name] = url  # as the latest one
        while sum(map(len, _kept_urls.values())) > _MOST_KEPT:
            del _kept_urls[next(iter(_kept_urls))]
        urls.append(url)
    return urls


def unsupported_image_reason(request: Request, fit: Fit) -> str:
    """Why a request cannot be sent with its images within the limits, or an empty string.

    A question about an image needs one; queries that are declared to be about text only
    (`Query.image` is false) need none. Boxes in pixels of an image that was scaled down would refer
    to another image than the dataset's.
    """
    if not request.images and not request.source and request.setting == "image":
        queries = task(request.task).queries if has_task(request.task) else ()
        if all(query.image for query in queries if query.name == request.query):
            return _("there is no image to show")
    in_pixels = request.box_convention and "-" not in request.box_convention
    if in_pixels and any(map(fit.touches, request.images)):
        return _("boxes in pixels of a picture that is made smaller: use --boxes xyxy-1000")
    return ""

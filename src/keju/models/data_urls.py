"""Image bytes as ``data:`` URLs, encoded once per process and cached while they are in use.

The bytes are those of the dataset, unchanged, unless a limit of the model requires a smaller image
(see `fitting`). Several models, rounds and questions use the same image close together, so a cache
of recent images is enough; its size is limited in bytes because pages differ a hundredfold in size.
"""

from __future__ import annotations

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Callable
from pathlib import PurePosixPath

from keju.definitions import has_task, task
from keju.errors import DataError
from keju.items import ImageRef, Request
from keju.models.base import AskError
from keju.models.image_limits import Fit

MIME = {
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp",
    "gif": "image/gif", "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff",
    "jp2": "image/jp2",
}  # fmt: skip
"""The media type of an image by its file's extension."""


def mime_of(ref: ImageRef) -> str:
    """The media type of an image, from its path.

    Raises:
        DataError: the extension is not that of an image.
    """
    extension = PurePosixPath(ref.path).suffix.lstrip(".").lower()
    if extension not in MIME:
        raise DataError(
            "no media type for the extension {!r}",
            extension,
            item=ref.path,
            hint="Import the dataset again",
        )
    return MIME[extension]


class DataUrls:
    """A cache of recent ``data:`` URLs, each a JSON string with its quotes.

    Args:
        capacity: the maximum number of bytes.
    """

    def __init__(self, capacity: int = 6 << 20) -> None:
        self.capacity = capacity
        self.size = 0
        self._urls: OrderedDict[str, bytes] = OrderedDict()

    def get(self, ref: ImageRef, read: Callable[[], bytes]) -> bytes:
        """The URL of an image; `read` returns its bytes and is called only if it is not cached.

        Raises:
            DataError: the image has no media type, or `read` raised it.
        """
        mime = mime_of(ref)
        name = f"{ref.sha256}{mime}"
        return self.kept(name) or self.keep(name, mime, read())

    def kept(self, name: str) -> bytes | None:
        """The cached URL of that name, or None."""
        if name in self._urls:
            self._urls.move_to_end(name)
        return self._urls.get(name)

    def keep(self, name: str, mime: str, data: bytes) -> bytes:
        """Encode an image, cache its URL under that name, and return it."""
        url = b"".join((f'"data:{mime};base64,'.encode(), base64.b64encode(data), b'"'))
        if name not in self._urls:
            self._keep(name, url)
        return url

    def _keep(self, name: str, url: bytes) -> None:
        self._urls[name] = url
        self.size += len(url)
        while self.size > self.capacity:
            _, dropped = self._urls.popitem(last=False)
            self.size -= len(dropped)


SHARED = DataUrls()
"""The one cache of all models of this process."""


async def picture_url(ref: ImageRef, read: Callable[[], bytes], fit: Fit) -> bytes:
    """An image's URL in quotes, scaled down only where a limit requires it.

    Raises:
        AskError: it cannot be read (``unreadable-image``).
    """
    try:
        if not fit.touches(ref):
            return SHARED.get(ref, read)
        name = f"{ref.sha256} {fit.max_pixels} {fit.max_bytes}"
        if url := SHARED.kept(name):
            return url
        small = await asyncio.to_thread(fit.fitted, read(), ref)
        return SHARED.keep(name, small.mime, small.data)
    except DataError as error:
        raise AskError("unreadable-image", str(error)) from None


def lacks_image(request: Request) -> bool:
    """Whether a request contains no image although its question needs one.

    Queries that are declared to be about text only (`Query.image` is false) need none.
    """
    if request.images or request.source or request.setting != "image":
        return False
    if not has_task(request.task):
        return True
    queries = task(request.task).queries
    return all(each.image for each in queries if each.name == request.query)

"""The images of a request as pixels, and the requests that an OCR engine supports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

from keju.errors import DataError
from keju.images import open_image
from keju.items import Request
from keju.models.base import AskError
from keju.outlines import Grey
from keju.texts import _


def picture(data: bytes, name: str) -> Image.Image:
    """An image in colour, upright.

    Raises:
        AskError: it cannot be read (``unreadable-image``).
    """
    try:
        return open_image(data, name=name)
    except DataError as error:
        raise AskError("unreadable-image", str(error)) from None


def grey_image(request: Request, images: Sequence[bytes], index: int) -> Grey:
    """One image of a request in grey, upright.

    Raises:
        AskError: it cannot be read (``unreadable-image``).
    """
    return np.asarray(picture(images[index], f"{request.item}, image {index + 1}").convert("L"))


def unsupported_page_reason(request: Request) -> str:
    """Why an OCR engine does not support a request, or an empty string."""
    if request.form != "transcription":
        return _("an OCR engine only transcribes")
    return "" if request.images else _("there is no image to transcribe")

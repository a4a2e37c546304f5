"""The images of a request as pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keju.errors import DataError
from keju.images import open_image
from keju.items import Request
from keju.models.base import AskError

Grey = NDArray[np.uint8]
"""Rows by columns, 0 black to 255 white."""


def grey_image(request: Request, images: Sequence[bytes], index: int) -> Grey:
    """One image of a request in grey, upright.

    Raises:
        AskError: it can't be read (``unreadable-image``).
    """
    name = f"{request.item}, image {index + 1}"
    try:
        return np.asarray(open_image(images[index], name=name).convert("L"))
    except DataError as error:
        raise AskError("unreadable-image", str(error)) from None


def border_level(grey: Grey) -> int:
    """The median grey of an image's outermost pixels: what lies behind the thing shown."""
    edges = (grey[0], grey[-1], grey[:, 0], grey[:, -1])
    return int(np.median(np.concatenate(edges)))

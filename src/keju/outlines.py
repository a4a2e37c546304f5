"""Foreground detection: the grey level of the background, and the outline of the largest object."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]
"""Rows by columns, 0 black to 255 white."""

_FADED = 0.5  # of Otsu's threshold: a shaded or faint edge still belongs to the object
_CRACK = 0.03  # of the image's shorter side: a narrower crack or cut does not divide an object


def border_level(grey: Grey) -> int:
    """The median grey of an image's outermost pixels, that is, of the background."""
    edges = (grey[0], grey[-1], grey[:, 0], grey[:, -1])
    return int(np.median(np.concatenate(edges)))


def largest_contour(grey: Grey) -> NDArray[np.int32] | None:
    """The outline of the largest object on the background, n × (x, y), in order.

    It may extend slightly beyond the image. None if the image has no object.
    """
    import cv2  # noqa: PLC0415 - heavy

    apart: Any = np.abs(grey.astype(np.int16) - border_level(grey)).astype(np.uint8)
    level, _ = cv2.threshold(apart, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    mask = np.where(apart > max(1, _FADED * level), 255, 0).astype(np.uint8)
    side = max(3, round(_CRACK * min(grey.shape)))
    brush = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    closed = cv2.morphologyEx(np.pad(mask, side), cv2.MORPH_CLOSE, brush)
    found, _ = cv2.findContours(closed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not found:
        return None
    contour: NDArray[np.int32] = max(found, key=cv2.contourArea)[:, 0, :] - side
    return contour

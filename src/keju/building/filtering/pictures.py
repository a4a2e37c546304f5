"""What can be measured of a picture without knowing what it shows: blur, blankness, damage, light.

All but the size is measured on grey values after scaling the longer side down to 1,600 pixels, so
that a page measures alike at 300 and at 600 dpi. Pictures that are mostly dark (rubbings) are
turned over first: what is written counts as dark on light.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PIL import Image

from keju.images import open_image
from keju.ink import STEP, Grey, dark_on_light, grey_of, marks_of, paper_of

_REACH = 9
"""Pixels over which a picture is blurred to see what that takes from it."""

_STROKE = 0.022
"""Thickness, as a share of the longer side, that strokes of a page's characters do not reach."""

_BAND = 0.02
_DARK = 0.2


class Seen(Struct, frozen=True):
    """An image to be measured: by which name its items know it, and where its bytes lie."""

    path: str
    file: str


class PictureMeasures(Struct, frozen=True):
    """What was measured of an image; shares are 0 to 1.

    `pixels` is width times height, `short_side` the shorter of them, `aspect` the longer over the
    shorter. `blur` is 0 for edges as sharp as pixels can show and 1 for none (Crété et al. 2007,
    "The blur effect"). `marked` is the share of the picture that differs from the paper around it,
    by ink or otherwise: nearly 0 on a blank page. `contrast` is the distance between the 1st and
    99th percentile of grey, `brightness` the median, `burnt` and `black` the shares at the ends.
    `holes` is the share in patches of ink's darkness, or lost whites, too thick for strokes: worm
    holes, stains, tape. `dark_edges` is the share of the outermost 2 % that is dark: gutters,
    shadows, the scanner's bed.
    """

    path: str = ""
    pixels: int = 0
    short_side: int = 0
    aspect: float = 0.0
    blur: float = 0.0
    marked: float = 0.0
    contrast: float = 0.0
    brightness: float = 0.0
    burnt: float = 0.0
    black: float = 0.0
    holes: float = 0.0
    dark_edges: float = 0.0
    error: str = ""


def measure_picture(seen: Seen) -> PictureMeasures:
    """Measure an image file.

    Raises:
        DataError: it is no sound image.
    """
    image = open_image(Path(seen.file).read_bytes(), name=seen.path)
    width, height = image.size
    measures = measured(image)
    return PictureMeasures(
        path=seen.path,
        pixels=width * height,
        short_side=min(width, height),
        aspect=round(max(width, height) / min(width, height), 4),
        **{name: round(value, 4) for name, value in measures.items()},  # type: ignore[arg-type]
    )


def measured(image: Image.Image) -> dict[str, float]:
    """The measures of a picture's grey values, by their names in `PictureMeasures`."""
    grey = grey_of(image)
    low, middle, high = np.percentile(grey[::STEP, ::STEP], (1, 50, 99))
    page, turned = dark_on_light(grey)
    paper = paper_of(page)
    marks = marks_of(page, paper)
    return {
        "blur": blur(grey),
        "marked": float(marks.mean()),
        "contrast": float(high - low),
        "brightness": float(middle),
        "burnt": float((grey > 0.98).mean()),
        "black": float((grey < 0.02).mean()),
        "holes": _thick(marks) + _thick((page > 0.985) & (paper < 0.95)),
        "dark_edges": 0.0 if turned else _dark_edges(grey),
    }


def blur(grey: Grey) -> float:
    """0 where edges are as sharp as pixels can be, 1 where there are none (Crété et al. 2007).

    What a blur takes from the differences between neighbours is little where they were small
    already. Contrast does not matter; a picture that was enlarged counts as blurred, which it is.
    """
    from scipy.ndimage import uniform_filter1d  # noqa: PLC0415 - slow to import

    worst = 0.0
    for axis in (0, 1):
        sharp = np.abs(np.diff(grey, axis=axis))
        soft = np.abs(np.diff(uniform_filter1d(grey, _REACH, axis=axis), axis=axis))
        total = float(sharp.sum())
        lost = float(np.maximum(0, sharp - soft).sum())
        worst = max(worst, (total - lost) / total if total > 0 else 1.0)
    return worst


def _thick(mask: NDArray[np.bool_]) -> float:
    """The share of a picture in patches of a mask that are thicker than strokes."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d  # noqa: PLC0415 - slow to import

    kept = mask[::STEP, ::STEP].astype(np.uint8)
    reach = max(3, round(_STROKE * max(kept.shape)))
    for shrink_or_grow in (minimum_filter1d, maximum_filter1d):
        for axis in (0, 1):
            kept = shrink_or_grow(kept, reach, axis=axis, mode="constant")
    return float(kept.mean())


def _dark_edges(grey: Grey) -> float:
    height, width = grey.shape
    band = max(1, round(_BAND * max(height, width)))
    edge = np.ones(grey.shape, bool)
    edge[band : height - band, band : width - band] = False
    return float((grey[edge] < _DARK).mean())

"""Image measures that do not depend on the content: blur, blankness, damage, brightness.

Everything but the size is measured on grey values after scaling the longer side down to 1,600
pixels, so that a page measures the same at 300 and at 600 dpi. Images that are mostly dark
(rubbings) are inverted first, so that writing is dark on light.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PIL import Image

from keju.building.image_files import LOCAL_FILES, ImageFiles
from keju.images import open_image
from keju.ink import STEP, Grey, dark_on_light, estimate_paper, find_marks, to_grey

_REACH = 9
"""Pixels over which an image is blurred to measure the difference."""

_STROKE = 0.022
"""Thickness, as a share of the longer side, that strokes of a page's characters do not reach."""

_BAND = 0.02
_DARK = 0.2


class ImageToMeasure(Struct, frozen=True):
    """An image to measure: its path in items, and its name for `ImageFiles` or its file."""

    path: str
    file: str


class ImageMeasures(Struct, frozen=True):
    """The measures of an image; shares are 0 to 1.

    `pixels` is width times height, `short_side` the shorter of them, `aspect` the longer over the
    shorter. `blur` is 0 for edges as sharp as pixels can show and 1 for none (Crété et al. 2007,
    "The blur effect"). `marked` is the share of the image that differs from the paper around it, by
    ink or otherwise: nearly 0 on a blank page. `contrast` is the distance between the 1st and 99th
    percentile of grey, `brightness` the median, `burnt` and `black` the shares at the ends. `holes`
    is the share in patches as dark as ink, or in lost whites, that are too thick for strokes: worm
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


def measure_image(seen: ImageToMeasure, images: ImageFiles = LOCAL_FILES) -> ImageMeasures:
    """Measure an image file.

    Raises:
        DataError: it is not a valid image.
    """
    image = open_image(images.read(seen.file), name=seen.path)
    width, height = image.size
    measures = measure_grey(image)
    return ImageMeasures(
        path=seen.path,
        pixels=width * height,
        short_side=min(width, height),
        aspect=round(max(width, height) / min(width, height), 4),
        **{name: round(value, 4) for name, value in measures.items()},  # type: ignore[arg-type]
    )


def measure_grey(image: Image.Image) -> dict[str, float]:
    """Measure the grey values of an image; by the names in `ImageMeasures`."""
    grey = to_grey(image)
    low, middle, high = np.percentile(grey[::STEP, ::STEP], (1, 50, 99))
    page, turned = dark_on_light(grey)
    paper = estimate_paper(page)
    marks = find_marks(page, paper)
    return {
        "blur": measure_blur(grey),
        "marked": float(marks.mean()),
        "contrast": float(high - low),
        "brightness": float(middle),
        "burnt": float((grey > 0.98).mean()),
        "black": float((grey < 0.02).mean()),
        "holes": _measure_patches(marks) + _measure_patches((page > 0.985) & (paper < 0.95)),
        "dark_edges": 0.0 if turned else _measure_dark_edges(grey),
    }


def measure_blur(grey: Grey) -> float:
    """Measure blur: 0 for edges as sharp as pixels can be, 1 for no edges (Crété et al. 2007).

    Blurring an image reduces differences between neighbours little where they were small already.
    Contrast has no influence; an enlarged image counts as blurred.
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


def _measure_patches(mask: NDArray[np.bool_]) -> float:
    """Measure the share of an image in patches of a mask that are thicker than strokes."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d  # noqa: PLC0415 - slow to import

    kept = mask[::STEP, ::STEP].astype(np.uint8)
    reach = max(3, round(_STROKE * max(kept.shape)))
    for shrink_or_grow in (minimum_filter1d, maximum_filter1d):
        for axis in (0, 1):
            kept = shrink_or_grow(kept, reach, axis=axis, mode="constant")
    return float(kept.mean())


def _measure_dark_edges(grey: Grey) -> float:
    height, width = grey.shape
    band = max(1, round(_BAND * max(height, width)))
    edge = np.ones(grey.shape, bool)
    edge[band : height - band, band : width - band] = False
    return float((grey[edge] < _DARK).mean())

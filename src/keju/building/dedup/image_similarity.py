"""Similarity of two images: register them on each other, and compare them tile by tile.

Pages of one book have the same frame and columns, so that hashes, thumbnails and embeddings
consider them the same. They differ on a finer scale than the layout: in most tiles the strokes
differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache, partial

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple
from numpy.typing import NDArray

from keju.building.dedup.image_hashes import AREA, ImageFile, render_grey
from keju.building.engine import Engine, check_rows
from keju.building.image_files import LOCAL_FILES, ImageFiles

SAME_IMAGE = 0.9
"""Similarity from which two images count as the same. Measured: pages re-encoded, halved, rotated
by a degree or cropped by 3 % have .99 and more, other images .95 (but those below 150 pixels, once
halved, as little as .2); different pages of one layout have .6 at most, and two bronzes drawn from
one model with other labels .88."""

_TILE = 32
_LEAST_AREA = 128 * 128
_MOST_SHAPE = 0.2  # difference of the logarithms of the aspects: sides cropped by a tenth
_STROKES = (1.0, 4.0)  # finer detail is noise, coarser is layout
_COVERED = 0.9
_TEXTURED = 0.3
_FAINT = 1.5
_WORST = 5  # percentile of the tiles: nearly all must agree
_SCALES = np.exp(np.linspace(-0.1, 0.1, 21))
_REACH = 0.08

Grey = NDArray[np.float32]
Affine = NDArray[np.float32]


class ImagePair(Struct, frozen=True):
    """Two image files to compare, and their sizes in pixels."""

    one: str
    one_width: int
    one_height: int
    other: str
    other_width: int
    other_height: int


class Similarity(Struct, frozen=True):
    """The similarity of two images, -1..1; -1 if they cannot be registered."""

    likeness: float = -1.0
    error: str = ""


def measure_similarity(one: Grey, other: Grey) -> float:
    """Measure the similarity of two grey images, up to scale, rotation, cropping and brightness.

    The second image is registered on the first by an affine map: first the ink profiles of columns
    and rows are matched, which finds cropping, then the map is refined by the enhanced correlation
    coefficient (Evangelidis and Psarakis 2008). The correlation is computed for each tile with
    strokes.

    Grey values are [height, width], 0..255.

    Returns:
        The correlation that nineteen of twenty tiles reach; -1 where the shapes differ by more than
            a fifth, no tile has strokes, or no map is found.
    """
    import cv2  # noqa: PLC0415 - heavy

    ratio = math.log(one.shape[1] / one.shape[0] * other.shape[0] / other.shape[1])
    if abs(ratio) > _MOST_SHAPE:
        return -1.0
    size = _choose_size(one, other)
    one, other = (
        cv2.resize(
            each,
            size,
            interpolation=cv2.INTER_AREA if size[0] < each.shape[1] else cv2.INTER_CUBIC,
        )
        for each in (one, other)
    )
    best = -1.0
    for start in (np.eye(2, 3, dtype=np.float32), _align_profiles(one, other)):
        found = _refine_map(one, other, start)
        if found is not None:
            best = max(best, _correlate_tiles(one, other, found))
        if best >= SAME_IMAGE:
            break
    return best


def compare_images(pair: ImagePair, images: ImageFiles = LOCAL_FILES) -> Similarity:
    """Measure the similarity of two image files.

    Raises:
        DataError: one cannot be read.
    """
    one = ImageFile(pair.one, pair.one_width, pair.one_height)
    other = ImageFile(pair.other, pair.other_width, pair.other_height)
    return Similarity(
        likeness=measure_similarity(_load_grey(one, images), _load_grey(other, images))
    )


def compare_pairs(
    engine: Engine, pairs: Iterable[tuple[ImageFile, ImageFile]], images: ImageFiles
) -> list[float]:
    """Measure the similarity of pairs of images by an engine.

    Raises:
        DataError: an image cannot be read.
    """
    rows = [ImagePair(*astuple(one), *astuple(other)) for one, other in pairs]
    found = engine.map("comparisons", rows, partial(compare_images, images=images), Similarity)
    check_rows(found)
    return [each.likeness for each in found]


@lru_cache(maxsize=64)
def _load_grey(picture: ImageFile, images: ImageFiles) -> Grey:
    return np.asarray(render_grey(picture, images), np.float32)


def _choose_size(one: Grey, other: Grey) -> tuple[int, int]:
    """Choose a common width and height: the smaller area, in the shape of the first image."""
    area = min(max(min(one.size, other.size), _LEAST_AREA), AREA)
    scale = math.sqrt(area / one.size)
    return max(_TILE, round(one.shape[1] * scale)), max(_TILE, round(one.shape[0] * scale))


def _align_profiles(one: Grey, other: Grey) -> Affine:
    """Find the map that best aligns the ink profiles of columns and rows."""
    across, right = _fit_profile(one.mean(axis=0), other.mean(axis=0))
    along, down = _fit_profile(one.mean(axis=1), other.mean(axis=1))
    return np.array([[across, 0, right], [0, along, down]], np.float32)


def _fit_profile(one: Grey, other: Grey) -> tuple[float, float]:
    """Find the scale and shift that map positions in one profile to those in the other."""
    size = len(one)
    reach = int(_REACH * size)
    core = one[reach : size - reach]
    core = (core - core.mean()) / max(float(np.linalg.norm(core - core.mean())), 1e-6)
    places, middle = np.arange(size), (size - 1) / 2
    best = (-2.0, 1.0, 0.0)
    for scale in _SCALES:
        scaled = np.interp(scale * (places - middle) + middle, places, other)
        windows = np.lib.stride_tricks.sliding_window_view(scaled, len(core))
        centred = windows - windows.mean(axis=1, keepdims=True)
        found = centred @ core / np.maximum(np.linalg.norm(centred, axis=1), 1e-6)
        at = int(found.argmax())
        shift = scale * (at - reach - middle) + middle
        best = max(best, (float(found[at]), float(scale), float(shift)))
    return best[1], best[2]


def _refine_map(one: Grey, other: Grey, start: Affine) -> Affine | None:
    """Refine a map from coarse to fine; None if that does not converge."""
    import cv2  # noqa: PLC0415 - heavy

    found = start.copy()
    height, width = one.shape
    for level, rounds in ((4, 40), (2, 40), (1, 10)):
        size = max(8, width // level), max(8, height // level)
        first, second = (
            cv2.resize(each, size, interpolation=cv2.INTER_AREA) for each in (one, other)
        )
        found[:, 2] /= level
        until = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, rounds, 1e-4)
        try:
            found = cv2.findTransformECC(first, second, found, cv2.MOTION_AFFINE, until, None, 5)[1]
        except cv2.error:
            return None
        found[:, 2] *= level
    return found


def _correlate_tiles(one: Grey, other: Grey, found: Affine) -> float:
    import cv2  # noqa: PLC0415 - heavy

    size = one.shape[::-1]
    flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    warped = cv2.warpAffine(other, found, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    inside = cv2.warpAffine(np.ones_like(other), found, size, flags=flags)
    covered = _split_tiles(inside).mean(axis=1) >= _COVERED
    first, second = (_split_tiles(_filter_strokes(each))[covered] for each in (one, warped))
    first, second = (each - each.mean(axis=1, keepdims=True) for each in (first, second))
    spreads = first.std(axis=1), second.std(axis=1)
    spread = np.maximum(*spreads)
    if not len(spread):
        return -1.0
    textured = spread > max(_FAINT, _TEXTURED * float(np.percentile(spread, 90)))
    if not textured.any():
        return -1.0
    correlation = (first * second).mean(axis=1) / np.maximum(spreads[0] * spreads[1], 1e-6)
    return float(np.percentile(correlation[textured], _WORST))


def _filter_strokes(image: Grey) -> Grey:
    import cv2  # noqa: PLC0415 - heavy

    fine, coarse = (cv2.GaussianBlur(image, (0, 0), sigma) for sigma in _STROKES)
    return np.asarray(fine - coarse)


def _split_tiles(image: Grey) -> Grey:
    """Split an image into tiles [tiles, pixels]; the remainder at two edges is dropped."""
    down, across = image.shape[0] // _TILE, image.shape[1] // _TILE
    whole = image[: down * _TILE, : across * _TILE]
    return whole.reshape(down, _TILE, across, _TILE).swapaxes(1, 2).reshape(-1, _TILE * _TILE)

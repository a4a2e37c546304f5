"""Baselines that look at images of oracle bones: ``components``, ``hog`` and ``edges``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, uniform_filter1d

from keju.definitions import Candidates, task, tasks
from keju.images import open_image
from keju.items import Request
from keju.metrics.boxes import box_convention, from_pixels
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.rules import Baseline
from keju.outlines import Grey, border_level, largest_contour
from keju.texts import _, both

REVISION = "2"  # raised whenever an image would get another answer
MOST = 4096  # images whose descriptions are kept: more than a published task's gallery has
BOARD = 0.25  # of the image: the least area of a bone or plastron
AROUND = 1 / 6  # of the board's side: as far the surface is evenly bright
SPECK, CRACK = 0.012, 0.5  # of the board's side: shorter parts of ink are dirt, longer ones cracks
STROKE, GAP, SMALL = 0.15, 0.12, 0.4  # of the usual length: strokes, spaces in, and characters
SIDE, CELL, BINS, BLOCK = 48, 8, 9, 2  # pixels of image and cell, directions, cells of a block
ALIKE = 0.65  # the best threshold for pairs of Oracle-MNIST's crops
POINTS, FEWEST = 224, 8  # points of the longer of two outlines, and of the shortest segment
SHARES = (0.18, 0.25, 0.35)  # of the shorter outline: lengths of segments
WEAR, SMOOTHING = 0.25, 3.0  # of a step between points: harmless wear; pixels
EVEN, SLOPE = 0.85, 0.12  # evidence at even odds and the curve's width, for synthetic fragments

_usual = partial(np.quantile, q=0.5, method="inverted_cdf")  # weighted: specks do not change it

Mask = NDArray[np.bool_]
Curve = NDArray[np.complex128]
Describe = Callable[[Grey], Any]
Compare = Callable[[Any, Any], float]


class Components(Baseline):
    """Connected components of ink, with near ones joined: their boxes, or their number."""

    def __init__(self, _options: ModelOptions) -> None:
        super().__init__("components", revision=REVISION)

    def unsupported_reason(self, request: Request) -> str:
        """Supports only counts and boxes of one image."""
        if request.form not in {"number", "boxes"}:
            return _("components only counts and gives boxes")
        return "" if len(request.images) == 1 else _("components looks at one image")

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The boxes from top to bottom, in the requested convention, or their number."""
        ref = request.images[0]
        boxes = ink_boxes(_grey(request, images, 0))
        if request.form == "number":
            return Answer(text=str(len(boxes)))
        convention = box_convention(request.box_convention)
        rows = from_pixels(boxes, convention, width=ref.width, height=ref.height).tolist()
        texts = (", ".join(f"{number:.6g}" for number in row) for row in rows)
        return Answer(text=f"[{', '.join(f'[{text}]' for text in texts)}]")


def ink_boxes(grey: Grey) -> list[list[int]]:
    """Boxes of the writing: left, top, right, bottom in pixels, the right and bottom exclusive."""
    board = _board(grey)
    side = math.sqrt(board.sum())
    labels, stats = cv2.connectedComponentsWithStats(_ink(grey, board, side).view(np.uint8))[1:3]
    lengths = stats[:, 2:4].max(axis=1)
    writing = (lengths > SPECK * side) & (lengths < CRACK * side)
    writing[0] = False  # the surface
    if not writing.any():
        return []
    usual = _usual(lengths[writing], weights=stats[writing, 4])
    strokes = (writing & (lengths > STROKE * usual))[labels].view(np.uint8)
    # Strokes grow until near ones touch; the padding keeps their left and upper ends in place.
    gap = max(1, round(GAP * usual))
    padded = np.pad(strokes, ((gap - 1) // 2, gap // 2))
    groups = cv2.connectedComponentsWithStats(cv2.dilate(padded, np.ones((gap, gap), np.uint8)))[2]
    sizes = groups[1:, 2:4] - (gap - 1)
    lengths = sizes.max(axis=1)
    large = lengths > SMALL * _usual(lengths, weights=sizes.prod(axis=1))
    boxes = np.hstack([groups[1:, :2], groups[1:, :2] + sizes])[large].tolist()
    return sorted(boxes, key=lambda box: (box[1], box[0]))


def _board(grey: Grey) -> Mask:
    """The writing surface: the large foreground objects without their rims, else the image."""
    apart = cv2.absdiff(grey, np.full_like(grey, border_level(grey)))
    binary = cv2.threshold(apart, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)[1]
    contours = cv2.findContours(binary, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
    large = [each for each in contours if cv2.contourArea(each) >= BOARD * grey.size]
    board = cv2.drawContours(np.zeros_like(grey), large, -1, 1, cv2.FILLED)
    rim = max(3, round(SPECK * min(grey.shape)))
    inner = cv2.erode(board, np.ones((rim, rim), np.uint8))
    return np.asarray(inner if inner.any() else np.ones_like(grey), bool)


def _ink(grey: Grey, board: Mask, side: float) -> Mask:
    """The pixels that differ from their surroundings by Otsu's threshold, all in one direction."""
    smooth = cv2.medianBlur(grey, 3).astype(np.float32)
    weight, around = board.astype(np.float32), (1 + 2 * round(AROUND * side),) * 2
    apart = smooth - cv2.blur(smooth * weight, around) / np.maximum(cv2.blur(weight, around), 1e-3)
    # Cubes: a little ink with a strong contrast outweighs much unevenness of the surface.
    direction = np.sign((apart**2 * apart)[board].sum())
    strong = np.clip(direction * apart, 0, 255).astype(np.uint8)
    level = cv2.threshold(strong[board], 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)[0]
    return np.asarray(board & (strong > max(level, 1)))


def _grey(request: Request, images: Sequence[bytes], index: int) -> Grey:
    image = open_image(images[index], name=f"{request.item}, image {index + 1}")
    return np.asarray(image.convert("L"))


class PairBaseline(Baseline):
    """The similarity of two images, 0 to 1, or whether it reaches a threshold.

    Its tasks have candidates of a `kind`; `compare` gets what `describe` makes of the two images.
    """

    def __init__(
        self, name: str, kind: Candidates, threshold: float, describe: Describe, compare: Compare
    ) -> None:
        super().__init__(name, threshold=f"{threshold:g}", revision=REVISION)
        self._kind, self._threshold = kind, threshold
        self._describe, self._compare = describe, compare
        self._described: dict[str, Any] = {}

    def unsupported_reason(self, request: Request) -> str:
        """Supports only pairs of its own tasks."""
        if not request.candidate or len(request.images) != 2:
            return _("{} compares two pictures", self.name)
        if task(request.task).candidates != self._kind:
            names = sorted(each.id for each in tasks() if each.candidates == self._kind)
            return _("{} compares pictures of {}", self.name, both(names))
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """A probability with six digits, or Yes or No."""
        pair = (self._description(request, images, index) for index in (0, 1))
        similarity = min(1.0, self._compare(*pair))
        if request.form == "probability":
            return Answer(text=f"{similarity:.6f}")
        return Answer(text="Yes" if similarity >= self._threshold else "No")

    def _description(self, request: Request, images: Sequence[bytes], index: int) -> Any:  # noqa: ANN401
        name = request.images[index].sha256
        if name not in self._described:
            if len(self._described) == MOST:
                self._described.clear()
            self._described[name] = self._describe(_grey(request, images, index))
        return self._described[name]  # A gallery shows its images to every query.


def hog(_options: ModelOptions) -> PairBaseline:
    """The cosine of two histograms of gradients (Dalal and Triggs 2005)."""
    return PairBaseline("hog", "classes", ALIKE, gradients, np.dot)


def gradients(grey: Grey) -> NDArray[np.float32]:
    """The histograms of a character as a unit vector; zeros for an image without any edge."""
    bright = 255 - grey if border_level(grey) > 127 else grey
    level = np.sqrt(cv2.resize(bright, (SIDE, SIDE), interpolation=cv2.INTER_AREA) / 255)
    size, angle = cv2.cartToPolar(cv2.Sobel(level, -1, 1, 0), cv2.Sobel(level, -1, 0, 1))
    # A vote is divided between the two nearest directions, which half a turn does not change.
    turns = (angle * (BINS / np.pi))[:, :, None] - np.arange(BINS) + BINS / 2
    votes = size[:, :, None] * np.maximum(1 - np.abs(turns % BINS - BINS / 2), 0)
    cells = votes.reshape(SIDE // CELL, CELL, SIDE // CELL, CELL, BINS).sum(axis=(1, 3))
    blocks = sliding_window_view(cells, (BLOCK, BLOCK), axis=(0, 1)).reshape(-1, BINS * BLOCK**2)
    blocks = np.minimum(blocks / np.sqrt((blocks**2).sum(axis=1, keepdims=True) + 1e-3), 0.2)
    return np.asarray(blocks.ravel() / max(np.linalg.norm(blocks), 1e-3), dtype=np.float32)


def edges(_options: ModelOptions) -> PairBaseline:
    """The best fit of a segment of one fragment's outline to a segment of the other's."""
    return PairBaseline("edges", "fragments", 0.5, outline, fit)


def outline(grey: Grey) -> Curve:
    """The outline of the largest foreground object, clockwise, as x + iy; empty without one."""
    contour = largest_contour(grey)
    if contour is None:
        return np.zeros(0, dtype=np.complex128)
    # A chain of pixels is longer at a slant, so that two copies at different angles would differ.
    points = gaussian_filter1d(contour.astype(np.float64), SMOOTHING, axis=0, mode="wrap")
    return np.asarray(points[:: 1 + len(points) // 2048] @ (1, 1j))


def fit(one: Curve, other: Curve) -> float:
    """The probability that two outlines belong together, by their best fit.

    Segments are aligned by the best rotation, one reversed: the two sides of a crack are traced in
    opposite directions. The evidence is by how much they agree better with each other than with a
    straight line, times their share of the outline: straight edges fit everything.
    """
    if min(len(one), len(other)) < FEWEST:
        return 0.0
    step = max(length(one), length(other)) / POINTS
    one, other = _even(one, step), _even(other, step)[::-1]
    count, worn, evidence = len(one), (WEAR * step) ** 2, 0.0
    for share in SHARES:
        size = max(FEWEST, int(share * min(count, len(other))))
        # The mean of the segment that begins at each point.
        mean = partial(uniform_filter1d, size=size, origin=-(size // 2), mode="wrap")
        middle, spread, bend = _moments(one, mean)
        # One row per shift of the second curve against the first.
        middles, spreads, bends = (_shifts(values, count) for values in _moments(other, mean))
        around = count + size
        products = mean(_shifts(other, around).conj() * np.resize(one, around))[:, :count]
        misfit = (spread + spreads) / 2 - np.abs(products - middle * middles.conj())
        ratio = ((bend + bends) / 2 + worn) / (np.maximum(misfit, 0) + worn)
        evidence = max(evidence, size / POINTS * math.log(ratio.max()))
    return 1 / (1 + math.exp((EVEN - evidence) / SLOPE))


def length(curve: Curve) -> float:
    """The length of a closed curve."""
    return float(np.abs(np.diff(curve, append=curve[:1])).sum())


def _even(curve: Curve, step: float) -> Curve:
    """The closed curve as points that are about a step apart."""
    closed = np.append(curve, curve[:1])
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(closed)))])
    places = np.arange(max(FEWEST, round(way[-1] / step))) * step
    points: Curve = np.interp(places, way, closed)
    return np.asarray(points - points.mean())


def _moments(curve: Curve, mean: Callable[[NDArray[Any]], Any]) -> tuple[NDArray[Any], ...]:
    """Of each segment its middle, and the mean squares from it and from its straight line."""
    middle = mean(curve)
    spread = mean(np.abs(curve) ** 2) - np.abs(middle) ** 2
    # The mean of squared points is the difference of the two axes, rotated: an ellipse's length.
    axis = np.abs(mean(curve**2) - middle**2)
    return middle, spread, (spread - axis) / 2


def _shifts(values: NDArray[Any], width: int) -> NDArray[Any]:
    """Row k contains `width` of the values from the k-th on, cyclically."""
    return sliding_window_view(np.resize(values, len(values) + width - 1), width)

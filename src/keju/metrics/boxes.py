"""Comparison of boxes: overlap, one-to-one matching, and coordinates in a declared convention.

A box is (left, top, right, bottom) in pixels, as continuous edges: a box from 0 to 10 is 10 wide.
A degenerate box (without area, or with a coordinate that is not finite) overlaps with nothing, but
is still counted among the given boxes. Boxes are not cut at the picture's edge. A row that has not
four numbers raises `ValueError`; without true boxes metrics raise `UndefinedMetricError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from keju.errors import UsageError
from keju.metrics.base import UndefinedMetricError
from keju.texts import _

Axes = Literal["xyxy", "yxyx", "xywh", "cxcywh"]
Scale = Literal["pixels", "unit", "1000"]
Boxes = npt.NDArray[np.float64]
SomeBoxes = Sequence[Sequence[float]] | Boxes

THRESHOLDS = tuple(percent / 100 for percent in range(50, 100, 5))


class BoxConvention(NamedTuple):
    """The meaning of the four numbers of a box.

    Attributes:
        axes: their order; ``xywh`` is left, top, width, height and ``cxcywh`` centre and size.
        scale: ``pixels``, ``unit`` (0 to 1 of the picture's side), ``1000`` (0 to 1,000 of it).
    """

    axes: Axes = "xyxy"
    scale: Scale = "pixels"


class BoxHits(NamedTuple):
    """Boxes found at each IoU threshold, of all true and predicted boxes."""

    hits: tuple[int, ...]
    truth: int
    predicted: int

    @property
    def f1(self) -> float:
        """Mean of F1 over the thresholds."""
        rates = [2 * hits / (self.truth + self.predicted) for hits in self.hits]
        return sum(rates) / len(rates)


def box_convention(name: str) -> BoxConvention:
    """The convention of a name: axes, then scale unless pixels, as in ``xyxy`` or ``yxyx-1000``.

    Raises:
        UsageError: the name is none.
    """
    axes, __, scale = name.partition("-")
    for known_axes in get_args(Axes):
        for known_scale in get_args(Scale):
            if (axes, scale or "pixels") == (known_axes, known_scale):
                return BoxConvention(known_axes, known_scale)
    raise UsageError(
        "no box convention {!r}. Use one of {}, and append one of -{} if it is not in pixels",
        name,
        ", ".join(get_args(Axes)),
        ", -".join(get_args(Scale)),
    )


def to_pixels(boxes: SomeBoxes, convention: BoxConvention, *, width: float, height: float) -> Boxes:
    """Boxes of a picture (of a width and height in pixels) as n x 4 (left, top, right, bottom).

    The convention is the one that was declared when asking; it is never inferred from the values.
    Edges that come in the wrong order stay so: the box is degenerate.
    """
    given = _as_boxes(boxes)
    if convention.axes == "yxyx":
        given = given[:, [1, 0, 3, 2]]
    with np.errstate(invalid="ignore", over="ignore"):
        given = given * _pixels_a_unit(convention.scale, width, height)
        if convention.axes == "xywh":
            given = np.hstack([given[:, :2], given[:, :2] + given[:, 2:]])
        elif convention.axes == "cxcywh":
            half = given[:, 2:] / 2
            given = np.hstack([given[:, :2] - half, given[:, :2] + half])
    return given


def from_pixels(
    boxes: SomeBoxes, convention: BoxConvention, *, width: float, height: float
) -> Boxes:
    """Boxes (left, top, right, bottom) as a convention writes them: what `to_pixels` takes back."""
    rows = _as_boxes(boxes)
    with np.errstate(over="ignore"):
        if convention.axes == "xywh":
            rows = np.hstack([rows[:, :2], rows[:, 2:] - rows[:, :2]])
        elif convention.axes == "cxcywh":
            rows = np.hstack([(rows[:, :2] + rows[:, 2:]) / 2, rows[:, 2:] - rows[:, :2]])
        rows = rows / _pixels_a_unit(convention.scale, width, height)
    return rows[:, [1, 0, 3, 2]] if convention.axes == "yxyx" else rows


def _pixels_a_unit(scale: Scale, width: float, height: float) -> Boxes:
    """How many pixels one of the scale is, for each of four numbers."""
    if scale == "pixels":
        return np.ones(4)
    return np.array([width, height] * 2) / (1.0 if scale == "unit" else 1000.0)


def iou_matrix(truth: SomeBoxes, predicted: SomeBoxes) -> npt.NDArray[np.float64]:
    """Intersection over union, 0 to 1, of each of n true boxes with each of m predicted, n x m.

    It is 0 for degenerate boxes.
    """
    left, right = _as_boxes(truth), _as_boxes(predicted)
    left_areas, right_areas = _areas(left), _areas(right)
    left = np.where(left_areas[:, None] > 0, left, 0.0)
    right = np.where(right_areas[:, None] > 0, right, 0.0)
    near = np.maximum(left[:, None, :2], right[None, :, :2])
    far = np.minimum(left[:, None, 2:], right[None, :, 2:])
    with np.errstate(over="ignore"):
        shared = np.clip(far - near, 0, None).prod(axis=2)
        union = left_areas[:, None] + right_areas[None, :] - shared
    overlaps: Boxes = np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)
    return overlaps


def mean_iou(truth: SomeBoxes, predicted: SomeBoxes) -> float:
    """The greatest sum of IoU of boxes matched one to one (Hungarian), over the larger number.

    Neither misses nor extras are free: our reading where a paper has no rule.
    """
    overlaps = _overlaps(truth, predicted)
    total = sum(float(overlaps[pair]) for pair in _assigned(overlaps))
    larger: int = max(overlaps.shape)
    return total / larger


def box_hits(truth: SomeBoxes, predicted: SomeBoxes) -> BoxHits:
    """Boxes found at each threshold: the most pairs, one to one, that overlap that much.

    The mean of F1 over .5, .55 … .95 is COCO's range of thresholds without its confidences, which
    language models don't give.
    """
    overlaps = _overlaps(truth, predicted)
    hits = tuple(_most_pairs(overlaps >= threshold) for threshold in THRESHOLDS)
    return BoxHits(hits, len(overlaps), overlaps.shape[1])


def _as_boxes(boxes: SomeBoxes) -> Boxes:
    given = np.asarray(boxes, dtype=np.float64)
    if not given.size:
        return np.empty((0, 4))
    if given.ndim != 2 or given.shape[1] != 4:
        raise ValueError("a box is four numbers")
    return given


def _areas(boxes: Boxes) -> npt.NDArray[np.float64]:
    """Area of each box; 0 for one that is turned, not finite, or too large for a float."""
    with np.errstate(invalid="ignore", over="ignore"):
        sides = boxes[:, 2:] - boxes[:, :2]
        areas = sides.prod(axis=1)
    sound = (sides > 0).all(axis=1) & np.isfinite(areas)
    return np.where(sound, areas, 0.0)


def _overlaps(truth: SomeBoxes, predicted: SomeBoxes) -> npt.NDArray[np.float64]:
    overlaps = iou_matrix(truth, predicted)
    if not overlaps.shape[0]:
        raise UndefinedMetricError(_("there are no true boxes"))
    return overlaps


def _most_pairs(allowed: npt.NDArray[np.bool_]) -> int:
    allowed = allowed[allowed.any(axis=1)][:, allowed.any(axis=0)]
    return sum(bool(allowed[pair]) for pair in _assigned(allowed))


def _assigned(worth: npt.NDArray[np.float64] | npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The pairs (row, column), one to one, of the greatest total worth, in order of rows."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    rows, columns = linear_sum_assignment(worth, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))

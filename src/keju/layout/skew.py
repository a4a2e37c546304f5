"""How far a page's columns lean, from the lines' own outlines or from how they stand in stacks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from keju.items import Line
from keju.layout.boxes import Boxes, Floats, outline, straighten

MAX_SKEW = 8.0
"""Degrees: a page that seems to lean more is not a page of columns, and is left as it is."""

_AGREE = 0.8
"""Degrees by which stacked pieces of columns may typically differ for their lean to be believed."""

_FEW = 3
_MOST = 800


def estimate_skew(lines: Sequence[Line]) -> float:
    """How far the page's columns lean from the vertical, in degrees.

    Positive where a column's foot lies to the right of its head, that is, where the page was
    turned anticlockwise. It is the median over elongated outlines, weighted by length, where most
    of the writing has outlines that tell; where the outlines are upright boxes, the median
    direction from one piece of a column to the next piece below it. Zero if neither tells, or if
    the result lies beyond ±`MAX_SKEW`.

    Source: our reading; the second rule is for engines and annotators that draw upright boxes.
    """
    drawn = [found for line in lines if (found := outline(line.polygon)) is not None]
    told = [(one.lean, one.height) for one in drawn if one.lean is not None]
    length = sum(one.height for one in drawn)
    if len(told) >= _FEW and sum(weight for _, weight in told) > length / 2:
        leans, weights = np.array(told, dtype=np.float64).T
        skew = weighted_median(leans, weights)
    else:
        skew = _stacked(straighten([line for line in lines if outline(line.polygon)], 0.0))
    return skew if abs(skew) <= MAX_SKEW else 0.0


def _stacked(boxes: Boxes) -> float:
    """The median direction from a box to the one that stands close below it.

    An upright box around leaning writing is wider than the writing, the more so the longer it is;
    two boxes are pieces of one column if they are alike in width without that.
    """
    tallest = np.argsort(-boxes.height, kind="stable")[:_MOST]
    boxes = boxes.take(tallest[np.argsort(boxes.y0[tallest], kind="stable")])
    leans: list[float] = []
    weights: list[float] = []
    for i in range(len(boxes)):
        width = boxes.width[i]
        gap = np.abs(boxes.y0 - boxes.y1[i])
        under = (gap < width) & (np.abs(boxes.cx - boxes.cx[i]) < 0.6 * width)
        below = np.flatnonzero(under & (boxes.cy > boxes.cy[i]))
        if len(below) != 1 or abs(boxes.width[below[0]] - width) > 0.25 * width:
            continue
        j = int(below[0])
        down = float(boxes.cy[j] - boxes.cy[i])
        tangent = float(boxes.cx[j] - boxes.cx[i]) / down
        true = boxes.width[[i, j]] - abs(tangent) * boxes.height[[i, j]]
        if down > 2 * width and abs(true[0] - true[1]) < 0.2 * max(true) and min(true) > 0:
            leans.append(math.degrees(math.atan(tangent)))
            weights.append(down)
    if len(leans) < max(_FEW, len(boxes) / 10):
        return 0.0
    skew = weighted_median(np.array(leans), np.array(weights))
    spread = weighted_median(np.abs(np.array(leans) - skew), np.array(weights))
    return skew if spread <= _AGREE else 0.0


def weighted_median(values: Floats, weights: Floats) -> float:
    """The value at which half of the weight is reached; `values` must not be empty."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])

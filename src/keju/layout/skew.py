"""Skew of a page's columns, from the lines' own outlines or from how they fit the columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keju.items import Line
from keju.layout.boxes import Boxes, Outline, outline, upright_box
from keju.layout.column_grid import measure_column_grid, weighted_median
from keju.layout.columns import divide

MAX_SKEW = 8.0
"""Degrees: a page with a larger estimate is not a page of columns, and is not rotated."""

_TRIED = 5.0
"""Maximum degrees tried on upright boxes."""

_STEP = 0.5

_FITS = 0.03
"""Boxes that fit their columns as well as this (`misfit` per column) are not skewed."""

_BETTER = 0.3
"""A skew is accepted if it leaves this share of the misfit, or less."""

_DOUBT = 0.002
"""Required improvement per degree: of two angles that fit equally the smaller one is used."""

_SHORT = 4.0
"""Boxes up to this ratio of height to width show how wide writing is."""

_THINNEST = 0.6
"""No writing is narrower than this share of the narrower short boxes."""

_FEW = 3
_MOST = 400


def estimate_skew(lines: Sequence[Line]) -> float:
    """The angle of the page's columns from the vertical, in degrees.

    Positive where a column's foot is to the right of its head, that is, where the page was rotated
    anticlockwise. It is the median over elongated outlines, weighted by length, where most of the
    writing has such outlines. Where the outlines are upright boxes, which overlap when they are
    drawn around skewed writing, angles are tried until the boxes form columns. Zero if neither
    gives a result, or if the result is beyond ±`MAX_SKEW`.

    Source: our reading; the second rule is for engines and annotators that draw upright boxes.
    """
    drawn = [found for line in lines if (found := outline(line.polygon)) is not None]
    leaning = [(one.lean, one.height) for one in drawn if one.lean is not None]
    length = sum(one.height for one in drawn)
    if len(leaning) < _FEW or sum(weight for _, weight in leaning) <= length / 2:
        return _tried(drawn)
    leans, weights = np.array(leaning, dtype=np.float64).T
    skew = weighted_median(leans, weights)
    return skew if abs(skew) <= MAX_SKEW else 0.0


def _tried(drawn: Sequence[Outline]) -> float:
    """The angle at which upright boxes fit columns best; 0 if they fit as they are."""
    longest = sorted(drawn, key=lambda one: (-one.height, one.cx, one.cy))[:_MOST]
    if len(longest) < _FEW:
        return 0.0
    plain = _misfit(longest, 0.0)
    if plain <= _FITS:
        return 0.0
    steepest = _steepest(longest)
    misfits = {0.0: plain}

    def cost(lean: float) -> float:
        if lean not in misfits:
            misfits[lean] = _misfit(longest, lean) if abs(lean) <= steepest else np.inf
        return misfits[lean] + _DOUBT * abs(lean)

    best = min(np.arange(-_TRIED, _TRIED + 1).tolist(), key=cost)
    best = min((best, best - _STEP, best + _STEP), key=cost)
    return float(best) if misfits[best] <= _BETTER * plain else 0.0


def _steepest(drawn: Sequence[Outline]) -> float:
    """The maximum skew of a page of upright boxes, in degrees, by how narrow long boxes are.

    Around skewed writing a long box is wider than a short one, which the skew hardly widens.
    """
    width = np.array([one.width for one in drawn])
    height = np.array([one.height for one in drawn])
    short = width[height < _SHORT * width]
    least = _THINNEST * float(np.quantile(short, 0.1)) if len(short) >= _FEW else 0.2 * width
    room = np.clip(width - least, 0, None) / np.maximum(height, 1e-300)
    order = np.argsort(room)
    reached = np.cumsum(height[order])
    return float(np.degrees(np.arctan(room[order][np.searchsorted(reached, 0.1 * reached[-1])])))


def _misfit(drawn: Sequence[Outline], degrees: float) -> float:
    """How badly boxes fit their columns after that skew is removed, per column."""
    boxes = Boxes(*np.array([upright_box(shape, degrees) for shape in drawn]).T)
    division = divide(boxes, measure_column_grid(boxes))
    return division.misfit / max(1, division.occupied(boxes))

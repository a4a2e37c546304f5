"""``baseline:edges``: matches fragments by the curve of their edges."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from keju.models.base import ModelOptions
from keju.models.baselines.pairs import PairBaseline
from keju.outlines import Grey, largest_contour

POINTS = 224
"""Points along the longer of two outlines."""
SHARES = (0.18, 0.25, 0.35)
"""Lengths of edge that are compared, as shares of the shorter outline."""

_THRESHOLD = 0.5
_PAIRS_KEPT = 1 << 17  # all pairs of 500 fragments, in 30 MB
_EVEN, _SLOPE = 0.85, 0.12
_WEAR = 0.25  # of the distance between two points: wear that leaves an edge the same
_SMOOTHING = 3.0  # pixels
_FEWEST, _MOST = 8, 2048  # points of an outline that can be matched, and that are kept

Curve = NDArray[np.complex128]
Reals = NDArray[np.float64]
_Number = TypeVar("_Number", np.float64, np.complex128)


class _Stretches(NamedTuple):
    """All segments of one length of a closed curve, by their first point.

    `middle` is the mean of its points, `spread` the mean square of their distances from it, `bend`
    that of their distances from their own best straight line.
    """

    middle: Curve
    spread: Reals
    bend: Reals


class Edges(PairBaseline[Curve]):
    """The best fit of a segment of one outline to a segment of the other; for rejoining.

    All pairs of segments are aligned by the best rotation, with the second outline reversed, since
    the two sides of a crack are traced in opposite directions. The evidence is how much better the
    segments agree with each other than with a straight line, as the logarithm of the two mean
    squares, times the segment's share of the outline: straight edges fit everything and so are no
    evidence. Fragments must have the same scale and a plain ground. The steepness of the curve that
    converts it to a probability was set on synthetic fragments, and the threshold is where it is
    even.
    """

    def __init__(self, options: ModelOptions) -> None:
        super().__init__(
            "edges",
            options,
            candidates="fragments",
            threshold=_THRESHOLD,
            pairs_kept=_PAIRS_KEPT,
            points=str(POINTS),
            shares=", ".join(map(str, SHARES)),
        )

    def describe(self, grey: Grey) -> Curve:
        """The fragment's outline."""
        return outline(grey)

    def compare(self, one: Curve, other: Curve) -> float:
        """The probability of the best fit."""
        return 1 / (1 + math.exp((_EVEN - evidence(one, other)) / _SLOPE))


def outline(grey: Grey) -> Curve:
    """The outline of the largest foreground object, clockwise, smoothed.

    Its points are about a pixel apart, as x + iy, or further apart where there would be too many.
    None where there is no foreground object.
    """
    contour = largest_contour(grey)
    if contour is None:
        return np.zeros(0, dtype=np.complex128)
    points = contour.astype(np.float64)
    # A chain of pixels is longer at a slant, so that two copies at different angles would differ.
    wave = np.fft.fftfreq(len(points))
    blur = np.exp(-2 * (np.pi * wave * _SMOOTHING) ** 2)
    smooth: Curve = np.fft.ifft(np.fft.fft(points[:, 0] + 1j * points[:, 1]) * blur)
    return smooth if len(smooth) <= _MOST else _even(smooth, length(smooth) / _MOST)


def evidence(one: Curve, other: Curve) -> float:
    """The evidence of the best fit between two outlines; 0 where nothing fits."""
    if min(len(one), len(other)) < _FEWEST:
        return 0.0
    apart = max(length(one), length(other)) / POINTS
    return best_fit(_even(one, apart), _even(other, apart)[::-1], worn=(_WEAR * apart) ** 2)


def best_fit(one: Curve, other: Curve, *, worn: float) -> float:
    """The evidence of the best fit between two closed curves that run in the same direction.

    Takes the square of their numbers of points, independent of the segments' length: the products
    of the points are summed along both curves, and a segment's sum is the difference of two of
    those.

    Args:
        one: its points, evenly spaced.
        other: its points, with the same spacing.
        worn: the mean square loss of edges by wear, in squares of the unit of the points.
    """
    sizes = [max(_FEWEST, int(share * min(len(one), len(other)))) for share in SHARES]
    count = len(one)
    along = np.append(one, np.resize(one, max(sizes)))
    # One row per shift of the second curve against the first.
    products = _shifts(other, len(along)).conj() * along
    sums = np.cumsum(np.pad(products, ((0, 0), (1, 0))), axis=1)
    found = 0.0
    for size in sizes:
        a, b = _stretches(one, size), _stretches(other, size)
        product = (sums[:, size : size + count] - sums[:, :count]) / size
        turned = np.abs(product - a.middle * _shifts(b.middle, count).conj())
        misfit = np.maximum((a.spread + _shifts(b.spread, count)) / 2 - turned, 0)
        bend = (a.bend + _shifts(b.bend, count)) / 2
        ratio = float(((bend + worn) / (misfit + worn)).max())
        found = max(found, size / POINTS * math.log(ratio))
    return found


def length(curve: Curve) -> float:
    """The length of a closed curve."""
    return float(np.abs(np.diff(curve, append=curve[:1])).sum())


def _even(curve: Curve, apart: float) -> Curve:
    """The closed curve as evenly spaced points, about `apart` from each other."""
    closed = np.append(curve, curve[:1])
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(closed)))])
    at = np.arange(max(_FEWEST, round(way[-1] / apart))) * apart
    points: Curve = np.interp(at, way, closed.real) + 1j * np.interp(at, way, closed.imag)
    points -= points.mean()
    return points


def _shifts(values: NDArray[_Number], width: int) -> NDArray[_Number]:
    """Row k contains `width` of the values from the k-th on, cyclically."""
    round_and_round = np.resize(values, len(values) + width - 1)
    return np.lib.stride_tricks.sliding_window_view(round_and_round, width)


def _stretches(curve: Curve, size: int) -> _Stretches:
    middle = _means(curve, size)
    spread = _means(np.abs(curve) ** 2, size) - np.abs(middle) ** 2
    # The mean of squared points is the difference of the two axes, rotated: an ellipse's length.
    axis = np.abs(_means(curve**2, size) - middle**2)
    return _Stretches(middle, spread, (spread - axis) / 2)


def _means(values: NDArray[_Number], size: int) -> NDArray[_Number]:
    sums = np.cumsum(np.concatenate([values[:1] * 0, values, np.resize(values, size - 1)]))
    means: NDArray[_Number] = (sums[size:] - sums[:-size]) / size
    return means

"""Fragmentation of a piece: one map of labels for all parts, so that neighbours share an edge.

The fracture between two parts is one line made by midpoint displacement; every pixel is on one side
of it. Erosion is applied to each part separately, so that outlines no longer fit exactly, as with
bones that were buried for three thousand years.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from keju.errors import DataError
from keju.texts import n_
from keju_synthetic.noise import Plane, make_noise, ramp, to_plane

Labels = NDArray[np.uint8]
"""Height × width: 0 beside the piece, else the number of a part, from 1."""

_TRIES = 24
_LEAST = 0.3
"""How small a part may be, against an even share of the mask."""


class Fragmentation(NamedTuple):
    """The parts of a piece, and which of them touch.

    `neighbours` are pairs of part numbers, the smaller first.
    """

    labels: Labels
    neighbours: frozenset[tuple[int, int]]

    @property
    def parts(self) -> int:
        """The number of parts."""
        return int(self.labels.max())

    def list_neighbours(self, part: int) -> tuple[int, ...]:
        """The parts that touch `part`."""
        return tuple(sorted(b if a == part else a for a, b in self.neighbours if part in {a, b}))


def fragment_mask(
    mask: Plane, parts: int, rng: np.random.Generator, *, rough: float
) -> Fragmentation:
    """Divide the area of a mask into parts.

    The largest part is broken again and again, each time across its longer side.

    Args:
        mask: 0..1; where it is over one half there is something to break.
        parts: how many parts, 1 to 40.
        rng: the random generator of the breaks.
        rough: how far a break's midpoints stray, in parts of the distance of its ends.

    Returns:
        Every part is connected, and every pixel of the mask's largest connected region belongs to
        one; islands beside it belong to none.

    Raises:
        DataError: no break leaves parts large enough: the mask is too small or too thin.
    """
    if not 1 <= parts <= 40:
        raise DataError(
            n_(
                "a piece cannot be broken into {n:,} part",
                "a piece cannot be broken into {n:,} parts",
                parts,
                hint="Use 1 to 40",
            )
        )
    whole = _find_largest_region(mask > 0.5)
    labels: Labels = whole.astype(np.uint8)
    if not whole.any():
        raise DataError("the mask of the piece is empty", hint="Give a mask that covers the piece")
    enough = _LEAST * np.count_nonzero(whole) / parts
    for number in range(2, parts + 1):
        sizes = np.bincount(labels.ravel(), minlength=number)[1:]
        _split_part(labels, int(np.argmax(sizes)) + 1, number, rng, rough=rough, enough=enough)
    return Fragmentation(labels, _find_neighbours(labels, shared=max(3, round(enough**0.5 * 0.15))))


def _split_part(
    labels: Labels, part: int, number: int, rng: np.random.Generator, *, rough: float, enough: float
) -> None:
    """Give one side of a break through `part` the label `number`."""
    rows, columns = np.nonzero(labels == part)
    for attempt in range(_TRIES):
        wayward = rough * (1 - attempt / (2 * _TRIES))
        beyond = _select_side(rows, columns, rng, wayward)
        for side in (beyond, ~beyond):
            if np.count_nonzero(side) < enough or np.count_nonzero(~side) < enough:
                break
            half = np.zeros(labels.shape, bool)
            half[rows[side], columns[side]] = True
            kept = _find_largest_region(half)
            rest = (labels == part) & ~kept
            if (
                _find_largest_region(rest).sum() == rest.sum()
                and kept.sum() >= enough <= rest.sum()
            ):
                labels[kept] = number
                return
    raise DataError(
        "no fracture leaves parts of at least {:.0f} pixels",
        enough,
        hint="Use fewer parts, or a larger mask",
    )


def _select_side(
    rows: NDArray[np.intp], columns: NDArray[np.intp], rng: np.random.Generator, rough: float
) -> NDArray[np.bool_]:
    """The mask of the pixels beyond a ragged line across their longer side."""
    top, left = int(rows.min()), int(columns.min())
    high, wide = int(rows.max()) - top + 1, int(columns.max()) - left + 1
    along, across = (columns - left, rows - top) if high >= wide else (rows - top, columns - left)
    long, deep = (wide, high) if high >= wide else (high, wide)
    place, slant = (float(v) for v in rng.random(2))
    start = deep * (0.36 + 0.28 * place)
    lean = (slant - 0.5) * 0.7 * deep
    profile = make_fracture(long, rng, rough=rough)
    line = start + lean * (np.arange(long) / long - 0.5) + profile
    beyond: NDArray[np.bool_] = across > line[along]
    return beyond


def make_fracture(length: int, rng: np.random.Generator, *, rough: float) -> NDArray[np.float64]:
    """The deviation of a fracture from a straight line, in pixels, at each pixel of its length."""
    points = np.zeros(2)
    span = float(length)
    while span > 3:
        strays = (rng.random(len(points) - 1) * 2 - 1) * rough * span
        finer = np.empty(2 * len(points) - 1)
        finer[::2] = points
        finer[1::2] = (points[:-1] + points[1:]) / 2 + strays
        points, span = finer, span / 2
    at = np.arange(length) * ((len(points) - 1) / max(1, length - 1))
    low = np.minimum(at.astype(np.int64), len(points) - 2)
    part = at - low
    straying: NDArray[np.float64] = points[low] * (1 - part) + points[low + 1] * part
    return straying


def _find_largest_region(where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The largest region of pixels that touch at their sides, found by their runs in each row."""
    rows, starts, ends = _find_runs(where)
    if not rows.size:
        return np.zeros_like(where)
    root = list(range(rows.size))

    def find(run: int) -> int:
        while root[run] != run:
            root[run] = root[root[run]]
            run = root[run]
        return run

    for upper, lower in _find_touching_runs(rows, starts, ends):
        root[find(lower)] = find(upper)
    regions = np.array([find(run) for run in range(rows.size)])
    sizes = np.bincount(regions, weights=ends - starts)
    kept = regions == int(np.argmax(sizes))
    edges = np.zeros((where.shape[0], where.shape[1] + 1), np.int8)
    edges[rows[kept], starts[kept]] += 1
    edges[rows[kept], ends[kept]] -= 1
    region: NDArray[np.bool_] = edges.cumsum(axis=1)[:, :-1] > 0
    return region


Runs = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


def _find_runs(where: NDArray[np.bool_]) -> Runs:
    """Row, first column and column after the last of each run of true pixels."""
    padded = np.pad(where, ((0, 0), (1, 1))).astype(np.int8)
    change = np.diff(padded, axis=1)
    rows, starts = np.nonzero(change == 1)
    ends = np.nonzero(change == -1)[1]
    return rows, starts, ends


def _find_touching_runs(
    rows: NDArray[np.intp], starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> Iterator[tuple[int, int]]:
    """Pairs of runs in neighbouring rows that overlap."""
    upper = 0
    for lower in range(rows.size):
        while rows[upper] < rows[lower] - 1 or (
            rows[upper] == rows[lower] - 1 and ends[upper] <= starts[lower]
        ):
            upper += 1
        run = upper
        while rows[run] == rows[lower] - 1 and starts[run] < ends[lower]:
            yield run, lower
            run += 1


def _find_neighbours(labels: Labels, shared: int) -> frozenset[tuple[int, int]]:
    """Pairs of parts with at least `shared` pairs of pixels side by side."""
    count = int(labels.max()) + 1
    table = np.zeros((count, count), np.int64)
    for a, b in ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1])):
        pairs = np.bincount(a.ravel().astype(np.int64) * count + b.ravel(), minlength=count * count)
        table += pairs.reshape(count, count)
    table = table + table.T
    return frozenset(
        (a, b) for a in range(1, count) for b in range(a + 1, count) if table[a, b] >= shared
    )


def erode_part(
    labels: Labels, part: int, rng: np.random.Generator, *, depth: float
) -> NDArray[np.bool_]:
    """One part, worn along its breaks but not along the old rim of the piece.

    Args:
        labels: all parts.
        part: which one.
        rng: the random generator of the wear.
        depth: about how many pixels are lost where chips broke off; a third of it elsewhere.
    """
    own = labels == part
    others = (labels != part) & (labels != 0)
    near = to_plane(
        Image.fromarray(others.astype(np.uint8) * 255).filter(ImageFilter.GaussianBlur(depth))
    )
    shape = (own.shape[0], own.shape[1])
    nibbled = make_noise(rng, shape, max(2.0, depth * 0.7)) - 0.5
    chips = ramp(make_noise(rng, shape, depth * 4), 0.55, 0.80)
    limit = np.maximum(0.34 + 0.16 * nibbled - 0.26 * chips, 0.03)
    kept = own & (near < limit)
    # Splinters that nothing holds break off.
    firm = to_plane(
        Image.fromarray(kept.astype(np.uint8) * 255).filter(ImageFilter.GaussianBlur(depth))
    )
    return _find_largest_region(kept & ((firm > 0.45) | (near < 0.02)))

"""Misplaced lines: compare the reading order of an answer with the true order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import fuzz

from keju.items import Line

_SHARE = 0.3
"""A recognised line matches a true one if it shares this much of the smaller one's area."""

_MOST = 0.6
"""A line counts as covered from this share of its breadth."""

_ALIKE = 60.0
"""A true line is found in a text from this similarity in percent."""

_SHORTEST = 3
"""Minimum length in characters; shorter lines are found anywhere."""

_USED = "\0"

Bounds = tuple[float, float, float, float]


class Placed(NamedTuple):
    """One recognised line or text, in the order of reading.

    `place` is its rank in the true order among everything recognised, from 0, None without a true
    line; `line` is the index of that true line; `moved` is whether it is one of the fewest (by
    characters) that would have to be moved to restore the true order. A line `across` two true ones
    or more, as where columns were read as rows, has no rank among them.
    """

    bounds: Bounds
    place: int | None
    line: int | None
    moved: bool
    across: bool = False


def order_of_lines(truth: Sequence[Line], read: Sequence[Line]) -> list[Placed]:
    """The lines that an engine recognised, in its order, against the true lines in theirs.

    A recognised line belongs to the true line with which it overlaps most. Pieces of one true
    column are ordered from top to bottom; pieces of a horizontal true line keep their order. True
    lines have outlines; recognised lines without one are skipped.
    """
    columns = [box for line in truth if (box := bounds_of(line)) is not None]
    seen = [(line, box) for line in read if (box := bounds_of(line)) is not None]
    across = [_is_across(box, columns) for _, box in seen]
    lines = [
        None if is_across else _under(box, columns)
        for (_, box), is_across in zip(seen, across, strict=True)
    ]
    keys = [
        None if at is None else (at, (box[1] + box[3]) / 2 if _is_upright(columns[at]) else 0.0)
        for at, (_, box) in zip(lines, seen, strict=True)
    ]
    places = _ranks(keys)
    moved = find_misplaced(places, [max(1, len(line.text)) for line, _ in seen])
    boxes = [box for _, box in seen]
    return [Placed(*fields) for fields in zip(boxes, places, lines, moved, across, strict=True)]


def order_of_text(truth: Sequence[Line], answer: str) -> list[Placed]:
    """The true lines, which have outlines, in the order in which an answer contains their texts.

    Lines of fewer than three characters, and those of which less than 60 % is found, are skipped.
    No part of the answer matches two lines; the longest lines are matched first.
    """
    found: list[tuple[int, int]] = []
    rest = answer
    for at in sorted(range(len(truth)), key=lambda at: -len(truth[at].text)):
        text = "".join(truth[at].text.split())
        if not _SHORTEST <= len(text) <= len(rest):
            continue
        span = fuzz.partial_ratio_alignment(text, rest, score_cutoff=_ALIKE)
        if span is None or span.dest_end - span.dest_start < 1:
            continue
        found.append((span.dest_start, at))
        used = _USED * (span.dest_end - span.dest_start)
        rest = rest[: span.dest_start] + used + rest[span.dest_end :]
    order = [at for _, at in sorted(found)]
    places = _ranks([(at, 0.0) for at in order])
    moved = find_misplaced(places, [len(truth[at].text) for at in order])
    boxes = [bounds_of(truth[at]) or (0, 0, 0, 0) for at in order]
    return [Placed(*fields) for fields in zip(boxes, places, order, moved, strict=True)]


def find_misplaced(places: Sequence[int | None], weights: Sequence[float]) -> list[bool]:
    """Which ranks in a sequence would have to be moved to sort it: those of least total weight.

    The rest is the increasing subsequence of greatest weight. Equal ranks are in order; None has no
    rank and is never moved.
    """
    kept = [at for at, place in enumerate(places) if place is not None]
    best: list[float] = []
    before: list[int] = []
    for row, at in enumerate(kept):
        top, link = 0.0, -1
        for earlier in range(row):
            if (places[kept[earlier]] or 0) <= (places[at] or 0) and best[earlier] > top:
                top, link = best[earlier], earlier
        best.append(top + weights[at])
        before.append(link)
    row = max(range(len(best)), key=best.__getitem__, default=-1)
    stays = set()
    while row >= 0:
        stays.add(kept[row])
        row = before[row]
    return [place is not None and at not in stays for at, place in enumerate(places)]


def bounds_of(line: Line) -> Bounds | None:
    """The box around a line's outline; None where it has none."""
    box = line.box
    return None if box is None else (box.x0, box.y0, box.x1, box.y1)


def _under(box: Bounds, columns: Sequence[Bounds]) -> int | None:
    """The true line with which a box overlaps most, if it overlaps enough."""
    shared = [width * height for width, height in (_overlap(box, line) for line in columns)]
    best = max(range(len(shared)), key=shared.__getitem__, default=None)
    if best is None:
        return None
    smaller = min((line[2] - line[0]) * (line[3] - line[1]) for line in (box, columns[best]))
    return best if smaller > 0 and shared[best] >= _SHARE * smaller else None


def _is_across(box: Bounds, columns: Sequence[Bounds]) -> bool:
    """Whether a box covers most of the breadth of two lines or more, over a relevant length.

    The breadth of an upright line is its width. A box inside its own line covers one.
    """
    covered = 0
    for line in columns:
        width, height = _overlap(box, line)
        side = 0 if _is_upright(line) else 1
        breadth, along = (height, width) if side else (width, height)
        thick, length = line[2 + side] - line[side], box[3 - side] - box[1 - side]
        covered += breadth >= _MOST * thick > 0 and along >= _MOST * min(length, thick)
    return covered > 1


def _is_upright(box: Bounds) -> bool:
    return box[3] - box[1] >= box[2] - box[0]


def _overlap(one: Bounds, other: Bounds) -> tuple[float, float]:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width), max(0.0, height)


def _ranks(keys: Sequence[tuple[int, float] | None]) -> list[int | None]:
    """The rank of each key among them; equal keys have equal ranks."""
    order = {key: rank for rank, key in enumerate(sorted({key for key in keys if key is not None}))}
    return [None if key is None else order[key] for key in keys]

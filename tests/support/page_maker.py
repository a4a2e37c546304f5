"""Woodblock pages made of boxes alone, with their true reading order."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from keju.items import Line

PITCH, CHARACTER, SMALL = 100.0, 80.0, 44.0
ROWS = 20
HEIGHT = ROWS * CHARACTER
TOP = 300.0


@dataclass
class MadePage:
    """Lines in reading order, and marginalia; `notes` are the ids of halves of notes."""

    reading: list[Line] = field(default_factory=list)
    marginalia: list[Line] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)

    @property
    def lines(self) -> list[Line]:
        return self.reading + self.marginalia


class Maker:
    """Sets columns of main text and notes from right to left.

    Args:
        seed: everything random follows from it.
        jitter: by how much each edge of a box is off, in pitches.
        broken: how often a line is broken into pieces where a character ends.
    """

    def __init__(self, seed: int, *, jitter: float = 0.02, broken: float = 0.0) -> None:
        self.random = random.Random(seed)
        self.jitter = jitter
        self.broken = broken
        self.page = MadePage()

    def columns(self, count: int, right: float, *, notes: bool = True) -> float:
        """Set columns from `right` leftwards; returns the left edge of the last."""
        for number in range(count):
            left = right - PITCH
            self._column(left + PITCH / 2, notes=notes and number % 3 > 0)
            right = left
        return right

    def centre_column(self, x: float) -> None:
        """A running title and a page number in smaller writing, around `x`."""
        self._marginal(x, TOP + 0.2 * HEIGHT, 4 * SMALL)
        self._marginal(x, TOP + 0.7 * HEIGHT, SMALL)

    def head_note(self, x: float) -> None:
        """A few small characters above the frame."""
        self._marginal(x, TOP - 5 * SMALL, 3 * SMALL)

    def _column(self, x: float, *, notes: bool) -> None:
        y, end = TOP, TOP + HEIGHT
        while end - y >= CHARACTER:
            room = int((end - y) / CHARACTER)
            if not notes:
                self._line(x, y, room, CHARACTER)
                return
            count = min(room, self.random.randint(2, 9))
            self._line(x, y, count, CHARACTER)
            y += count * CHARACTER
            if end - y < 2 * SMALL:
                return
            count = min(int((end - y) / SMALL), self.random.randint(2, 12))
            for side, short in ((1, 0), (-1, self.random.randint(0, 1))):
                self._line(x + side * PITCH / 4, y, count - short, SMALL, note=True)
            y += count * SMALL
            if self.random.random() < 0.2:
                return

    def _line(self, x: float, y: float, count: int, size: float, *, note: bool = False) -> None:
        pieces = [count]
        if count >= 6 and self.random.random() < self.broken:
            first = self.random.randint(2, count - 2)
            pieces = [first, count - first]
        for piece in pieces:
            line = self._box(x, y, piece * size, size)
            self.page.reading.append(line)
            if note:
                self.page.notes.add(line.id)
            y += piece * size

    def _marginal(self, x: float, y: float, height: float) -> None:
        self.page.marginalia.append(self._box(x, y, height, SMALL))

    def _box(self, x: float, y: float, height: float, width: float) -> Line:
        off = [self.random.uniform(-1, 1) * self.jitter * PITCH for _ in range(4)]
        x0, x1 = x - width / 2 + off[0], x + width / 2 + off[1]
        y0, y1 = y + off[2], y + height + off[3]
        name = f"line-{len(self.page.lines)}"
        return Line(id=name, text=name, polygon=((x0, y0), (x1, y0), (x1, y1), (x0, y1)))


def turned(lines: list[Line], degrees: float, *, upright: bool = False) -> list[Line]:
    """The lines on a page that lies askew, foot to the right of the head where positive.

    If `upright`, as an engine draws them that knows upright boxes only.
    """
    angle = math.radians(degrees)

    def turn(x: float, y: float) -> tuple[float, float]:
        return x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)

    found = []
    for line in lines:
        polygon = tuple(turn(x, y) for x, y in line.polygon)
        if upright:
            xs, ys = [x for x, _ in polygon], [y for _, y in polygon]
            x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
            polygon = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
        found.append(Line(id=line.id, text=line.text, polygon=polygon))
    return found


def scaled(lines: list[Line], factor: float, across: float = 0.0, down: float = 0.0) -> list[Line]:
    """The lines enlarged and shifted."""
    return [
        Line(
            id=line.id,
            text=line.text,
            polygon=tuple((x * factor + across, y * factor + down) for x, y in line.polygon),
        )
        for line in lines
    ]


def ids(lines: object) -> list[str]:
    """The names of lines, in order."""
    return [line.id for line in lines]  # type: ignore[attr-defined]

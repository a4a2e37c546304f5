"""Running text set into columns, with double-row notes in their place."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from keju.items import LineKind
from keju_synthetic.page_layout import Glyph, PlacedLine, Setting, set_column
from keju_synthetic.texts import Run

_ALMOST = 1e-6


class Grid(NamedTuple):
    """Columns of a page in reading order, by their middle, with a common top and length.

    The first `hidden` columns are on leaves before the visible part.
    """

    middles: list[float]
    column: float
    top: float
    rows: int
    pitch: float
    hidden: int = 0


class TextFlow:
    """Fills a grid from the first column on; text that does not fit is dropped.

    The reference is the visible text: `glyphs` and `lines` in reading order.
    """

    def __init__(self, grid: Grid, main: Setting, note: Setting, *, indent: int = 0) -> None:
        self.glyphs: list[Glyph] = []
        self.lines: list[PlacedLine] = []
        self._grid = grid
        self._main = main
        self._note = note
        self._indent = indent
        self._at = 0
        self._row = 0.0

    @property
    def is_full(self) -> bool:
        """Whether no column is left."""
        return self._at >= len(self._grid.middles)

    def add_heading(
        self, text: str, kind: LineKind, *, lowered: int, at_foot: bool = False
    ) -> None:
        """Add a line in a column of its own, `lowered` rows down (or up from the foot)."""
        if self.is_full:
            return
        text = text[: self._grid.rows - lowered]
        self._row = float(self._grid.rows - lowered - len(text) if at_foot else lowered)
        self._place(text, kind, self._grid.middles[self._at], self._main)
        self._advance(0)

    def add_paragraph(self, runs: Iterable[Run]) -> None:
        """Add a paragraph, which begins and ends with a column."""
        for run in runs:
            if run.kind == "main":
                self._add_main_run(run.text)
            else:
                self._add_note_run(run.text)
        if self._row > 0 and not self.is_full:
            self._advance(0)

    def _add_main_run(self, text: str) -> None:
        while text and not self.is_full:
            room = math.floor(self._grid.rows - self._row + _ALMOST)
            part, text = text[:room], text[room:]
            if part:
                self._place(part, "main", self._grid.middles[self._at], self._main)
                self._row += len(part)
            if text:
                self._advance(self._indent)

    def _add_note_run(self, text: str) -> None:
        each = self._note.pitch / self._grid.pitch
        offset = self._grid.column * 0.235
        while text and not self.is_full:
            room = math.floor((self._grid.rows - self._row) / each + _ALMOST)
            part, text = text[: 2 * room], text[2 * room :]
            if part:
                rows = math.ceil(len(part) / 2)
                middle = self._grid.middles[self._at]
                self._place(part[:rows], "note", middle + offset, self._note)
                if part[rows:]:
                    self._place(part[rows:], "note", middle - offset, self._note)
                self._row = min(float(self._grid.rows), self._row + math.ceil(rows * each))
            if text:
                self._advance(self._indent)

    def _place(self, text: str, kind: LineKind, x: float, setting: Setting) -> None:
        if self._at < self._grid.hidden:
            return
        top = self._grid.top + self._row * self._grid.pitch
        glyphs, line = set_column(text, kind, x, top, setting)
        self.glyphs += glyphs
        self.lines.append(line)

    def _advance(self, row: int) -> None:
        self._at += 1
        self._row = float(row)

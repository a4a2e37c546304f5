"""The pattern of perfect and faulty readings of 208 real pages, by the outlines of their lines."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import median

import pytest
from msgspec.structs import replace

from keju.datasets.readers.pages.page_xml import read_page
from keju.items import Line
from keju.layout import bounds_of, find_reading_pattern, group_columns, order_lines
from keju.metrics import error_parts
from keju.text import counted

Placed = tuple[int, float, str]
"""Row on the page, place along the row, character."""


@cache
def pages(root: Path) -> list[list[Line]]:
    """The lines of the running text in reading order, of pages of 60 characters or more."""
    found = []
    for file in sorted((root / "data" / "chi-know-po" / "page").rglob("*.xml")):
        page = read_page(file)
        lines = [replace(line, text=counted(line.text)) for line in page.lines]
        known = [line for line in lines if line.text and line.polygon]
        order = order_lines(known, width=page.width, height=page.height).reading
        if len(known) >= 4 and sum(len(line.text) for line in order) >= 60:
            found.append(list(order))
    return found


def characters(lines: list[Line], height: float, side: int) -> str:
    """The characters of lines as rows across the page, from the left (1) or the right (-1)."""
    placed: list[Placed] = []
    for line in lines:
        x0, y0, x1, y1 = bounds_of(line)
        step = (y1 - y0) / len(line.text)
        for at, char in enumerate(line.text):
            placed.append((round((y0 + step * (at + 0.5)) / height), side * (x0 + x1) / 2, char))
    return "".join(char for _, _, char in sorted(placed))


def read(lines: list[Line], way: str) -> str:
    """A page as an engine without recognition errors reads it in some way."""
    boxes = {line.id: bounds_of(line) for line in lines}
    height = median((boxes[x.id][3] - boxes[x.id][1]) / len(x.text) for x in lines)
    match way:
        case "rows from the left":
            return characters(lines, height, 1)
        case "rows from the right":
            return characters(lines, height, -1)
        case "left to right":
            order = sorted(lines, key=lambda x: boxes[x.id][0] + boxes[x.id][2])
            return "".join(line.text for line in order)
        case "merged":
            columns = group_columns(lines)
            pairs = [[*a, *b] for a, b in zip(columns[::2], columns[1::2], strict=False)]
            last = columns[-1:] if len(columns) % 2 else []
            return "".join(characters(pair, height, -1) for pair in [*pairs, *last])
    return "".join(line.text for line in lines)


def misread(text: str, share: float) -> str:
    draw = random.Random(len(text))
    return "".join(chr(draw.randrange(0x6000, 0x7000)) if draw.random() < share else char
                   for char in text)  # fmt: skip


EXPECTED = {
    "in order": (None, 208),
    "rows from the left": ("rows across columns", 200),
    "rows from the right": ("rows across columns", 200),
    "left to right": ("columns from left to right", 205),
    "merged": ("columns merged", 170),
}


@pytest.mark.parametrize("way", EXPECTED)
def test_the_pattern_of_real_pages_is_named(shared: Path, way: str):
    name, least = EXPECTED[way]
    found = {share: Counter() for share in (0, 0.2)}
    for lines in pages(shared):
        notes, truth = [], ""
        for line in lines:
            start, truth = len(truth), truth + line.text
            notes += range(start, len(truth)) if line.kind == "note" else ()
        said = read(lines, way)
        assert error_parts(truth, said).recognition == 0
        for share, counts in found.items():
            counts[find_reading_pattern(truth, misread(said, share), notes)] += 1
    for counts in found.values():
        assert counts.total() == 208
        assert counts[name] >= least, counts

"""Duplicates made on purpose: pages of one layout, and what scans and editors do to them."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw

CALLIGRAPHERS = [
    "王羲之", "顏真卿", "柳公權", "歐陽詢", "褚遂良", "虞世南", "蘇軾", "黃庭堅", "米芾", "蔡襄",
    "趙孟頫", "董其昌", "文徵明", "祝允明", "王獻之", "張旭", "懷素", "孫過庭", "李邕", "楊凝式",
    "鮮于樞", "康里巎巎", "倪瓚", "徐渭", "王鐸", "傅山", "八大山人", "鄭燮", "金農", "鄧石如",
]  # fmt: skip
"""Answers of one kind, of two to four characters."""

PAPER = (236, 232, 224)
COLUMNS, ROWS = 9, 18
CELL = 44
FRAME = 40


def book_page(seed: int, *, glyphs: int = 400) -> Image.Image:
    """A page of a book: the same frame and columns for all, other characters for each.

    Characters are crossing strokes in a cell, drawn from a stock that all pages share.
    """
    width, height = COLUMNS * CELL + 2 * FRAME, ROWS * CELL + 2 * FRAME
    page = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(page)
    pen.rectangle(
        (FRAME - 8, FRAME - 8, width - FRAME + 8, height - FRAME + 8), outline=30, width=5
    )
    draw = random.Random(seed)
    for column in range(COLUMNS):
        x = FRAME + column * CELL
        pen.line((x, FRAME, x, height - FRAME), fill=(70, 60, 60), width=2)
        for row in range(ROWS):
            _character(pen, x, FRAME + row * CELL, draw.randrange(glyphs))
    noise = np.random.default_rng(seed).normal(0, 5, (height, width, 1))
    return Image.fromarray(np.clip(np.asarray(page) + noise, 0, 255).astype(np.uint8))


def _character(pen: ImageDraw.ImageDraw, x: int, y: int, number: int) -> None:
    draw = random.Random(number)
    for _ in range(draw.randint(4, 9)):
        if draw.random() < 0.45:
            at = y + draw.randint(6, CELL - 6)
            ends = (x + draw.randint(5, 14), at, x + CELL - draw.randint(5, 14), at)
        elif draw.random() < 0.6:
            at = x + draw.randint(7, CELL - 7)
            ends = (at, y + draw.randint(4, 14), at, y + CELL - draw.randint(4, 14))
        else:
            ends = tuple(base + draw.randint(6, CELL - 6) for base in (x, y, x, y))
        pen.line(ends, fill=(35, 30, 32), width=3)


def jpeg(page: Image.Image, quality: int = 85) -> bytes:
    data = io.BytesIO()
    page.save(data, "JPEG", quality=quality)
    return data.getvalue()


def _turned(page: Image.Image, degrees: float) -> Image.Image:
    return page.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=PAPER)


def _cropped(page: Image.Image, *edges: float) -> Image.Image:
    left, top, right, bottom = edges
    width, height = page.size
    box = (width * left, height * top, width * (1 - right), height * (1 - bottom))
    return page.crop(tuple(map(round, box)))


def _scaled(page: Image.Image, share: float) -> Image.Image:
    size = (round(page.width * share), round(page.height * share))
    return page.resize(size, Image.Resampling.LANCZOS)


COPIES: dict[str, Callable[[Image.Image], bytes]] = {
    "exact": jpeg,
    "re-encoded, quality 40": lambda page: jpeg(page, 40),
    "half the size": lambda page: jpeg(_scaled(page, 0.5)),
    "larger by a half": lambda page: jpeg(_scaled(page, 1.5)),
    "turned by 1°": lambda page: jpeg(_turned(page, 1)),
    "turned by −1°": lambda page: jpeg(_turned(page, -1)),
    "cropped 3 % on every side": lambda page: jpeg(_cropped(page, 0.03, 0.03, 0.03, 0.03)),
    "cropped 3 % on one side": lambda page: jpeg(_cropped(page, 0.03, 0, 0, 0)),
    "cropped 3 % on two sides": lambda page: jpeg(_cropped(page, 0, 0.03, 0.03, 0)),
    "brighter, grey": lambda page: jpeg(page.convert("L").point(lambda v: min(255, int(v * 1.15)))),
    "turned, cropped, half": lambda page: jpeg(
        _scaled(_cropped(_turned(page, 1), 0.02, 0.02, 0.02, 0.02), 0.5), 60
    ),
}
"""What becomes of a page, as the bytes of a file; ``exact`` gives the same bytes each time."""

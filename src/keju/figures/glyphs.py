"""`missing`: the characters of a figure without a glyph in any installed font, found by drawing."""

from __future__ import annotations

import io
import os
import unicodedata
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

import numpy as np
import vl_convert
from PIL import Image

from keju.figures.theme import FONT

_CELL, _ROW = 24, 40
_NOBODYS = chr(0x10FFFD)
"""A private-use code point without a glyph in any font: characters that look the same have none
either."""

_UNDRAWN = {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me", "Mc"}
"""Categories of invisible characters, and of those that cannot be drawn alone."""


@cache
def use_fonts() -> None:
    """Make figures use the fonts of the directory ``KEJU_FONTS``, in addition to the system's."""
    folder = os.environ.get("KEJU_FONTS")
    if folder and Path(folder).is_dir():
        vl_convert.register_font_directory(folder)


def missing(texts: Iterable[str]) -> str:
    """The distinct characters beyond ASCII for which figures would show a blank or a box.

    Each is drawn by the converter itself, with its fallback font, and the image is compared with
    that of a character that no font has: a font's character map may list empty glyphs.
    """
    signs = {
        sign
        for text in texts
        for sign in text
        if not sign.isascii() and unicodedata.category(sign) not in _UNDRAWN
    }
    return _missing("".join(sorted(signs)))


@cache
def _missing(signs: str) -> str:
    if not signs:
        return ""
    use_fonts()
    absent, *pictures = _pictures(_NOBODYS + signs)
    return "".join(
        sign
        for sign, picture in zip(signs, pictures, strict=True)
        if picture.min() == picture.max() or np.array_equal(picture, absent)
    )


def _pictures(signs: str) -> list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]:
    """Each sign as it is drawn, in a cell of its own."""
    rows = -(-len(signs) // _ROW)
    places = [(_CELL * (n % _ROW), _CELL * (n // _ROW)) for n in range(len(signs))]
    texts = "".join(
        f'<text x="{x + 4}" y="{y + 18}">{escape(sign)}</text>'
        for (x, y), sign in zip(places, signs, strict=True)
    )
    size = f'width="{_CELL * _ROW}" height="{_CELL * rows}"'
    sheet = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect {size} fill="white"/>'
        f'<g font-family="{FONT}" font-size="16">{texts}</g></svg>'
    )
    drawn = np.asarray(Image.open(io.BytesIO(vl_convert.svg_to_png(sheet))).convert("L"))
    return [drawn[y : y + _CELL, x : x + _CELL] for x, y in places]

"""Rendering of a figure to SVG, PNG, PDF and CSV: the same figure gives the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

import altair as alt
import polars as pl
import vl_convert
from PIL import Image

from keju.csv_files import write_frame
from keju.errors import printable, shortened
from keju.figures.breaking import wrapped
from keju.figures.figure import Figure, Row
from keju.figures.glyphs import missing, use_fonts
from keju.figures.theme import DARK, themed
from keju.files import write_atomic
from keju.words import Words

Format = Literal["svg", "png", "pdf"]

_SCALE = 2.0
"""Pixels of a PNG per pixel of the SVG."""
_LONGEST = 120
"""Maximum characters of a name; longer ones are shortened in the middle."""
_LINE = 110
"""Characters of a line of the caption; a Han character counts as two."""
_LANGUAGE_OF_CHARTS = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
_INSIDE = re.compile(r' (?:aria-[a-z]+|role|font-family)="[^"]*"')
_NO_XML = re.compile("[\ufffe\uffff]")
_OWN_NAMES = re.compile(r'(id="|url\(#|href="#)')


class Written(NamedTuple):
    """A figure's files, and the characters in it without a glyph in any font."""

    paths: list[Path]
    undrawable: str


def write_figure(figure: Figure, folder: Path, formats: Sequence[Format], words: Words) -> Written:
    """Write a figure in each format, and the CSV of its data."""
    drawing = svg(figure, words)
    made: dict[str, str | bytes] = {"svg": drawing}
    if "png" in formats:
        made["png"] = _smaller(vl_convert.svg_to_png(drawing, scale=_SCALE))
    if "pdf" in formats:
        made["pdf"] = vl_convert.svg_to_pdf(drawing)
    paths = []
    for suffix in formats:
        paths.append(folder / f"{figure.name}.{suffix}")
        write_atomic(paths[-1], made[suffix])
    frame = pl.DataFrame([_plain(row) for row in figure.rows], infer_schema_length=None)
    paths.append(write_frame(frame, folder / f"{figure.name}.csv"))
    return Written(paths, missing(_texts(figure, words)))


def _smaller(png: bytes) -> bytes:
    """The same image without transparency, compressed well: a third of the bytes."""
    stream = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").save(stream, "PNG", optimize=True)
    return stream.getvalue()


def svg(figure: Figure, words: Words, *, titled: bool = True) -> str:
    """The figure as SVG. Names and answers are inserted as text, never as markup."""
    use_fonts()
    chart = figure.draw([_clean_row(row) for row in figure.rows], words)
    lines = list(wrapped(caption(figure, words), _LINE))
    spec = themed(chart, title(figure, words), lines) if titled else themed(chart)
    return vl_convert.vegalite_to_svg(_legible(spec), vl_version=_LANGUAGE_OF_CHARTS)


def _legible(value: Any) -> Any:  # noqa: ANN401 - JSON
    """The specification with control characters made visible in all texts.

    Characters that XML forbids would end the whole process in the converter, not only the figure.
    """
    if isinstance(value, str):
        return _NO_XML.sub("\ufffd", printable(value))
    if isinstance(value, dict):
        return {key: _legible(each) for key, each in value.items()}
    return [_legible(each) for each in value] if isinstance(value, list) else value


def title(figure: Figure, words: Words) -> str:
    """The title of a figure, in a language."""
    return _clean(words(figure.title))


def caption(figure: Figure, words: Words) -> str:
    """The caption of a figure, in one line."""
    return words(figure.caption).replace("\n", "" if words.language == "zh" else " ").strip()


def embedded(figure: Figure, words: Words) -> str:
    """The figure as SVG inside a page, which shows title and caption itself.

    It uses the page's font and, except for data, its colours, light or dark.
    """
    drawing = _INSIDE.sub("", svg(figure, words, titled=False))
    for colour, of_page in DARK.items():
        drawing = drawing.replace(f'"{colour}"', f'"{of_page}"')
    drawing = _OWN_NAMES.sub(rf"\g<1>{figure.name}-", drawing)
    label = escape(title(figure, words), quote=True)
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _clean_row(row: Row) -> Row:
    """The row with values that a drawing can contain."""
    return {
        key: _clean(value) if isinstance(value, str) and not key.startswith("url") else value
        for key, value in row.items()
    }


def _clean(text: str) -> str:
    """A name in one line, shortened if it is very long."""
    return printable(shortened(text, _LONGEST))


def _plain(row: Row) -> Row:
    """The row for a spreadsheet, without the images."""
    return {key: value for key, value in row.items() if not key.startswith("url")}


def _texts(figure: Figure, words: Words) -> Iterator[str]:
    yield title(figure, words)
    yield caption(figure, words)
    for row in figure.rows:
        yield from (value for value in _plain(_clean_row(row)).values() if isinstance(value, str))

"""HTML for notebooks: tables, lists of facts, and pages with outlines.

Every text is escaped, nothing is loaded from anywhere, and colours are those of the notebook, so
that light and dark themes both work.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isfinite
from typing import NamedTuple

Points = Sequence[tuple[float, float]]

_LONGEST = 2000
_TALLEST = 42
"""Maximum height of a page in em."""

_FINE = "border:1px solid rgba(128,128,128,.35);padding:.2em .6em;"
_CELL = f"{_FINE}text-align:left;vertical-align:top;white-space:pre-wrap;max-width:40em;"
_NUMBER = f"{_FINE}text-align:right;vertical-align:top;font-variant-numeric:tabular-nums;"


class Outline(NamedTuple):
    """A polygon to draw on a page, the label at its beginning, and its text."""

    points: Points
    label: str = ""
    text: str = ""


class Markup(str):
    """HTML that this module made; any other text is escaped."""

    __slots__ = ()


def text(value: object) -> Markup:
    """A value as escaped text, shortened in the middle if it is very long."""
    if isinstance(value, Markup):
        return value
    shown = str(value)
    if len(shown) > _LONGEST:
        shown = f"{shown[: _LONGEST // 2]} … {shown[-_LONGEST // 2 :]}"
    return Markup(escape(shown, quote=True))


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """A table; numbers are aligned to the right."""
    head = "".join(f'<th style="{_CELL}">{text(each)}</th>' for each in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return Markup(
        '<table style="border-collapse:collapse;background:none;color:inherit;margin:.5em 0">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def facts(pairs: Mapping[str, object]) -> Markup:
    """Names with their values, without those that are empty."""
    rows = "".join(
        f'<tr><th style="{_CELL}">{text(name)}</th>{_cell(value)}</tr>'
        for name, value in pairs.items()
        if value not in ("", None)
    )
    return Markup(
        f'<table style="border-collapse:collapse;background:none;color:inherit">{rows}</table>'
    )


def block(title: str, *parts: object) -> Markup:
    """A title with its content; plain texts become paragraphs."""
    inside = "".join(
        part if isinstance(part, Markup) else f'<p style="margin:.4em 0">{text(part)}</p>'
        for part in parts
        if part
    )
    return Markup(f'<div style="overflow-x:auto"><b>{text(title)}</b>{inside}</div>')


def folded(title: str, inside: Markup) -> Markup:
    """Content that is shown when its title is clicked."""
    return Markup(f"<details><summary>{text(title)}</summary>{inside}</details>")


def picture(
    width: float, height: float, outlines: Iterable[Outline] = (), jpeg: bytes = b""
) -> Markup:
    """An image with outlines on it; without an image, only the outlines."""
    if not (0 < width < float("inf") and 0 < height < float("inf")):
        return Markup("")
    size = max(width, height) / 45
    image = ""
    if jpeg:
        data = base64.b64encode(jpeg).decode()
        image = (
            f'<image href="data:image/jpeg;base64,{data}" width="{width:.0f}" '
            f'height="{height:.0f}" preserveAspectRatio="none"/>'
        )
    shapes = "".join(_shape(each, size) for each in outlines)
    return Markup(
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="display:block;margin:.5em 0;width:min(100%,{_TALLEST * width / height:.2f}em);'
        'border:1px solid rgba(128,128,128,.5);box-sizing:border-box" '
        f'role="img">{image}{shapes}</svg>'
    )


def _shape(outline: Outline, size: float) -> str:
    points = [(x, y) for x, y in outline.points if isfinite(x) and isfinite(y)]
    if len(points) < 2:
        return ""
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    middle = (min(x for x, _ in points) + max(x for x, _ in points)) / 2
    # Above the outline, so that its first character stays readable.
    bottom = max(size, min(y for _, y in points) - size / 8)
    return (
        f'<g><title>{text(outline.text)}</title><polygon points="{corners}" fill="#e5383b" '
        f'fill-opacity=".08" stroke="#e5383b" stroke-width="{size / 12:.2f}"/>'
        f'<text x="{middle:.1f}" y="{bottom:.1f}" font-size="{size:.1f}" fill="#b00020" '
        f'stroke="#fff" stroke-width="{size / 5:.2f}" paint-order="stroke" text-anchor="middle" '
        f'font-family="sans-serif" font-weight="bold">{text(outline.label)}</text></g>'
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td style="{_NUMBER}">{value:.3f}</td>'
    if isinstance(value, int) and not isinstance(value, bool):
        return f'<td style="{_NUMBER}">{value:,}</td>'
    return f'<td style="{_CELL}">{text("–" if value is None else value)}</td>'

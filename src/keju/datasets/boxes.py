"""`box_fault`: check whether a box is possible on an image."""

from __future__ import annotations

from keju.items import Box
from keju.texts import _

SLACK = 1.0
"""Pixels by which a box may exceed its image: annotation tools round up or down."""


def box_fault(box: Box, size: tuple[int, int] | None) -> str:
    """The fault of a box on an image of that width and height, or an empty string."""
    if not (box.x0 < box.x1 and box.y0 < box.y1):
        return _("{} has no area", _format_box(box))
    if size is None:
        return ""
    width, height = size
    if min(box.x0, box.y0) < -SLACK or box.x1 > width + SLACK or box.y1 > height + SLACK:
        return _("{} leaves its image of {}x{} pixels", _format_box(box), width, height)
    return ""


def _format_box(box: Box) -> str:
    return f"({box.x0:g}, {box.y0:g}, {box.x1:g}, {box.y1:g})"

"""How values are shown in tables and figures: percent, and a dash where there is none."""

from __future__ import annotations

NOTHING = "–"


def percent(value: float | None) -> str:
    """A fraction in percent with one decimal, or a dash."""
    return NOTHING if value is None else f"{100 * value:.1f}"

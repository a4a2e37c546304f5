"""Markdown tables with escaped cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keju.errors import printable

NOTHING = "—"


def cell(value: object) -> str:
    """A value as a cell of a Markdown table: one line, with Markdown characters escaped."""
    text = printable(" ".join(str(value).split()))
    for mark in "\\|`*_[]<>#":
        text = text.replace(mark, f"\\{mark}")
    return text or NOTHING


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; whole numbers have thousands separators."""
    lines = [heads, ["---"] * len(heads)]
    lines += [[_shown(each) for each in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else cell(value)

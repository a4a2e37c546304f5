"""Markdown tables with escaped cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keju.errors import printable

NOTHING = "—"


def format_cell(value: object) -> str:
    """Format a value as a cell of a Markdown table: one line, with Markdown characters escaped."""
    text = printable(" ".join(str(value).split()))
    for mark in "\\|`*_[]<>#":
        text = text.replace(mark, f"\\{mark}")
    return text or NOTHING


def format_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a Markdown table; whole numbers have thousands separators."""
    lines = [heads, ["---"] * len(heads)]
    lines += [[_format_value(each) for each in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _format_value(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else format_cell(value)

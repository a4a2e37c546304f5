"""Terminal output of all commands: tables in a uniform style, and JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from rich import box
from rich.console import RenderableType
from rich.style import StyleType
from rich.table import Table
from rich.text import Text

from keju.errors import printable
from keju.formatting import NOTHING
from keju.messages import language, message

if TYPE_CHECKING:
    from keju.translations import Words


class PlainTable(Table):
    """A table whose texts come from data: neither markup nor terminal control sequences."""

    def add_row(
        self,
        *renderables: RenderableType | None,
        style: StyleType | None = None,
        end_section: bool = False,
    ) -> None:
        """Add a row; plain texts are shown literally."""
        cells = (format_literal(cell) if isinstance(cell, str) else cell for cell in renderables)
        super().add_row(*cells, style=style, end_section=end_section)


def name_columns(*names: str) -> list[str]:
    """The headings of columns in the current language, by their ids in the catalogue `columns`."""
    return [message(f"columns.{name}") for name in names]


def translate(text: str) -> str:
    """A text of a declaration or of the report in the current language, by its English.

    A text without an entry stays as it is.
    """
    if language() == "en":
        return text
    return _words()(text)


@cache
def _words() -> Words:
    # Imported only for Chinese: the table brings the metrics and the benchmarks.
    from keju.translations import Words

    return Words("zh")


def format_literal(text: str) -> Text:
    """A text shown literally, with terminal control characters made visible."""
    return Text("\n".join(map(printable, text.split("\n"))))


def format_interval(
    ends: tuple[float | None, float | None] | None, form: str, *, scale: float = 1.0
) -> str:
    """The ends of an interval, multiplied and in a format; a dash where there is none."""
    low, high = ends or (None, None)
    if low is None or high is None:
        return NOTHING
    return message("terminal.range", low=f"{scale * low:{form}}", high=f"{scale * high:{form}}")


def plain_table(*heads: str, right: Iterable[int] = (), title: str | None = None) -> PlainTable:
    """An empty table in the uniform style; the columns numbered in `right` are right-aligned."""
    table = PlainTable(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    numeric = set(right)
    for index, column in enumerate(heads):
        table.add_column(
            format_literal(column),
            justify="right" if index in numeric else "left",
            overflow="fold",
            no_wrap=index == 0 or index in numeric,
        )
    return table

"""Terminal output of all commands: tables in a uniform style, and JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.style import StyleType
from rich.table import Column, Table
from rich.text import Text

from keju.errors import printable
from keju.formatting import NOTHING
from keju.texts import in_terminal, language, p_

if TYPE_CHECKING:
    from keju.words import Words


class PlainTable(Table):
    """A table whose texts come from data: neither markup nor terminal control sequences.

    Where it is wider than the terminal, the columns of texts are folded, and numbers stay whole:
    rich cuts columns that do not wrap, so that 1,762 became ``1,`` without a sign.
    """

    def add_row(
        self,
        *renderables: RenderableType | None,
        style: StyleType | None = None,
        end_section: bool = False,
    ) -> None:
        """Add a row; plain texts are shown literally."""
        cells = (format_literal(cell) if isinstance(cell, str) else cell for cell in renderables)
        super().add_row(*cells, style=style, end_section=end_section)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Fit the columns into the width before they are drawn."""
        for column in self.columns:
            column.width = None
        full_width = self.__rich_measure__(console, options.update(width=_UNLIMITED)).maximum
        if self.columns and full_width > options.max_width:
            widths = [
                max(map(_width_of, (column.header, *column.cells))) for column in self.columns
            ]
            self._fit(widths, options.max_width - (full_width - sum(widths)))
        return super().__rich_console__(console, options)

    def _fit(self, widths: list[int], room: int) -> None:
        """Give numbers the width that they need, and divide the rest among the texts."""
        needs = list(map(self._need_of, self.columns))
        texts = [place for place, need in enumerate(needs) if not need]
        rest = room - sum(needs)
        if rest < _TEXT * len(texts):
            # A very narrow terminal: numbers are folded too.
            texts, rest = list(range(len(needs))), room
        for done, place in enumerate(sorted(texts, key=widths.__getitem__)):
            needs[place] = max(1, min(widths[place], rest // (len(texts) - done)))
            rest -= needs[place]
        for column, width in zip(self.columns, needs, strict=True):
            column.width, column.no_wrap = width, False

    @staticmethod
    def _need_of(column: Column) -> int:
        """The width that a column of numbers needs; 0 for texts."""
        if column.justify != "right":
            return 0
        heads = [min(_HEAD, cell_len(word)) for word in str(column.header).split()]
        return max([1, *map(_width_of, column.cells), *heads])


_TEXT = 4
"""The smallest width of a column of texts."""

_UNLIMITED = 100_000
_HEAD = 9
"""Characters of a word of a heading above numbers; longer ones are folded in a narrow terminal."""


def _width_of(cell: object) -> int:
    lines = str(cell).split("\n")
    return max(map(cell_len, lines))


def name_columns(*heads: str) -> list[str]:
    """The headings of columns in the current language, by the English ones."""
    return [p_("column", head) for head in heads]


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
    from keju.words import Words

    return Words("zh")


def format_literal(text: str) -> Text:
    """A text shown literally in the terminal's language, with control characters made visible."""
    return Text("\n".join(map(printable, in_terminal(text).split("\n"))))


def format_interval(
    ends: tuple[float | None, float | None] | None, form: str, *, scale: float = 1.0
) -> str:
    """The ends of an interval, multiplied and in a format; a dash where there is none."""
    low, high = ends or (None, None)
    if low is None or high is None:
        return NOTHING
    return p_("interval", "{} to {}", f"{scale * low:{form}}", f"{scale * high:{form}}")


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

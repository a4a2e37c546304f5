"""`Figure`: rows of data, and a declaration of how to draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import altair as alt

from keju.words import Words

Row = Mapping[str, str | float | int | bool | None]
"""One row of data, as in the figure's CSV."""

AnyChart: TypeAlias = alt.TopLevelMixin
Draw = Callable[[Sequence[Row], Words], AnyChart]


class Figure(NamedTuple):
    """One figure.

    `kind` is the value of ``--which``; `of` distinguishes figures of a kind (a benchmark, say).
    `rows` are all data that are drawn, also written to the CSV beside the figure. `caption`
    explains how it was made and how to read it; `draw` makes the chart of the rows.
    """

    kind: str
    of: str
    title: str
    caption: str
    rows: Sequence[Row]
    draw: Draw

    @property
    def name(self) -> str:
        """The name of its files, without a suffix."""
        return "-".join(part for part in (self.kind, self.of) if part)

    def or_undrawn(self, why: str, *, fewest: int = 1) -> Drawn:
        """The figure; with fewer rows than `fewest`, the reason why it is not drawn."""
        return self if len(self.rows) >= fewest else Undrawn(self.kind, self.of, why)


class Undrawn(NamedTuple):
    """A figure that the data do not permit, and a short reason."""

    kind: str
    of: str
    why: str

    @property
    def name(self) -> str:
        """As a figure's."""
        return "-".join(part for part in (self.kind, self.of) if part)


Drawn = Figure | Undrawn

"""What a figure is: rows that are drawn, and a small declaration of how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import altair as alt

from keju.reporting.words import Words

Row = Mapping[str, str | float | int | bool | None]
"""One thing that is drawn, as it stands in the figure's CSV."""

AnyChart: TypeAlias = alt.TopLevelMixin
Draw = Callable[[Sequence[Row], Words], AnyChart]


class Figure(NamedTuple):
    """One figure.

    `kind` is what ``--which`` names; `of` tells figures of a kind apart (a benchmark, say). `rows`
    are what is drawn, and nothing else is: the CSV beside the figure holds them. `caption` says in
    English how it was made and how to read it; `draw` makes the chart of the rows.
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


class Undrawn(NamedTuple):
    """A figure that the data don't allow, and why, in a few words."""

    kind: str
    of: str
    why: str

    @property
    def name(self) -> str:
        """As a figure's."""
        return "-".join(part for part in (self.kind, self.of) if part)


Drawn = Figure | Undrawn

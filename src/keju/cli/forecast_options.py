"""Options of `keju plan` for the forecast of a large collection."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from keju.errors import UsageError
from keju.messages import message

_forecast_option = partial(typer.Option, rich_help_panel="Large collections")


@dataclass(frozen=True)
class ForecastOptions:
    """The measured sample and the size of a collection, for a forecast."""

    measured: Annotated[
        Path | None,
        _forecast_option(
            metavar="RUN",
            help="Run of the same models on a sample. The plan then predicts hours, memory, disk"
            " space and cost for the collection, with 95 % intervals.",
        ),
    ] = None
    pages: Annotated[
        int | None,
        _forecast_option(
            metavar="N", help="Number of pages in the collection. Default: those of the dataset."
        ),
    ] = None
    machines: Annotated[
        int,
        _forecast_option(
            metavar="M", help="Number of machines that share the pages, each like the measured one."
        ),
    ] = 1
    machine_price: Annotated[
        str,
        _forecast_option(
            metavar="PRICE/h",
            help="Price of one machine hour, e.g. 0.20/h or 0.20EUR/h, for engines and models on"
            " your own server; needs --measured, or --per-minute for the server's rate.",
        ),
    ] = ""

    def check(self, per_minute: float | None) -> None:
        """Check that a sample is given where a collection is, or a rate where a price is.

        Raises:
            UsageError: it is missing.
        """
        if self.measured is not None:
            return
        if self.pages or self.machines != 1 or (self.machine_price and not per_minute):
            raise UsageError(message("terminal.forecast-needs-sample"))

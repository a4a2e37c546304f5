"""Groups of options of `keju report` and `keju ocr-report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keju.cli.options import Limit
from keju.cli.permission import SendRestricted
from keju.items import UNKNOWN

if TYPE_CHECKING:
    from keju.analysis.engine_times import Collection, Costs

_FILES = "Output"
_CONTENT = "Content"
_COSTS = "Time and cost"
_SCANS = "Scans and engines"


@dataclass(frozen=True)
class TableFiles:
    """The directories of tables that are written with a report."""

    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for CSV files of the scores and of the papers' tables with this run.",
            rich_help_panel=_FILES,
        ),
    ] = None
    latex: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for LaTeX files of the leaderboards and the papers' tables.",
            rich_help_panel=_FILES,
        ),
    ] = None


@dataclass(frozen=True)
class LanguageOptions:
    """The language of a report."""

    language: Annotated[
        Literal["en", "zh"] | None,
        typer.Option(
            "--language",
            help="Language of the report. Default: the terminal's.",
            rich_help_panel=_CONTENT,
        ),
    ] = None


@dataclass(frozen=True)
class ContentOptions(LanguageOptions):
    """The contents of a report."""

    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Show the results that papers print for the same tasks next to those of the run.",
            rich_help_panel=_CONTENT,
        ),
    ] = False
    same_as: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=PRINTED",
            help="MODEL of the runs is the same version of the same model as PRINTED, a name in "
            "a paper's tables (see `keju models --published`). The report then shows the "
            "difference for each of these papers. Can be given several times; needs "
            "--published.",
            rich_help_panel=_CONTENT,
        ),
    ] = None
    pictures: Annotated[
        float,
        typer.Option(
            metavar="MB",
            help="Maximum size of all images in the report, in megabytes.",
            rich_help_panel=_CONTENT,
        ),
    ] = 24.0


@dataclass(frozen=True)
class CollectionOptions:
    """The collection whose time and cost a report computes."""

    pages: Annotated[
        int | None,
        typer.Option(
            "--pages",
            metavar="N",
            help="Number of pages in your collection; the report then estimates the days that"
            " they take.",
            rich_help_panel=_COSTS,
        ),
    ] = None
    machine_price: Annotated[
        str,
        typer.Option(
            "--machine-price",
            metavar="PRICE/h",
            help="Price of one machine hour, e.g. 0.20/h or 0.20EUR/h; with --pages the report"
            " estimates the cost.",
            rich_help_panel=_COSTS,
        ),
    ] = ""

    def collection(self) -> Collection | None:
        """The collection; None where no number of pages is given.

        Raises:
            UsageError: the price is not one.
        """
        from keju.analysis.engine_times import collection_of

        return collection_of(self.pages, self.machine_price)


@dataclass(frozen=True)
class CostOptions(CollectionOptions):
    """Prices, and the collection whose time and cost a report computes."""

    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="Price file (TOML), or `example`: the one that keju ships.",
            rich_help_panel=_COSTS,
        ),
    ] = None

    def costs(self) -> Costs:
        """The prices and the collection.

        Raises:
            UsageError: the price file does not exist, or the price of an hour is not one.
        """
        from keju.analysis.engine_times import Costs
        from keju.running.prices import read_prices

        return Costs(read_prices(self.prices) if self.prices else None, self.collection())


@dataclass(frozen=True)
class ScanOptions:
    """Which engines read the scans, and how these are imported."""

    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="Engine or model (see `keju models`), or the results of another program "
            "as replay:NAME=FOLDER. Can be given several times. Default: ppocr, and "
            "tesseract if it is installed.",
            rich_help_panel=_SCANS,
        ),
    ] = None
    licence: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Licence of the scans; needed only for a release.",
            rich_help_panel=_SCANS,
        ),
    ] = UNKNOWN
    source: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Owner of the scans; needed only for a release.",
            rich_help_panel=_SCANS,
        ),
    ] = UNKNOWN
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Option of the import, e.g. skip-missing=yes. Can be given several times.",
            rich_help_panel=_SCANS,
        ),
    ] = None
    limit: Limit = None
    send_restricted_data: SendRestricted = False

"""Groups of options of `keju report` and `keju ocr-report`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keju.cli.options import Limit
from keju.cli.permission import SendRestricted
from keju.items import UNKNOWN

if TYPE_CHECKING:
    from keju.analysis.engine_times import Collection, Costs

_file_option = partial(typer.Option, rich_help_panel="Output")
_content_option = partial(typer.Option, rich_help_panel="Content")
_cost_option = partial(typer.Option, rich_help_panel="Time and cost")
_scan_option = partial(typer.Option, rich_help_panel="Scans and engines")


@dataclass(frozen=True)
class TableFiles:
    """The directories of tables that are written with a report."""

    csv: Annotated[
        Path | None,
        _file_option(
            metavar="DIR",
            help="Directory for CSV files of the scores and of the papers' tables with this run.",
        ),
    ] = None
    latex: Annotated[
        Path | None,
        _file_option(
            metavar="DIR",
            help="Directory for LaTeX files of the leaderboards and the papers' tables.",
        ),
    ] = None


@dataclass(frozen=True)
class LanguageOptions:
    """The language of a report."""

    language: Annotated[
        Literal["en", "zh"] | None,
        _content_option(help="Language of the report. Default: the terminal's."),
    ] = None


@dataclass(frozen=True)
class ContentOptions(LanguageOptions):
    """The contents of a report."""

    published: Annotated[
        bool,
        _content_option(
            "--published",
            help="Show the results that papers print for the same tasks next to those of the run.",
        ),
    ] = False
    same_as: Annotated[
        list[str] | None,
        _content_option(
            metavar="MODEL=PRINTED",
            help="MODEL of the runs is the same version of the same model as PRINTED, a name in "
            "a paper's tables (see `keju models --published`). The report then shows the "
            "difference for each of these papers. Can be given several times; needs "
            "--published.",
        ),
    ] = None
    pictures: Annotated[
        float,
        _content_option(
            metavar="MB", help="Maximum size of all images in the report, in megabytes."
        ),
    ] = 24.0


@dataclass(frozen=True)
class CollectionOptions:
    """The collection whose time and cost a report computes."""

    pages: Annotated[
        int | None,
        _cost_option(
            metavar="N",
            help="Number of pages in your collection; the report then estimates the days that"
            " they take.",
        ),
    ] = None
    machine_price: Annotated[
        str,
        _cost_option(
            metavar="PRICE/h",
            help="Price of one machine hour, e.g. 0.20/h or 0.20EUR/h; with --pages the report"
            " estimates the cost.",
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
        _cost_option(
            metavar="FILE", help="Price file (TOML), or `example`: the one that keju ships."
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
        _scan_option(
            metavar="MODEL",
            help="Engine or model (see `keju models`), or the results of another program "
            "as replay:NAME=FOLDER. Can be given several times. Default: ppocr, and "
            "tesseract if it is installed.",
        ),
    ] = None
    licence: Annotated[
        str,
        _scan_option(metavar="NAME", help="Licence of the scans; needed only for a release."),
    ] = UNKNOWN
    source: Annotated[
        str,
        _scan_option(metavar="TEXT", help="Owner of the scans; needed only for a release."),
    ] = UNKNOWN
    option: Annotated[
        list[str] | None,
        _scan_option(
            metavar="NAME=VALUE",
            help="Option of the import, e.g. skip-missing=yes. Can be given several times.",
        ),
    ] = None
    limit: Limit = None
    send_restricted_data: SendRestricted = False

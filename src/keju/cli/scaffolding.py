"""The command that writes tables to fill in before an import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import data_app, say
from keju.cli.making import Source, option_pair


@data_app.command("scaffold")
def scaffold_(
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help="A format with tables, or auto to detect it.")
    ],
    src: Source,
    folder: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="The folder for the tables.")
    ],
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the import; may be repeated."),
    ] = None,
) -> None:
    """Write the tables that an import can be given, filled in as far as the source tells.

    obi-deciphering and obi-recognition: descriptions; obi-classification and obi-retrieval: the
    characters of classes, and which look alike; ancientdoc: dynasty and script of books. The tables
    open in a spreadsheet (CSV in UTF-8 with a byte-order mark). SRC is not changed.
    """
    from keju.datasets.readers import FORMATS
    from keju.datasets.readers.detecting import best
    from keju.datasets.readers.listing import Listing
    from keju.datasets.scaffold import scaffold

    if form == "auto":
        form = best(Listing(src), FORMATS.values()).reader.name
    for done in scaffold(form, src, folder, dict(option_pair(each) for each in option or ())):
        say(f"{done.rows} rows in {done.file}. Fill in: {', '.join(done.fill)}")
        say(f"Next: {done.command}")

"""The command that writes tables to complete before an import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import data_app, say
from keju.cli.making import Source, option_pair
from keju.cli.options import out_option
from keju.messages import message


@data_app.command("scaffold")
def scaffold_(
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help="Format with tables, or auto to detect it.")
    ],
    src: Source,
    folder: Annotated[Path, out_option(metavar="DIR", help="Output directory for the tables.")],
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Option of the import. Can be given several times."
        ),
    ] = None,
) -> None:
    """Write the tables that a person completes for an import, with what the source contains.

    The tables are CSV files that a spreadsheet opens, with what the format needs: descriptions of
    images, characters of classes and classes that look alike, or dynasty and script of books.

    SRC is not changed.
    """
    from keju.datasets.readers import FORMATS
    from keju.datasets.readers.detecting import find_best
    from keju.datasets.readers.listing import Listing
    from keju.datasets.scaffold import scaffold

    if form == "auto":
        form = find_best(Listing(src), FORMATS.list_usable()).reader.name
    for done in scaffold(form, src, folder, dict(option_pair(each) for each in option or ())):
        columns = ", ".join(done.fill)
        say(message("terminal.table-to-complete", count=done.rows, file=done.file, columns=columns))
        say(message("terminal.next-command", command=done.command))

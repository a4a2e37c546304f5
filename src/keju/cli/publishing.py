"""The command that writes a leaderboard site from bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, err, say
from keju.cli.options import out_option
from keju.messages import message


@app.command()
def site(
    bundles: Annotated[
        list[Path],
        typer.Argument(
            metavar="BUNDLES", help="Bundles (see `keju bundle`), or folders with *.keju.zip files."
        ),
    ],
    out: Annotated[
        Path,
        out_option(
            metavar="FOLDER", help="Site folder. Created if missing, updated if it is a site."
        ),
    ],
    models: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.toml",
            help="File with vendor, size and date of models, in addition to models.toml in the "
            "folders of bundles. Can be given several times.",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the site. Default: keju.")] = "",
) -> None:
    """Write a leaderboard site from bundles: static pages in English and Chinese.

    The pages need no server and make no requests to other sites. If the licence of the data is
    unknown or does not allow copies, the pages have scores and hashes only. A later build reads
    only new bundles. Example: keju site bundles -o site
    """
    from keju.cli.page_progress import stage_bar
    from keju.site import write_site

    with stage_bar(err):
        made = write_site(bundles, out, models=models or (), title=title)
    say(
        message(
            "terminal.site-written",
            page=made.page,
            boards=made.boards,
            bundles=made.bundles,
            read=made.read,
            megabytes=made.size / 1e6,
        )
    )

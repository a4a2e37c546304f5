"""The command that writes a leaderboard site from bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, err, say
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
        typer.Option(
            "-o", "--out", metavar="FOLDER", help="Folder of the site: new, or an earlier site."
        ),
    ],
    models: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.toml",
            help="Vendor, size and date of models, in addition to models.toml in the folders of"
            " bundles. Can be given several times.",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the site. Default: keju.")] = "",
) -> None:
    """Write a leaderboard site: static pages in English and Chinese, with the evidence of scores.

    The pages need no server and request nothing from other sites. For data whose licence is
    unknown or does not allow copies they have scores and hashes only. A bundle that an earlier
    build read is not read again. Example: keju site bundles -o site
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

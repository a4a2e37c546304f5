"""Commands that copy a run to and from an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, program, say
from keju.cli.options import out_option
from keju.texts import _, n_


@app.command()
def upload(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    address: Annotated[
        str,
        out_option(
            metavar="ADDRESS",
            help="Address of the copy (s3://BUCKET/PREFIX, gs:// or az://): new, or used by "
            "earlier uploads of the same run.",
        ),
    ],
) -> None:
    """Copy a run to an object store. Existing objects are never replaced.

    The run may still be in progress: a later upload sends only the new parts. If two processes
    upload to the same address at the same time, one of them is refused. Credentials and endpoint
    are read from the AWS_, GOOGLE_ or AZURE_ environment variables.

    Example: keju upload my-run -o s3://my-bucket/runs/my-run
    """
    from keju.runs.uploading import upload_run

    done = upload_run(run, address)
    megabytes = done.size / 1e6
    if done.parts:
        say(
            n_(
                "{}: {n:,} part uploaded, {:.1f} MB",
                "{}: {n:,} parts uploaded, {:.1f} MB",
                done.parts,
                address,
                megabytes,
            )
        )
    else:
        say(_("{}: up to date, no upload needed", address))
    say(_("To copy the run back: {} download {} -o RUN", program(), address))


@app.command()
def download(
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="Address of the uploaded run: s3://BUCKET/PREFIX, gs:// or az://.",
        ),
    ],
    folder: Annotated[Path, out_option(metavar="DIR", help="Run directory, new or empty.")],
) -> None:
    """Copy an uploaded run from an object store. The SHA-256 of each file is checked.

    Example: keju download s3://my-bucket/runs/my-run -o my-run
    """
    from keju.runs.uploading import download_run

    download_run(address, folder)
    say(_("{}: copied to {}", address, folder))
    say(_("Next: {0} score {1} && {0} report {1} -o report.html", program(), folder))

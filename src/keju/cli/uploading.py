"""Commands that copy a run to and from an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, program, say
from keju.cli.options import out_option
from keju.messages import message


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
            message("terminal.uploaded-run", address=address, count=done.parts, megabytes=megabytes)
        )
    else:
        say(message("terminal.upload-is-current", address=address))
    say(message("terminal.next-download", keju=program(), address=address))


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
    say(message("terminal.downloaded-run", address=address, folder=folder))
    say(message("terminal.next-score", keju=program(), run=folder))

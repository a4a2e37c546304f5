"""Commands that copy a run to and from an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, program, say
from keju.messages import message


@app.command()
def upload(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    address: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            metavar="s3://BUCKET/PREFIX",
            help="Address of the copy: new, or with earlier uploads of the same run.",
        ),
    ],
) -> None:
    """Copy a run to an object store. Nothing there is ever replaced.

    A later upload sends only what is new in the run, which may still be in progress. Of two uploads
    to one address at the same time, one is refused. Credentials and endpoint come from the AWS_
    variables of the environment. Example: keju upload my-run -o s3://my-bucket/runs/my-run
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
        typer.Argument(metavar="ADDRESS", help="s3://BUCKET/PREFIX to which a run was uploaded."),
    ],
    folder: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="Run directory, new or empty.")
    ],
) -> None:
    """Copy the last upload of a run from an object store. Each file is checked by its SHA-256.

    Example: keju download s3://my-bucket/runs/my-run -o my-run
    """
    from keju.runs.uploading import download_run

    download_run(address, folder)
    say(message("terminal.downloaded-run", address=address, folder=folder))
    say(message("terminal.next-score", keju=program(), run=folder))

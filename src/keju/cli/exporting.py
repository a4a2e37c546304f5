"""Commands that hand a run to other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, note, say

export_app = typer.Typer(no_args_is_help=True, help="Runs in the forms of other programs.")
app.add_typer(export_app, name="export")


@export_app.command()
def inspect(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run; scored, its scores go along.")],
    folder: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="The folder to write, new or empty.")
    ],
    images: Annotated[
        bool, typer.Option("--images", help="Put the pictures in too, not only their names.")
    ] = False,
) -> None:
    """Write the responses as logs that Inspect's viewer opens, one for each model and task.

    Failures are errors of samples, rounds are epochs. --model replay:DIR/MODEL reads them back.
    """
    from keju.interop.inspect_logs import export_inspect
    from keju.runs import RunFolder

    logs = samples = failures = size = 0
    for log in export_inspect(run, folder, images=images):
        logs, samples, failures = logs + 1, samples + log.samples, failures + log.failures
        size += log.file.stat().st_size
    say(
        f"{samples:,} responses ({failures:,} failures) in {logs:,} logs, {size / 1e6:.1f} MB: "
        f"{folder}"
    )
    if not any(RunFolder(run).scores_dir.glob("*.parquet")):
        note(f"note: the run has no scores to go along. Make them with: keju score {run}")
    say(f"Next: inspect view start --log-dir {folder}")

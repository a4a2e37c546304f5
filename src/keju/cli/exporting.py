"""Commands that hand a run to other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, note, say

export_app = typer.Typer(no_args_is_help=True, help="Runs in the forms of other programs.")
app.add_typer(export_app, name="export")


@export_app.command("mcs-bench")
def mcs_bench(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run directory with tasks of MCS-Bench.")
    ],
    place: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE.json|DIR",
            help="File, for a run with one model, prompt variant and round. Else a new or empty "
            "directory, which gets a file for each.",
        ),
    ],
) -> None:
    """Write the responses as the MCS-Bench authors' RESPONSES.json, each as it was returned.

    `keju score FILE` and the authors' script read the files. A failure has no Response.
    """
    from keju.interop.mcs_responses import export_responses
    from keju.runs import FORMAT_1, RunFolder

    for each in export_responses(run, place):
        say(f"{each.file}: {each.responses:,} responses ({each.failures:,} failures)")
    if RunFolder(run).manifest().format == FORMAT_1:
        note(
            "note: keju 0.1.0 made this run and removed reasoning before storing. Response is the "
            "rest, not the content as it was returned"
        )


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

"""The command that serves pages to people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, note, say
from keju.cli.options import BoxConventions, Limit, Sample, ScriptName, Seed, TaskIds
from keju.cli.options import DatasetPath as _DatasetPath
from keju.errors import UsageError

RunOrDataset = Annotated[
    Path,
    typer.Argument(
        metavar="RUN|DATASET",
        help="A run, or a dataset (mini: the bundled one) with --out.",
        callback=_DatasetPath.__metadata__[0].callback,
    ),
]


@app.command()
def serve(
    what: RunOrDataset,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="RUN", help="The run that answers enter; new or begun."),
    ] = None,
    task: TaskIds = None,
    limit: Limit = None,
    sample: Sample = None,
    script: ScriptName = "released",
    boxes: BoxConventions = None,
    per_task: Annotated[
        int, typer.Option(metavar="N", min=1, help="Answers of each task that are rated.")
    ] = 50,
    seed: Seed = 0,
    rubrics: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Rubrics of your own, for rating.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="Review every item, not the drafts alone.")
    ] = False,
    scales: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="A form of your own for marks, for review."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Listen there: opens the pages to others.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="0: any that is free.")
    ] = 8470,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Addresses given out before open nothing more.")
    ] = False,
    collect: Annotated[
        bool,
        typer.Option("--collect", help="Write out what people did so far, and serve nothing."),
    ] = False,
) -> None:
    """Serve pages to people: the exam, rating, review of drafts, authoring, adjudication.

    The exam's answers enter the run as human:NAME, which score and report treat like any model.
    Ratings, verdicts, decisions and new items go to RUN/people. See docs/serving.md
    """
    from keju.running import Selection
    from keju.running.box_conventions import parse_boxes
    from keju.web import Choice, Hall, is_loopback
    from keju.web import serve as serve_pages

    for_all, of_model = parse_boxes(boxes or [])
    if of_model:
        raise UsageError("--boxes MODEL= is for runs of models: people are asked in one convention")
    chosen = Selection(
        tasks=tuple(task) if task else None, limit=limit, sample=sample,
        seed=seed if sample else 0, scripts=(script,), boxes=for_all,
    )  # fmt: skip
    selection = None if chosen == Selection() else chosen
    hall = Hall(what, out, Choice(selection, per_task, seed, rubrics, every, scales))
    if collect:
        try:
            lines = hall.collect()
        finally:
            hall.close()
    else:
        if not is_loopback(host):
            note(
                f"warning: everybody who reaches {host} and has the address can answer, and what "
                "is sent can be read on the way (no TLS). Without --host only this machine can"
            )
        lines = serve_pages(hall, host=host, port=port, new_token=new_token, tell=_told)
    for line in lines or ["nothing to write out yet"]:
        say(line)


def _told(address: str) -> None:
    say(f"Open this address: {address}")
    note("It lets in whoever has it. Ctrl-C ends; what was submitted is kept")

"""The command that starts the annotation app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, note, say
from keju.cli.options import BoxConventions, Limit, Sample, ScriptName, Seed, TaskIds
from keju.cli.options import DatasetPath as _DatasetPath
from keju.errors import UsageError
from keju.messages import message

RunOrDataset = Annotated[
    Path,
    typer.Argument(
        metavar="RUN|DATASET",
        help="Run directory, or a dataset (`mini`: the bundled one) with --out.",
        callback=_DatasetPath.__metadata__[0].callback,
    ),
]


@app.command()
def serve(
    what: RunOrDataset,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="RUN",
            help="Run directory that receives the answers. Created if missing.",
        ),
    ] = None,
    task: TaskIds = None,
    limit: Limit = None,
    sample: Sample = None,
    script: ScriptName = "released",
    boxes: BoxConventions = None,
    per_task: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of answers per task to rate.")
    ] = 50,
    seed: Seed = 0,
    rubrics: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="File of your own rubrics, for rating.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="Review every item, not only drafts.")
    ] = False,
    scales: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="File of your own review form."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on. Another than the default opens the pages to other "
            "machines.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=65535, help="Port to listen on; 0 chooses a free one."
        ),
    ] = 8470,
    new_token: Annotated[
        bool,
        typer.Option("--new-token", help="Make new access addresses; earlier ones stop working."),
    ] = False,
    collect: Annotated[
        bool,
        typer.Option("--collect", help="Write what people did so far to files, and do not serve."),
    ] = False,
) -> None:
    """Serve pages to people: the exam, rating, review of drafts, authoring, adjudication.

    Answers of the exam are stored in the run as human:NAME, which `score` and `report` treat like a
    model. Ratings, verdicts, decisions and new items are stored in RUN/people. See docs/serving.md
    """
    from keju.annotation import AnnotationApp, AppOptions, is_loopback
    from keju.annotation import serve as serve_pages
    from keju.running import Selection
    from keju.running.box_conventions import parse_boxes

    for_all, of_model = parse_boxes(boxes or [])
    if of_model:
        raise UsageError(message("cli.boxes-model-for-runs"))
    chosen = Selection(
        tasks=tuple(task) if task else None, limit=limit, sample=sample,
        seed=seed if sample else 0, scripts=(script,), boxes=for_all,
    )  # fmt: skip
    selection = None if chosen == Selection() else chosen
    pages = AnnotationApp(what, out, AppOptions(selection, per_task, seed, rubrics, every, scales))
    if collect:
        try:
            lines = pages.collect()
        finally:
            pages.close()
    else:
        if not is_loopback(host):
            note(message("terminal.open-to-others", host=host))
        lines = serve_pages(pages, host=host, port=port, new_token=new_token, report=_print_address)
    for line in lines or [message("terminal.nothing-to-write")]:
        say(line)


def _print_address(address: str) -> None:
    say(message("terminal.open-address", address=address))
    note(message("terminal.keep-address-secret"))

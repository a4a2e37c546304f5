"""The command that starts the annotation app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, note, say
from keju.cli.grouped_options import with_groups
from keju.cli.options import DatasetPath as _DatasetPath
from keju.cli.serve_options import AddressOptions, ExamOptions, PeopleOptions
from keju.texts import _

RunOrDataset = Annotated[
    Path,
    typer.Argument(
        metavar="RUN|DATASET",
        help="Run directory, or a dataset (`mini`: the bundled one) with --out.",
        callback=_DatasetPath.__metadata__[0].callback,
    ),
]


@app.command()
@with_groups
def serve(
    what: RunOrDataset,
    exam: ExamOptions,
    people: PeopleOptions,
    address: AddressOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN", help="Run directory that receives the answers. Created if missing."
        ),
    ] = None,
    collect: Annotated[
        bool,
        typer.Option("--collect", help="Write what people did so far to files, and do not serve."),
    ] = False,
) -> None:
    """Serve pages to people: the exam, rating, review of drafts, adjudication.

    Answers of the exam are stored in the run as human:NAME, which `score` and `report` treat like a
    model. Ratings, verdicts and decisions are stored in RUN/people. See docs/serving.md
    """
    from keju.annotation import AnnotationApp, AppOptions, is_loopback
    from keju.annotation import serve as serve_pages

    options = AppOptions(
        exam.selection(), people.per_task, exam.seed, people.rubrics, people.every, people.scales
    )
    pages = AnnotationApp(what, out, options)
    if collect:
        try:
            lines = pages.collect()
        finally:
            pages.close()
    else:
        local = is_loopback(address.host)
        if not local:
            note(
                _(
                    "warning: everyone who can reach {} and has the address can answer, and "
                    "answers are sent without encryption (no TLS). They see the images and texts "
                    "of the dataset: check that its licence permits this. If others do not reach "
                    "the name in the address, replace it with the IP address of this machine. "
                    "Without --host only this machine can open the pages",
                    address.host,
                )
            )

        def print_address(url: str) -> None:
            say(_("Open this address: {}", url))
            on_network = _(
                "Everyone who reaches this computer over the network and has the address can "
                "open the pages."
            )
            here = _(
                "Only this computer can open the address. To let people on other computers open "
                "it: --host 0.0.0.0 (see docs/serving.md)."
            )
            note(
                here if local else on_network,
                _("Ctrl-C stops the server; submitted answers are kept"),
            )

        lines = serve_pages(
            pages, host=address.host, port=address.port, new_token=address.new_token,
            report=print_address,
        )  # fmt: skip
    if lines:
        say(*lines)
    else:
        say(_("There are no answers to write yet"))

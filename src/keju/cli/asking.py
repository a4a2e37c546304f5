"""Commands that run models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import WITH_FAILURES, app, err, print_json, program, say
from keju.cli.asking_output import show_failures, show_plan, show_run
from keju.cli.grouped_options import with_groups
from keju.cli.ocr_reporting import refuse_scans
from keju.cli.options import (
    AsJson,
    DatasetPath,
    Everything,
    ModelNames,
    limit_option,
    out_option,
)
from keju.cli.permission import permission
from keju.cli.request_options import RequestOptions
from keju.errors import UsageError
from keju.texts import _, n_


@app.command()
@with_groups
def run(
    dataset: DatasetPath,
    model: ModelNames,
    request: RequestOptions,
    folder: Annotated[
        Path | None,
        out_option(
            metavar="DIR",
            help="Run directory. Created if missing, resumed if it exists. Required, except with "
            "--plan.",
        ),
    ] = None,
    *,
    plan: Annotated[
        bool,
        limit_option(
            "--plan",
            help="Print the requests, images, tokens, cost and hours that are left, and send "
            "nothing.",
        ),
    ] = False,
    as_json: AsJson = False,
    everything: Everything = False,
) -> None:
    """Run models on a dataset. You can interrupt it at any time; the same command resumes.

    Each response is stored in OUT/responses as soon as it arrives. The same command then sends only
    the requests that have no response yet.

    With --plan, image tokens are counted by the vendors' published rules and text tokens by a rule
    that is printed. Unknown counts are shown as unknown. Transcribing images first (own-ocr,
    own-text, ocr+llm) has separate rows.

    With --engine ray, ppocr, tesseract and got:DIR run on every node of a Ray cluster.
    """
    from keju.cli.output.run_summary import unlike_paper
    from keju.models.cluster import on_ray
    from keju.running import plan_run
    from keju.running import run as ask
    from keju.running.restricted_data import permitting

    refuse_scans(dataset, model)
    options = request.run_options()
    selection, model_options = options.selection_for(dataset), options.model_options()
    if plan:
        planned = plan_run(
            dataset, model, folder, selection=selection, options=model_options,
            policy=options.policy(), console=err,
        )  # fmt: skip
        if as_json:
            print_json(planned)
        else:
            unlike = unlike_paper(request.preset, planned.identities) if request.preset else ()
            start = _("Nothing was sent. Run the same command without --plan to start")
            show_plan(planned, [*unlike, start], everything=everything)
        return
    if folder is None:
        raise UsageError("--out is missing. Name the run directory, e.g. --out runs/first")
    with permitting(permission(request.send_restricted_data)):
        summary = ask(
            dataset,
            on_ray(model, model_options, request.ray_address) if request.engine == "ray" else model,
            folder,
            selection=selection,
            options=model_options,
            policy=options.policy(),
            console=err,
        )
    if as_json:
        print_json(summary)
        raise typer.Exit(0 if summary.complete else WITH_FAILURES)
    show_run(summary, folder, request.preset)
    if summary.waiting:
        say(
            n_(
                "Submitted in batches and not returned yet: {n:,} request",
                "Submitted in batches and not returned yet: {n:,} requests",
                summary.waiting,
            )
        )
    if summary.used_up:
        say(_("Stopped: {}", summary.used_up))
    if not any(each.planned for each in summary.models):
        say(_("No request was sent: the column 'not asked' gives the reasons"))
        raise typer.Exit(WITH_FAILURES)
    if not summary.complete:
        show_failures(summary, folder)
        raise typer.Exit(WITH_FAILURES)
    if request.shard:
        say(_("Next, when all shards are done: keju merge SHARD1 SHARD2 … --out RUN"))
        return
    say(_("Next: {0} score {1} && {0} report {1} -o report.html", program(), folder))


@app.command()
def merge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Run directories of the shards.")
    ],
    folder: Annotated[Path, out_option(metavar="DIR", help="New run directory.")],
) -> None:
    """Merge the shards of a run from several machines into one run.

    The shards must have equal settings and no responses to the same request. They are not changed.
    Stored replies of judges and extractors are merged too. If shards or responses are missing, the
    command prints how many, and keju run with the new run as --out, without --shard, sends the
    missing requests.
    """
    from keju.cli.output.run_summary import unfinished_lines
    from keju.judging.store import merge_replies
    from keju.running import merge as join
    from keju.runs import RunFolder

    merged = join(runs, folder)
    merge_replies([RunFolder.open(run) for run in runs], RunFolder.open(folder))
    models = ", ".join(merged.models)
    say(
        n_(
            "{}: {n:,} response of {}",
            "{}: {n:,} responses of {}",
            merged.responses,
            merged.out,
            models,
        )
    )
    say(*(_("Missing: {}", shard) for shard in merged.missing))
    unfinished = list(unfinished_lines(RunFolder.open(folder)))
    if unfinished or merged.missing:
        say(*unfinished)
        raise typer.Exit(WITH_FAILURES)
    say(_("Next: {0} score {1} && {0} report {1} -o report.html", program(), folder))

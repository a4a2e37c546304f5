"""Commands that run models, or plan a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

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
from keju.cli.request_options import (
    ClusterOptions,
    ImageOptions,
    ItemOptions,
    LimitOptions,
    PriceOptions,
    PromptOptions,
    SamplingOptions,
    ServerOptions,
    run_options,
)
from keju.errors import UsageError
from keju.local_paths import shell_quoted
from keju.texts import _, n_


@app.command()
@with_groups
def plan(
    context: typer.Context,
    dataset: DatasetPath,
    model: ModelNames,
    items: ItemOptions,
    prompts: PromptOptions,
    server: ServerOptions,
    images: ImageOptions,
    folder: Annotated[
        Path | None,
        out_option(
            metavar="DIR",
            help="Run directory to resume; responses that it contains are not counted.",
        ),
    ] = None,
    *,
    paid: PriceOptions,
    machine_price: Annotated[
        str,
        limit_option(
            metavar="PRICE/h",
            help="Price of one hour of your own server, e.g. 0.20/h or 0.20EUR/h, for models whose"
            " tokens have no price; needs --per-minute, the server's rate.",
        ),
    ] = "",
    as_json: AsJson = False,
    everything: Everything = False,
) -> None:
    """Estimate the requests, images, tokens, cost and hours of a run. Sends nothing.

    Image tokens are counted by the vendors' published rules, text tokens by a rule that is printed.
    Unknown counts are shown as unknown. Transcribing images first (own-ocr, own-text, ocr+llm) has
    separate rows.
    """
    from keju.cli.output.run_summary import unlike_paper
    from keju.datasets.store import Dataset
    from keju.models import open_models
    from keju.running import attach_dataset
    from keju.running.box_conventions import check_models
    from keju.running.own_prompts import check_takes_prompts, prompt_notes, with_own_prompts
    from keju.running.plan import PlannedItems, estimate_items
    from keju.running.plan_forms import with_forms
    from keju.running.prices import read_machine_price, read_prices
    from keju.running.restricted_data import SendingCheck, SentData
    from keju.runs import RunFolder

    if machine_price and not paid.per_minute:
        raise UsageError(
            "--machine-price needs --per-minute N, the requests that your own server answers in "
            "a minute"
        )
    options = run_options(items, prompts, server, images)
    opened = Dataset.open(dataset)
    options.as_in.check(prompts.preset, opened.manifest.tasks)
    selection = options.selection()
    model_options = with_own_prompts(replace(options.model_options(), asking=False), selection)
    planned = PlannedItems(opened)
    models = open_models(model, attach_dataset(opened, planned.items, model_options))
    check_takes_prompts(models, selection)
    there = RunFolder(folder) if folder else None
    costs = read_prices(paid.prices) if paid.prices else None
    pace = paid.per_minute
    hourly = read_machine_price(machine_price)
    check_models(selection.boxes_of, [each.name for each in models])
    chosen = planned.selected(selection)
    found = estimate_items(
        chosen, models, selection, folder=there, prices=costs, per_minute=pace,
        examples=planned.examples(chosen, selection), machine_price=hourly,
    )  # fmt: skip
    if selection.pairs is None:
        found = with_forms(found, chosen, models, selection, prices=costs, per_minute=pace)
    if as_json:
        print_json(found)
        return
    notes = list(prompt_notes(models, model_options, selection))
    sending = SendingCheck(there, SentData.of(opened, chosen))
    if restricted := sending.describe(models):
        notes.append(
            _(
                "Before the first request you will be asked: {}. In scripts: "
                "--send-restricted-data",
                restricted,
            )
        )
    if prompts.preset:
        notes += unlike_paper(prompts.preset, {each.name: each.identity for each in models})
    show_plan(found, _run_command(context), notes, everything=everything)
    if there and not there.exists():
        say(_("{} does not contain a run yet, so all requests are counted", folder))


_OF_PLAN = frozenset({"as_json", "everything", "folder", "pairs", "machine_price"})
"""Options of `keju plan` that `keju run` does not have, or has with another meaning."""


def _run_command(context: typer.Context) -> str:
    """Return the `keju run` command with the options of a plan."""
    from keju.datasets import mini

    words = ["keju", "run"]
    for each in context.command.params:
        value = context.params.get(each.name or "")
        if each.name in _OF_PLAN or value in (None, each.default, []):
            continue
        flag = [each.opts[0]] if each.opts[0].startswith("-") else []
        values = value if isinstance(value, list | tuple) else [value]
        if each.name == "dataset":
            values = [mini.short_name(value)]
        texts = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in values]
        words += [word for text in texts for word in [*flag, text]]
    return " ".join(map(shell_quoted, words))


@app.command()
@with_groups
def run(
    dataset: DatasetPath,
    model: ModelNames,
    folder: Annotated[
        Path,
        out_option(metavar="DIR", help="Run directory. Created if missing, resumed if it exists."),
    ],
    items: ItemOptions,
    prompts: PromptOptions,
    server: ServerOptions,
    sampling: SamplingOptions,
    images: ImageOptions,
    limits: LimitOptions,
    paid: PriceOptions,
    cluster: ClusterOptions,
) -> None:
    """Run models on a dataset. You can interrupt it at any time; the same command resumes.

    Each response is stored in OUT/responses as soon as it arrives. The same command then sends only
    the requests that have no response yet.

    With --engine ray, ppocr, tesseract and got:DIR run on every node of a Ray cluster.
    """
    from keju.models.cluster import on_ray
    from keju.running import run as ask
    from keju.running.restricted_data import permitting

    refuse_scans(dataset, model)
    options = run_options(items, prompts, server, sampling, images, limits, paid)
    selection, model_options = options.selection_for(dataset), options.model_options()
    with permitting(permission(limits.send_restricted_data)):
        summary = ask(
            dataset,
            on_ray(model, model_options, cluster.ray_address) if cluster.engine == "ray" else model,
            folder,
            selection=selection,
            options=model_options,
            policy=options.policy(),
            console=err,
        )
    show_run(summary, folder, prompts.preset)
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
    if items.shard:
        say(_("Next, when all shards are done: keju merge SHARD1 SHARD2 … --out RUN"))
        return
    say(_("Next: {0} score {1} && {0} report {1} -o report.html", program(), folder))


@app.command()
def merge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Run directories of the shards.")
    ],
    folder: Annotated[Path, out_option(metavar="DIR", help="New run directory.")],
    partial: Annotated[
        bool, typer.Option("--partial", help="Merge incomplete shards, and list what is missing.")
    ] = False,
) -> None:
    """Merge the shards of a run from several machines, or runs of several models, into one run.

    The runs must have equal settings, and no response may be duplicated or missing. The runs are
    not changed. A failed request counts as a response; --retry-failed sends it again in the new
    run.
    """
    from keju.running import merge as join

    merged = join(runs, folder, partial=partial)
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
    for line in merged.missing:
        say(_("Missing: {}", line))
    if merged.missing:
        raise typer.Exit(WITH_FAILURES)
    say(_("Next: {0} score {1} && {0} report {1} -o report.html", program(), folder))

"""Commands that run models, or plan a run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from keju.cli.app import WITH_FAILURES, app, err, out, say
from keju.cli.asking_output import show_failures, show_plan, show_run
from keju.cli.ocr_reporting import refuse_scans
from keju.cli.options import (
    AsJson,
    BaseUrl,
    BoxConventions,
    DatasetPath,
    Dtype,
    ExampleCounts,
    ExamplesSeed,
    ExtraBody,
    ItemList,
    KeyName,
    Limit,
    MaxBytes,
    MaxPixels,
    MaxTokens,
    ModelNames,
    PairFormName,
    PerMinute,
    PresetName,
    PriceFile,
    PromptFiles,
    ReasoningEffort,
    RetryFailed,
    Rounds,
    Sample,
    SamplingSeed,
    ScriptNames,
    Seed,
    SettingNames,
    Shard,
    SystemPrompt,
    TaskIds,
    ThinkingSwitch,
    Timeout,
    WordingNames,
)
from keju.errors import number_of


@app.command()
def plan(
    context: typer.Context,
    dataset: DatasetPath,
    model: ModelNames,
    task: TaskIds = None,
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    rounds: Rounds = None,
    preset: PresetName = "",
    setting: SettingNames = None,
    script: ScriptNames = None,
    wording: WordingNames = None,
    prompts: PromptFiles = None,
    examples: ExampleCounts = None,
    examples_seed: ExamplesSeed = 0,
    boxes: BoxConventions = None,
    item_list: ItemList = None,
    pairs: PairFormName = None,
    shard: Shard = None,
    base_url: BaseUrl = "",
    sampling_seed: SamplingSeed = None,
    system_prompt: SystemPrompt = "",
    reasoning_effort: ReasoningEffort = None,
    thinking: ThinkingSwitch = None,
    extra_body: ExtraBody = None,
    dtype: Dtype = "unknown",
    max_pixels: MaxPixels = None,
    max_bytes: MaxBytes = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="DIR",
            help="Run directory to resume; responses that it contains are not counted.",
        ),
    ] = None,
    prices: PriceFile = None,
    per_minute: PerMinute = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the requests, images, tokens, cost and hours of a run. Sends nothing.

    Image tokens are counted by the vendors' published rules, text tokens by a rule that is printed.
    Unknown counts are shown as unknown. Transcribing images first (own-ocr, own-text, ocr+llm) has
    separate rows.
    """
    from keju.datasets.store import Dataset
    from keju.models import open_models
    from keju.models.request_fields import parse_extra_body, read_system_prompt
    from keju.reporting.console import print_json
    from keju.reporting.planning import forms_notes, forms_table
    from keju.reporting.run_summary import unlike_paper
    from keju.running import estimate, lend
    from keju.running.options import RunOptions
    from keju.running.own_prompts import check_takes_prompts, prompt_notes, with_own_prompts
    from keju.running.plan import planned_items
    from keju.running.plan_forms import with_forms
    from keju.running.prices import read_prices
    from keju.runs import RunFolder

    options = RunOptions(
        tasks=task, limit=limit, sample=sample, seed=seed, rounds=rounds, preset=preset,
        settings=setting, scripts=script, wordings=wording, prompts=prompts,
        examples=examples, examples_seed=examples_seed, boxes=boxes, items=item_list,
        pairs=pairs, shard=shard, base_url=base_url, sampling_seed=sampling_seed,
        system_prompt=read_system_prompt(system_prompt), reasoning_effort=reasoning_effort,
        thinking=thinking, extra_body=parse_extra_body(extra_body or ()), dtype=dtype,
        max_pixels=max_pixels, max_bytes=max_bytes,
    )  # fmt: skip
    opened = Dataset.open(dataset)
    items = opened.items()
    options.as_in.check(preset, opened.manifest.tasks)
    selection = options.selection()
    model_options = with_own_prompts(replace(options.model_options(), asking=False), selection)
    models = open_models(model, lend(opened, items, model_options))
    check_takes_prompts(models, selection)
    there = RunFolder(folder) if folder else None
    costs = read_prices(prices) if prices else None
    found = estimate(opened, models, selection, folder=there, prices=costs, per_minute=per_minute)
    if selection.pairs is None:
        chosen = planned_items(opened, selection)
        found = with_forms(found, chosen, models, selection, prices=costs, per_minute=per_minute)
    if as_json:
        print_json(found)
        return
    show_plan(found)
    for line in prompt_notes(models, model_options, selection):
        say(line)
    if preset:
        for line in unlike_paper(preset, {each.name: each.identity for each in models}):
            say(line)
    if found.forms:
        out.print(forms_table(found))
        for line in forms_notes(found, _run_command(context)):
            say(line)
    if there and not there.exists():
        say(f"{folder}: no run is there yet, so nothing is taken off")


_OF_PLAN = frozenset({"as_json", "folder", "pairs"})
"""Options of `keju plan` that `keju run` does not have, or has with another meaning."""


def _run_command(context: typer.Context) -> str:
    """Return the `keju run` command with the options of a plan."""
    words = ["keju", "run"]
    for each in context.command.params:
        value = context.params.get(each.name or "")
        if each.name in _OF_PLAN or value in (None, each.default, []):
            continue
        flag = [each.opts[0]] if each.opts[0].startswith("-") else []
        values = value if isinstance(value, list | tuple) else [value]
        words += [word for one in values for word in [*flag, str(one)]]
    return shlex.join(words)


@app.command()
def run(
    dataset: DatasetPath,
    model: ModelNames,
    folder: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            metavar="DIR",
            help="Run directory. Created if missing, resumed if it exists.",
        ),
    ],
    task: TaskIds = None,
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    rounds: Rounds = None,
    preset: PresetName = "",
    setting: SettingNames = None,
    script: ScriptNames = None,
    wording: WordingNames = None,
    prompts: PromptFiles = None,
    examples: ExampleCounts = None,
    examples_seed: ExamplesSeed = 0,
    boxes: BoxConventions = None,
    item_list: ItemList = None,
    pairs: PairFormName = None,
    shard: Shard = None,
    base_url: BaseUrl = "",
    api_key_env: KeyName = "OPENAI_API_KEY",
    concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Maximum number of simultaneous requests to each model.",
            rich_help_panel="Speed and budget",
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(metavar="T", help="Sampling temperature.", rich_help_panel="Model"),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(metavar="P", help="Nucleus sampling probability.", rich_help_panel="Model"),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Number of the most likely tokens to sample from.",
            rich_help_panel="Model",
        ),
    ] = None,
    max_tokens: MaxTokens = None,
    sampling_seed: SamplingSeed = None,
    system_prompt: SystemPrompt = "",
    reasoning_effort: ReasoningEffort = None,
    thinking: ThinkingSwitch = None,
    extra_body: ExtraBody = None,
    dtype: Dtype = "unknown",
    timeout: Timeout = 600.0,
    max_pixels: MaxPixels = None,
    max_bytes: MaxBytes = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            metavar="MONEY",
            help="Maximum cost of the run, including responses stored before; needs --prices.",
            rich_help_panel="Speed and budget",
        ),
    ] = None,
    max_requests: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Maximum number of requests, including repeated ones.",
            rich_help_panel="Speed and budget",
        ),
    ] = None,
    max_hours: Annotated[
        float | None,
        typer.Option(
            metavar="H",
            help="Hours after which no new request is sent.",
            rich_help_panel="Speed and budget",
        ),
    ] = None,
    prices: PriceFile = None,
    per_minute: PerMinute = None,
    tokens_per_minute: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            min=0.001,
            help="Maximum number of tokens per minute for each model, including the requested "
            "output.",
            rich_help_panel="Speed and budget",
        ),
    ] = None,
    images_per_minute: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            min=0.001,
            help="Maximum number of images per minute for each model.",
            rich_help_panel="Speed and budget",
        ),
    ] = None,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Use the vendor's batch endpoint: submit requests, or collect finished "
            "ones. Half the price; can take a day.",
            rich_help_panel="Speed and budget",
        ),
    ] = False,
    retry_failed: RetryFailed = False,
    reading_order: Annotated[
        bool,
        typer.Option(help="Put an OCR engine's lines into reading order.", rich_help_panel="Model"),
    ] = True,
) -> None:
    """Run models on a dataset. You can interrupt it at any time; the same command resumes.

    Each response is stored in OUT/responses as soon as it arrives. The same command then sends only
    the requests that have no response yet.
    """
    from keju.models.request_fields import parse_extra_body, read_system_prompt
    from keju.running import run as ask
    from keju.running.options import RunOptions

    refuse_scans(dataset, model)
    options = RunOptions(
        tasks=task, limit=limit, sample=sample, seed=seed, rounds=rounds, preset=preset,
        settings=setting, scripts=script, wordings=wording, prompts=prompts,
        examples=examples, examples_seed=examples_seed, boxes=boxes, items=item_list,
        pairs=pairs, shard=shard, base_url=base_url, api_key_env=api_key_env,
        concurrency=concurrency, temperature=temperature, top_p=top_p, top_k=top_k,
        max_tokens=max_tokens, sampling_seed=sampling_seed,
        system_prompt=read_system_prompt(system_prompt), reasoning_effort=reasoning_effort,
        thinking=thinking, extra_body=parse_extra_body(extra_body or ()), dtype=dtype,
        timeout=timeout, max_pixels=max_pixels, max_bytes=max_bytes, max_cost=max_cost,
        max_requests=max_requests, max_hours=max_hours, prices=prices, per_minute=per_minute,
        tokens_per_minute=tokens_per_minute, images_per_minute=images_per_minute, batch=batch,
        retry_failed=retry_failed, reading_order=reading_order,
    )  # fmt: skip
    summary = ask(
        dataset,
        model,
        folder,
        selection=options.selection_for(dataset),
        options=options.model_options(),
        policy=options.policy(),
        console=err,
    )
    show_run(summary, folder, preset)
    if summary.waiting:
        say(f"Submitted in batches and not back yet: {number_of(summary.waiting, 'request')}")
    if summary.used_up:
        say(f"Stopped: {summary.used_up}")
    if not any(each.planned for each in summary.models):
        say("Nothing was asked: the column 'not asked' says why")
        raise typer.Exit(WITH_FAILURES)
    if not summary.complete:
        show_failures(summary, folder)
        raise typer.Exit(WITH_FAILURES)
    if shard:
        say("Next, when all shards are done: keju merge SHARD1 SHARD2 … --out RUN")
        return
    say(f"Next: keju score {folder} && keju report {folder} -o report.html")


@app.command()
def merge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Run directories of the shards.")
    ],
    folder: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="New run directory.")],
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
    say(f"{merged.out}: {number_of(merged.responses, 'response')} of {', '.join(merged.models)}")
    for line in merged.missing:
        say(f"Missing: {line}")
    if merged.missing:
        raise typer.Exit(WITH_FAILURES)
    say(f"Next: keju score {folder} && keju report {folder} -o report.html")

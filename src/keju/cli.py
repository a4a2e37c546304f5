"""The ``keju`` command: parse, call, print.

Exit status: 0 done; 1 finished with failures, which are named; 2 wrong use, or input that can't
be read.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer
from rich.console import Console

from keju import __version__
from keju.errors import KejuError, UsageError
from keju.items import Protocol, Setting

DONE, WITH_FAILURES, WRONG_USE = 0, 1, 2

app = typer.Typer(
    name="keju",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="keju (科舉, the imperial examination): build, run, score and audit multimodal benchmarks "
    "of Chinese classical studies.\n\nThe way data goes: a dataset is [b]planned[/b] into "
    "requests, models are [b]run[/b] on them, responses are [b]scored[/b] and [b]reported[/b]. "
    "Each step reads and writes files and can be run again. Start with: [b]keju demo[/b]",
)
data_app = typer.Typer(
    no_args_is_help=True, help="Datasets on disk: import, validate, look at the numbers."
)
app.add_typer(data_app, name="data")
build_app = typer.Typer(no_args_is_help=True, help="Make a benchmark's data.")
app.add_typer(build_app, name="build")

_PIPED_WIDTH = 120
out = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
err = Console(stderr=True, highlight=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
DatasetPath = Annotated[Path, typer.Argument(metavar="DATASET", help="A dataset's folder.")]
ModelNames = Annotated[
    list[str],
    typer.Option("--model", help="Who answers; may be given several times. See: keju models"),
]
TaskIds = Annotated[
    list[str] | None, typer.Option("--task", help="Only this task; may be given several times.")
]
Limit = Annotated[int | None, typer.Option(help="The first N items of each task.")]
Sample = Annotated[
    int | None, typer.Option(help="N items in all, drawn evenly over tasks and groups.")
]
Seed = Annotated[int, typer.Option(help="For --sample and for the baselines that draw.")]
Rounds = Annotated[int, typer.Option(help="How often each item is asked.")]
SettingName = Annotated[
    Setting,
    typer.Option(help="What is shown: the image, or its true transcription (gold-ocr)."),
]
BaseUrl = Annotated[str, typer.Option(help="An OpenAI-compatible server, up to its /v1.")]


def main() -> NoReturn:
    """Run the command line; an error that keju knows is one line and no traceback."""
    try:
        app()
    except KejuError as error:
        _fail(str(error))
    except BrokenPipeError:
        # The reader of our output has left (``keju tasks | head``): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    sys.exit(DONE)


def say(line: str) -> None:
    """Print a plain line on standard output."""
    out.print(line, markup=False, highlight=False, soft_wrap=True)


def _fail(message: str) -> NoReturn:
    err.print(f"keju: {message}", markup=False, soft_wrap=True)
    sys.exit(WRONG_USE)


def _pair(option: str) -> tuple[str, str]:
    name, equals, value = option.partition("=")
    if not equals:
        raise UsageError(f"option {option!r} needs a value: -o {name}=VALUE")
    return name, value


def _version(asked: bool) -> None:
    if asked:
        out.print(f"keju {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    del version


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where to put the run and its report.")] = (
        Path("demo-run")
    ),
) -> None:
    """Go the whole way on the bundled set: real OCR and baselines, scores, a report. Offline."""
    from keju.demo import demonstrate

    demonstrate(folder, out)


@app.command()
def tasks(as_json: AsJson = False) -> None:
    """List the 55 tasks of the three benchmarks: what can be asked, and how it is scored."""
    from keju.benchmarks import task_row
    from keju.benchmarks import tasks as all_tasks
    from keju.reporting.terminal import print_json, tasks_tables

    if as_json:
        print_json([task_row(task) for task in all_tasks()])
    else:
        out.print(*tasks_tables(all_tasks()))
        say("official, strict: the main metric of each protocol; --json lists them all")


@app.command()
def models(as_json: AsJson = False) -> None:
    """List the kinds of model, how each is spelled, and whether it can answer here."""
    from keju.models import model_kinds
    from keju.reporting.terminal import models_table, print_json

    if as_json:
        print_json(list(model_kinds()))
    else:
        out.print(models_table(model_kinds()))


@data_app.command("import")
def import_(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="See: keju data formats")],
    src: Annotated[Path, typer.Argument(help="The file or folder to read.")],
    dataset: Annotated[Path, typer.Option("--out", help="The new dataset's folder.")],
    licence: Annotated[str, typer.Option(help="Under which the data may be used, e.g. CC-BY-4.0.")],
    source: Annotated[str, typer.Option(help="Where the data comes from.")],
    name: Annotated[str, typer.Option(help="The dataset's name; by default its folder's.")] = "",
    version: Annotated[str, typer.Option(help="The dataset's version.")] = "1",
    option: Annotated[
        list[str] | None,
        typer.Option("-o", "--option", metavar="NAME=VALUE", help="An option of the format."),
    ] = None,
) -> None:
    """Read a source into a dataset: your pages, PAGE-XML, ALTO, or a released benchmark."""
    from keju.datasets.readers import import_dataset

    done = import_dataset(
        form,
        src,
        dataset,
        name=name or dataset.resolve().name,
        version=version,
        licence=licence,
        source=source,
        options=dict(_pair(each) for each in option or ()),
    )
    for note in done.notes:
        err.print(f"note: {note}", markup=False, soft_wrap=True)
    made = done.manifest
    say(f"{made.items} items, {made.images} images in {dataset} (hash {made.hash[:12]})")
    say(f"Next: keju data validate {dataset}")


@data_app.command()
def formats() -> None:
    """List the formats that can be imported, what each must look like, and its options."""
    from keju.datasets.readers import FORMATS

    for reader in FORMATS.values():
        out.print(f"[b]{reader.name}[/b]  {reader.what}")
        say(textwrap.indent(reader.layout.strip(), "    "))
        for name, text in reader.options.items():
            say(f"    -o {name}=…  {text}")
        say("")


@data_app.command("validate")
def validate_(dataset: DatasetPath) -> None:
    """Check every item and image; each fault is a line that names the item and the mend."""
    from keju.datasets.validate import validate

    counts: Counter[str] = Counter()
    for finding in validate(dataset):
        counts[finding.severity] += 1
        say(str(finding))
    say(f"{counts['error']} errors, {counts['warning']} warnings in {dataset}")
    if counts["error"]:
        raise typer.Exit(WITH_FAILURES)


@data_app.command("stats")
def stats_(dataset: DatasetPath, as_json: AsJson = False) -> None:
    """Count and measure a dataset: the columns of MCS-Bench Tables 2 and 5, OBI-Bench Table 1."""
    from keju.datasets.stats import stats
    from keju.reporting.terminal import print_json, stats_tables

    found = stats(dataset)
    if as_json:
        print_json({name: frame.to_dicts() for name, frame in found._asdict().items()})
    else:
        out.print(*stats_tables(found))


@build_app.command()
def synth(
    recipe: Annotated[Path, typer.Argument(help="The recipe, a TOML file.", exists=True)],
    dataset: Annotated[Path, typer.Option("--out", help="The new dataset's folder.")],
) -> None:
    """Draw synthetic pages and questions from a recipe, with exact truth. Needs CJK fonts."""
    from keju.building.synth import build_synth

    made = build_synth(recipe, dataset)
    say(f"{made.manifest.items} items, hash {made.manifest.hash}")


@app.command()
def plan(
    dataset: DatasetPath,
    model: ModelNames,
    task: TaskIds = None,
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    rounds: Rounds = 1,
    setting: SettingName = "image",
    base_url: BaseUrl = "",
    as_json: AsJson = False,
) -> None:
    """Count the calls, images and bytes that a run would take. Asks nobody."""
    from keju.datasets.store import Dataset
    from keju.models import ModelOptions, open_model
    from keju.reporting.terminal import plan_table, print_json
    from keju.running import Selection, estimate

    opened = Dataset.open(dataset)
    items = opened.items()
    reference = tuple(item for item in items if item.split == "reference")
    options = ModelOptions(base_url=base_url, seed=seed, reference=reference, asking=False)
    selection = Selection(
        tasks=tuple(task) if task else None,
        limit=limit,
        sample=sample,
        seed=seed,
        setting=setting,
        rounds=rounds,
    )
    found = estimate(opened, [open_model(name, options) for name in model], selection)
    if as_json:
        print_json(found)
    else:
        out.print(plan_table(found))


@app.command()
def run(
    dataset: DatasetPath,
    model: ModelNames,
    folder: Annotated[Path, typer.Option("--out", help="The run's folder, new or to go on with.")],
    task: TaskIds = None,
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    rounds: Rounds = 1,
    setting: SettingName = "image",
    base_url: BaseUrl = "",
    api_key_env: Annotated[
        str, typer.Option(help="The environment variable that holds the key.")
    ] = "OPENAI_API_KEY",
    concurrency: Annotated[
        int | None, typer.Option(help="Requests in flight to each model at most.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Nucleus sampling.")] = None,
    top_k: Annotated[int | None, typer.Option(help="Sample from the k likeliest tokens.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="New tokens at most.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one attempt at most.")] = 600.0,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again what failed before.")
    ] = False,
    reading_order: Annotated[
        bool, typer.Option(help="Put an OCR engine's lines into reading order.")
    ] = True,
) -> None:
    """Ask models the items of a dataset. Stop it as you like: it goes on where it stood.

    Responses are stored as they come, in OUT/responses. The same command again asks only what has
    no response yet.
    """
    from keju.models import Decoding, ModelOptions
    from keju.reporting.terminal import run_table
    from keju.running import Policy, Selection
    from keju.running import run as ask

    summary = ask(
        dataset,
        model,
        folder,
        selection=Selection(
            tasks=tuple(task) if task else None,
            limit=limit,
            sample=sample,
            seed=seed,
            setting=setting,
            rounds=rounds,
        ),
        options=ModelOptions(
            base_url=base_url,
            api_key_env=api_key_env,
            decoding=Decoding(
                temperature=temperature, top_p=top_p, top_k=top_k, max_tokens=max_tokens
            ),
            timeout=timeout,
            seed=seed,
            reading_order=reading_order,
        ),
        policy=Policy(concurrency=concurrency, retry_failed=retry_failed, timeout=timeout),
        console=err,
    )
    out.print(run_table(summary))
    if not summary.complete:
        say(f"{summary.failures} failed, {summary.left} without a response. {summary.advice}")
        raise typer.Exit(WITH_FAILURES)
    say(f"Next: keju score {folder} && keju report {folder} -o report.html")


ProtocolName = Annotated[
    Literal["official", "strict", "both"],
    typer.Option(help="The authors' reading, the sound one, or both."),
]


@app.command()
def score(
    what: Annotated[
        Path, typer.Argument(metavar="RUN|RESPONSES.json", help="A run, or the authors' form.")
    ],
    protocol: ProtocolName = "both",
    json_out: Annotated[
        Path | None, typer.Option("--json", metavar="OUT.json", help="Write every number here.")
    ] = None,
    semantic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR",
            help="Weights of an encoder: chinese-bert-wwm, bert-base-chinese, roberta-large or "
            "minilm; a bare DIR serves all of them. Without weights those metrics are unscored.",
        ),
    ] = None,
) -> None:
    """Score responses, as often as you like: no model, key or network is needed.

    RESPONSES.json is the MCS-Bench authors' form: a list of objects with ID, Task_ID,
    Answer_Simplified and Response. The scores of a run are kept in RUN/scores.
    """
    from keju.encoders import Encoders, default_cache_path, parse_semantic
    from keju.files import write_json
    from keju.reporting.terminal import scores_table
    from keju.runs import RunFolder
    from keju.scoring import PROTOCOLS, aggregate, models_of, score_responses, score_run, to_json

    protocols: tuple[Protocol, ...] = PROTOCOLS if protocol == "both" else (protocol,)
    encoders = Encoders(parse_semantic(semantic or []), default_cache_path())
    if what.is_dir():
        scores = score_run(RunFolder.open(what), protocols, encoders)
    else:
        scores = score_responses(what, protocols, encoders)
    if json_out is not None:
        write_json(json_out, to_json(scores))
    out.print(scores_table(aggregate(scores), models_of(scores)))
    failed = len({each.key or each.item for each in scores if each.status == "failed"})
    if failed:
        say(f"{failed} responses are failures; they count at each metric's worst value")
    if json_out is not None:
        say(f"Every number: {json_out}")


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="One or several runs.")],
    page: Annotated[Path, typer.Option("-o", "--out", help="The HTML file.")] = (
        Path("report.html")
    ),
    csv: Annotated[
        Path | None, typer.Option(help="Also write the scores as CSV files into this folder.")
    ] = None,
    pictures: Annotated[float, typer.Option(help="Megabytes of pictures at most.")] = 24.0,
) -> None:
    """Write the report: one HTML file with tables, and every item with picture and difference."""
    from keju.reporting import write_csv, write_report

    gathered = write_report(runs, page, picture_bytes=round(pictures * 1e6))
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB")
    if csv is not None:
        for path in write_csv(gathered, csv):
            say(str(path))

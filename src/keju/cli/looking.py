"""Informational commands: the demo, the tasks, the models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keju.cli.app import app, note, out, print_json, say
from keju.cli.options import AsJson, out_option
from keju.texts import _


@app.command()
def demo(
    folder: Annotated[
        Path,
        out_option(metavar="DIR", help="Directory for the run and its report."),
    ] = (Path("demo-run")),
) -> None:
    """Run the whole pipeline on the bundled set: OCR and baselines, scores, a report. Offline."""
    from keju.cli.demo import demonstrate

    demonstrate(folder, out)


@app.command()
def tasks(
    prompts: Annotated[
        bool,
        typer.Option("--prompts", help="Also print the prompt of every task and question form."),
    ] = False,
    published: Annotated[
        bool,
        typer.Option(
            "--published", help="List the papers' sources and licences of their tasks instead."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List all tasks and how each is scored: published ones, own pages, and your own benchmarks."""
    from keju.cli.output.listings import tasks_tables
    from keju.cli.output.paper_models import sources_tables
    from keju.definitions import register_all_installed
    from keju.definitions import tasks as all_tasks
    from keju.published import task_sources

    register_all_installed()
    if published:
        if as_json:
            print_json(task_sources())
        else:
            out.print(*sources_tables(task_sources()))
    elif as_json:
        print_json([task.row for task in all_tasks()])
    elif prompts:
        for task in all_tasks():
            for query in task.queries:
                say(f"{task.id}{query.name and '/'}{query.name}  {task.name_zh} {task.name_en}")
                for line in query.template.splitlines():
                    say(f"    {line}")
    else:
        out.print(*tasks_tables(all_tasks()))
        say(_("official, strict: the main metric of each protocol; --json lists all metrics"))


@app.command()
def metrics(
    as_json: AsJson = False,
) -> None:
    """List all metrics of keju and of plug-ins, with what each measures."""
    from keju.cli.output.listings import metrics_table
    from keju.scoring import metric_row
    from keju.scoring import metrics as all_metrics
    from keju.scoring.own_metrics import broken_plugins

    if as_json:
        print_json([metric_row(metric) for metric in all_metrics()])
    else:
        out.print(metrics_table(all_metrics()))
        note(*broken_plugins())
        say(_("↓: lower is better; --json also contains the preparation of texts and the source"))


@app.command()
def models(
    published: Annotated[
        bool, typer.Option("--published", help="List the models of the papers instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the kinds of model, how each is written, and whether it can be used on this machine."""
    from keju.cli.output.listings import models_table
    from keju.cli.output.paper_models import published_models_tables
    from keju.models import model_kinds
    from keju.published import published_models

    if published:
        if as_json:
            print_json(published_models())
        else:
            out.print(*published_models_tables(published_models()))
    elif as_json:
        print_json([kind.row for kind in model_kinds()])
    else:
        out.print(models_table(model_kinds()))

"""The demo: run, score and report on the bundled dataset, offline and without a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from keju.analysis.labels import higher_is_better, metric_label
from keju.cli.output.console import name_columns, plain_table, translate
from keju.console import Console
from keju.datasets import mini
from keju.definitions import paper_tasks, tasks
from keju.formatting import NOTHING, percent
from keju.models import model_kinds, role_of
from keju.reporting.csv_export import write_csv
from keju.reporting.page import write_report
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import Result, aggregate, score_run
from keju.text import conversion_missing
from keju.texts import _, language, n_

ENGINE = "ppocr"
CHANCE = "baseline:chance"
FLOORS = (
    "baseline:majority",
    "baseline:copy",
    "baseline:components",
    "baseline:hog",
    "baseline:edges",
)
MODELS = (ENGINE, CHANCE, *FLOORS)


class Row(NamedTuple):
    """The row of the demo for one task, or one of its queries, in `strict`.

    `metric` is the first of the task's metrics that can be computed here; `floor` is the best of
    the baselines except chance, and `by` its name. Values are fractions; None where there is no
    answer.
    """

    task: str
    query: str
    metric: str
    engine: float | None
    floor: float | None
    by: str
    chance: float | None


def demonstrate(folder: Path, console: Console) -> Path:
    """Run the OCR engine and the baselines on the bundled set, score and report.

    Args:
        folder: the run directory; an interrupted demo resumes.
        console: prints progress and the summary.

    Returns:
        The path of the report.

    Raises:
        UsageError: `folder` contains something else.
        PrerequisiteError: the OCR engine is not installed.
    """
    dataset = mini.path()
    console.print(
        _(
            "The bundled set is synthetic. Use its scores to check that the pipeline works, not to "
            "compare engines."
        ),
        highlight=False,
    )
    summary = run(dataset, MODELS, folder, console=console)
    if not any(model.asked for model in summary.models):
        console.print(_("All responses exist already. Delete {} to run the models again.", folder))
    scores = score_run(RunFolder.open(folder))
    report = folder / "report.html"
    run_set = write_report([folder], report, title="keju demo", language=language())
    write_csv(run_set, folder / "csv")
    rows = list(table_rows(aggregate(scores)))
    console.print(_table(rows))
    for line in _notes(rows):
        console.print(line, highlight=False, markup=False)
    line = n_("{n:,} item · report: {}", "{n:,} items · report: {}", summary.items, report)
    console.print(line, highlight=False, soft_wrap=True)
    return report


def table_rows(results: Sequence[Result]) -> Iterator[Row]:
    """A row for each task and query that has answers and is scored here in `strict`."""
    values: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for result in results:
        if result.protocol == "strict":
            for scored in result.tasks:
                by_metric = values.setdefault((scored.task, scored.query), {})
                for each in scored.metrics:
                    if each.value is not None:
                        by_metric.setdefault(each.metric, {})[result.model] = each.value
    for task in tasks():
        for query in task.queries:
            known = values.get((task.id, query.name), {})
            metric = next((name for name in query.strict if known.get(name)), "")
            if metric:
                yield _row(task.id, query.name, metric, known[metric])


def _row(task: str, query: str, metric: str, found: dict[str, float]) -> Row:
    # Of equal ones the floor made for the task, which is later in the list.
    floors = {name: found[name] for name in reversed(FLOORS) if name in found}
    best = max if higher_is_better(task, query, "strict", metric) else min
    by = best(floors, key=lambda name: floors[name]) if floors else ""
    return Row(
        task, query, metric, found.get(ENGINE), floors.get(by), by.partition(":")[2],
        found.get(CHANCE),
    )  # fmt: skip


def _table(rows: Sequence[Row]) -> Table:
    task, metric, engine, floor, chance = name_columns(
        "task", "strict metric, %", "engine", "floor\nbest baseline", "chance\nrandom answers"
    )
    heads = (f"{engine}\n{ENGINE}", floor, "", chance)
    table = plain_table(task, metric, *heads, right=(2, 3, 5))
    names = {task.id: task.name_zh for task in tasks()}
    last = ""
    for row in rows:
        name = f"{row.task} {names[row.task]}"
        query = f" {row.query}" if row.query else ""
        table.add_row(
            f"{name}{query}" if name != last else f"{' ' * len(row.task)}{query}",
            metric_label(row.task, row.query, "strict", row.metric),
            percent(row.engine),
            percent(row.floor),
            row.by or NOTHING,
            percent(row.chance),
        )
        last = name
    return table


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    """Notes on the models, and on the terms of the table."""
    kinds = {kind.spelling: kind.what for kind in model_kinds()}
    answered = {row.task for row in rows}
    read = [row.task for row in rows if row.engine is not None]
    yield _(
        "{:,} of {} tasks are answered and scored. The engine answers {} of them ({}). All other "
        "answers come from baselines, which are simple rules and not models. A vision-language "
        "model answers all tasks: keju run --help",
        len(answered),
        len(paper_tasks()),
        len(read),
        ", ".join(read)
    )  # fmt: skip
    later = {row.task for row in rows if row.metric != _main_metric(row)}
    if later:
        yield n_(
            "{n:,} task shows the second metric, because the first one needs an encoder: pip "
            'install "keju[semantic]", and its weights (keju weights lists them)',
            "{n:,} tasks show the second metric, because the first one needs an encoder: pip "
            'install "keju[semantic]", and its weights (keju weights lists them)',
            len(later),
        )
    if missing := conversion_missing():
        yield _("Official scores that need the conversion of scripts are missing. {}", missing)
    yield _(
        "Under official, baseline:copy gets full marks for letters because it repeats all "
        "options: an official score can be high without an answer."
    )
    for name in MODELS:
        role, what = translate(role_of(name) or ""), translate(kinds[name])
        yield _("{} ({}): {}", name, role, what)


def _main_metric(row: Row) -> str:
    query = next(
        query
        for task in tasks()
        for query in task.queries
        if (task.id, query.name) == (row.task, row.query)
    )
    return query.strict[0]

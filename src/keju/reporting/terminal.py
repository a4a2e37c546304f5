"""What the command line prints: tables for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import polars as pl
from rich import box
from rich.table import Table

from keju.benchmarks import Task
from keju.models import ModelKind
from keju.running import Plan, RunSummary


def print_json(value: object) -> None:
    """Print `value` as indented JSON on standard output."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def plain_table(*columns: str, right: Iterable[int] = (), title: str | None = None) -> Table:
    """An empty table in the house's style; the columns numbered in `right` align right."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    numeric = set(right)
    for index, column in enumerate(columns):
        table.add_column(
            column,
            justify="right" if index in numeric else "left",
            overflow="fold",
            no_wrap=index == 0 or index in numeric,
        )
    return table


def tasks_tables(tasks: Sequence[Task]) -> Iterator[Table]:
    """The catalogue of tasks, one table a benchmark."""
    for benchmark in dict.fromkeys(task.benchmark for task in tasks):
        table = plain_table(
            "id", "task", "domain", "asks for", "official", "strict", "count",
            right=[6], title=benchmark,
        )  # fmt: skip
        for task in tasks:
            if task.benchmark == benchmark:
                table.add_row(
                    task.id,
                    f"{task.name_zh} {task.name_en}",
                    task.domain,
                    ", ".join(dict.fromkeys(query.form for query in task.queries)),
                    ", ".join(
                        dict.fromkeys(m for query in task.queries for m in query.official[:1])
                    ),
                    ", ".join(dict.fromkeys(m for query in task.queries for m in query.strict[:1])),
                    f"{task.count:,}",
                )
        yield table


def models_table(kinds: Iterable[ModelKind]) -> Table:
    """The kinds of model, and whether each can answer on this machine."""
    table = plain_table("spelled", "what it is", "here")
    for kind in kinds:
        ready = "[green]ready[/green]" if not kind.missing else f"needs: {kind.missing}"
        table.add_row(kind.spelling, kind.what, ready)
    return table


def plan_table(plan: Plan) -> Table:
    """What a run would take, one row a model and task."""
    table = plain_table(
        "model", "task", "calls", "images", "image MB", "MB sent", "not asked", right=[2, 3, 4, 5]
    )
    for row in plan.rows:
        declined = "; ".join(f"{count}: {why}" for why, count in row.declined.items())
        table.add_row(
            row.model,
            row.task,
            f"{row.calls:,}",
            f"{row.images:,}",
            f"{row.image_bytes / 1e6:.1f}",
            f"{row.wire_bytes / 1e6:.1f}",
            declined,
        )
    table.add_section()
    table.add_row("all", "", f"{plan.calls:,}", "", "", f"{plan.wire_bytes / 1e6:.1f}", "")
    return table


def run_table(summary: RunSummary) -> Table:
    """How each model fared in a run."""
    table = plain_table(
        "model", "responses", "asked now", "without an answer", "not asked", right=[1, 2]
    )
    for model in summary.models:
        bad = [f"{n} {status}" for status, n in model.statuses.items() if status != "answered"]
        bad += [f"{n}× {kind}" for kind, n in model.failures.items()]
        declined = "; ".join(f"{count}: {why}" for why, count in model.not_asked.items())
        table.add_row(
            model.model,
            f"{sum(model.statuses.values()):,} of {model.planned:,}",
            f"{model.asked:,}",
            ", ".join(bad) or "none",
            declined,
        )
    return table


def frame_table(frame: pl.DataFrame, *, title: str) -> Table:
    """A data frame as it is; numbers align right, and are rounded to two places."""
    numeric = [place for place, kind in enumerate(frame.dtypes) if kind.is_numeric()]
    table = plain_table(*frame.columns, right=numeric, title=title)
    for row in frame.iter_rows():
        table.add_row(*(_cell(value) for value in row))
    return table


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value}"

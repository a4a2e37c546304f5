"""What the command line prints: tables for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import msgspec
from rich import box
from rich.table import Table

from keju.benchmarks import Task, task_row
from keju.models import ModelKind


def print_json(value: object) -> None:
    """Print `value` as indented JSON on standard output."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def plain_table(*columns: str, right: Iterable[int] = (), title: str | None = None) -> Table:
    """An empty table in the house's style; the columns numbered in `right` align right."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    numeric = set(right)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index in numeric else "left", overflow="fold")
    return table


def tasks_table(tasks: Iterable[Task]) -> Table:
    """The catalogue of tasks, one row each."""
    table = plain_table(
        "id", "name", "", "domain", "asks for", "official", "strict", "count", right=[7]
    )
    benchmark = ""
    for task in tasks:
        if task.benchmark != benchmark:
            if benchmark:
                table.add_section()
            benchmark = task.benchmark
            table.add_row(f"[b]{benchmark}[/b]")
        metrics = task_row(task)["metrics"]
        table.add_row(
            task.id,
            task.name_zh,
            task.name_en,
            task.domain,
            ", ".join(dict.fromkeys(query.form for query in task.queries)),
            " ".join(metrics["official"]),
            " ".join(metrics["strict"]),
            f"{task.count:,}",
        )
    return table


def models_table(kinds: Iterable[ModelKind]) -> Table:
    """The kinds of model, and whether each can answer on this machine."""
    table = plain_table("spelled", "what it is", "here")
    for kind in kinds:
        ready = "[green]ready[/green]" if not kind.missing else f"needs: {kind.missing}"
        table.add_row(kind.spelling, kind.what, ready)
    return table

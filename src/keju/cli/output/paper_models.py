"""Terminal output about the papers: their models, the sources of tasks, recomputed means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from keju.cli.output.console import name_columns, plain_table, translate
from keju.published import PublishedModel, Rebuilt, TaskSources, paper
from keju.texts import language


def published_models_tables(models: Sequence[PublishedModel]) -> Iterator[Table]:
    """The models of each paper, as named in its tables of results, and its own table of models."""
    for benchmark in dict.fromkeys(each.benchmark for each in models):
        table = plain_table(
            *name_columns("model", "vendor", "kind", "10^9 parameters", "role", "also printed as"),
            right=[3], title=benchmark,
        )  # fmt: skip
        for each in models:
            if each.benchmark == benchmark:
                size = "" if each.size_b is None else f"{each.size_b:g}"
                table.add_row(
                    each.name, each.vendor, each.kind, size, each.role, each.also_printed_as
                )
        yield table
        if paper(benchmark).models_table:
            yield _details_table(benchmark, models)


def _details_table(benchmark: str, models: Sequence[PublishedModel]) -> Table:
    described = [each for each in models if each.benchmark == benchmark and each.details]
    columns = list(described[0].details)
    title = f"{benchmark}, {paper(benchmark).models_table}"
    table = plain_table(*name_columns("model"), *columns, right=[], title=title)
    for each in described:
        table.add_row(each.name, *(each.details[column] for column in columns))
    return table


def sources_tables(sources: Sequence[TaskSources]) -> Iterator[Table]:
    """The sources of each paper's tasks and their licences, as its table prints them."""
    for benchmark in dict.fromkeys(each.benchmark for each in sources):
        of = paper(benchmark)
        title = f"{benchmark}, {of.sources_table}"
        table = plain_table(*name_columns("task", "method", "source", "licence"), title=title)
        table.caption = of.methods_zh if language() == "zh" else of.methods
        table.caption_justify = "left"
        for each in sources:
            if each.benchmark == benchmark:
                links, licences = "\n".join(each.links), "\n".join(each.licences)
                table.add_row(each.task, each.method, links, licences)
        yield table


def rebuilt_table(title: str, cells: Sequence[Rebuilt]) -> Table:
    """The differences of the printed means of a paper from means over its printed tasks."""
    table = plain_table(
        *name_columns("table", "column", "cells", "within .01", "furthest apart"),
        right=[2, 3, 4], title=translate(title),
    )  # fmt: skip
    for place in dict.fromkeys((each.table, each.column) for each in cells):
        of_place = [each for each in cells if (each.table, each.column) == place]
        furthest = max(abs(each.printed - each.rebuilt) for each in of_place)
        within = sum(each.holds for each in of_place)
        table.add_row(*place, f"{len(of_place)}", f"{within}", f"{furthest:.4f}")
    return table

"""Terminal output about the papers: their models, the sources of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from keju.cli.output.console import name_columns, plain_table
from keju.published import PublishedModel, TaskSources, paper
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

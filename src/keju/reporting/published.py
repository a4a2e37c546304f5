"""What the command line prints of the three papers: their models, and the audit of their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from keju.published import PublishedModel
from keju.reporting.terminal import plain_table


def published_models_tables(models: Sequence[PublishedModel]) -> Iterator[Table]:
    """The models of each paper, as its tables name them, one table a paper."""
    for benchmark in dict.fromkeys(each.benchmark for each in models):
        of_paper = [each for each in models if each.benchmark == benchmark]
        table = plain_table(
            "model", "vendor", "kind", "10^9 parameters", "role", "also printed as",
            right=[3], title=benchmark,
        )  # fmt: skip
        for each in of_paper:
            size = "" if each.size_b is None else f"{each.size_b:g}"
            table.add_row(each.name, each.vendor, each.kind, size, each.role, each.also_printed_as)
        yield table

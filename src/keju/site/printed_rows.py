"""The results that a paper prints, for boards and pages of tasks, marked as printed."""

from __future__ import annotations

from typing import NamedTuple

from keju.published import (
    PublishedModel,
    papers,
    published_models,
    published_tables,
    published_values,
)
from keju.published.tables import Column
from keju.published.values import PublishedValue
from keju.site.addresses import stable_id
from keju.site.model_facts import ModelFacts

_OVERALL, _MEAN = "OverAll", "mean"


class PrintedRow(NamedTuple):
    """A model of a paper's table of means: the overall mean and the domains', as fractions."""

    model: PublishedModel
    table: str
    overall: float | None
    domains: dict[str, float]

    @property
    def id(self) -> str:
        """The id of the row, which no bundle's entry has."""
        return f"printed-{stable_id(self.model.benchmark, self.model.name)}"

    @property
    def facts(self) -> ModelFacts:
        """The vendor and the size that the paper states."""
        return ModelFacts(vendor=self.model.vendor, size_b=self.model.size_b)


def printed_rows(benchmark: str) -> list[PrintedRow]:
    """The rows of the table that prints the benchmark's overall mean; none without one."""
    if benchmark not in papers():
        return []
    for name, table in published_tables(benchmark).items():
        means = {column.task: column for column in table.columns.values() if column.metric == _MEAN}
        if _OVERALL in means:
            rows = [
                PrintedRow(
                    model,
                    name,
                    _value(means[_OVERALL], model.name),
                    {
                        domain: value
                        for domain, column in means.items()
                        if (value := _value(column, model.name)) is not None
                    },
                )
                for model in published_models(benchmark)
                if model.name in table.rows and model.role != "judge"
            ]
            return sorted(rows, key=lambda row: (-(row.overall or 0), row.model.name))
    return []


def printed_values(benchmark: str, task: str, query: str) -> list[PublishedValue]:
    """The values that a paper prints of a task, in the order of its tables."""
    if benchmark not in papers():
        return []
    return [
        each
        for each in published_values(benchmark)
        if (each.task, each.query) == (task, query) and each.model.role != "judge"
    ]


def _value(column: Column, row: str) -> float | None:
    value = column.values.get(row)
    return None if value is None else value / column.how.scale

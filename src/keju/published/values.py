"""The papers' results in keju's own terms, comparable with a run's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from keju.definitions import tasks
from keju.items import Record
from keju.published.models import PublishedModel, published_model
from keju.published.tables import Column, published_tables


class PublishedValue(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A paper's value for one model, one task and one metric.

    `task`, `query` and `metric` are the catalogue's (a metric of the protocol `official`, or one
    that only the paper has, such as GPT4oScore); `subset` is the part of the task's images that the
    column is of, or whose reading was given in place of the image, empty for all images. `value` is
    on the scale of a run's scores: percent divided by 100, points of 10 by 10. `half` is the
    maximum rounding error.
    """

    benchmark: str
    table: str
    model: PublishedModel
    task: str
    query: str
    subset: str
    metric: str
    value: float
    half: float


@cache
def published_values(benchmark: str) -> tuple[PublishedValue, ...]:
    """Every result that a paper prints of a task, in the order of its tables.

    Means over tasks are excluded, because they are computed from these. A value in two tables is
    included twice, under both.

    Raises:
        UsageError: the benchmark does not exist.
    """
    return tuple(
        value
        for table in published_tables(benchmark).values()
        for column in table.columns.values()
        for value in _values(column)
    )


def _values(column: Column) -> Iterator[PublishedValue]:
    if column.task not in {each.id for each in tasks()}:
        return
    scale = column.how.scale
    for row, value in column.values.items():
        if model := published_model(column.benchmark, row):
            yield PublishedValue(
                benchmark=column.benchmark,
                table=column.table,
                model=model,
                task=column.task,
                query=column.query,
                subset=column.subset,
                metric=column.metric,
                value=value / scale,
                half=column.half / scale,
            )

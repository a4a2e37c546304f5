"""`SideScores`: what a comparison needs of the scores of one side."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import polars as pl

from keju.definitions import has_task, task
from keju.items import Protocol
from keju.scoring.aggregate import Columns, part_columns

ERRORS = ("CER_recognition", "CER_layout")
"""The parts of the CER of a transcription, which are compared beside the main metric."""

ItemName = tuple[str, str, str]
"""Task, query and id of an item."""

_ITEM = ["task", "query", "item"]
PLACE = ["item", "round"]
"""The item and round that both sides must have answered."""


class SideScores:
    """The scores of one model in one prompt variant under one protocol, for a comparison.

    Args:
        protocol: whose main metrics are compared.
        scores: a table of scores, of all protocols.
        among: the items that are compared; None for all.

    Attributes:
        scores: those of main metrics, and under `strict` of `ERRORS`; of several of the same
            metric, item and round the last one.
        tasks: the tasks with scores of the protocol, compared or not.
        reasons: the reasons of scores without a value, of all protocols, compared or not.
        dropped: the items with scores that are not among those compared.
    """

    def __init__(
        self,
        protocol: Protocol,
        scores: pl.DataFrame,
        *,
        among: Collection[ItemName] | None = None,
    ) -> None:
        self.protocol = protocol
        own = scores.filter(pl.col("protocol") == protocol)
        self.tasks = set(own["task"].unique())
        self.reasons = set(scores.filter(pl.col("value").is_null())["reason"].unique())
        self.dropped: set[ItemName] = set()
        if among is not None:
            shared = _names(among, _ITEM)
            dropped = scores.join(shared, on=_ITEM, how="anti").select(_ITEM).unique()
            self.dropped = set(dropped.iter_rows())
            own = own.join(shared, on=_ITEM, how="semi", maintain_order="left")
        metrics = [
            (name, query, metric)
            for name, query in own.select("task", "query").unique().iter_rows()
            for metric in _compared_metrics(name, query, protocol)
        ]
        columns = ["task", "query", "metric"]
        own = own.join(_names(metrics, columns), on=columns, how="semi", maintain_order="left")
        self.scores = own.unique([*columns, *PLACE], keep="last", maintain_order=True)

    def of(self, task: str, query: str, metric: str) -> pl.DataFrame:
        """The scores of a metric, with a value and without."""
        return self.scores.filter(
            pl.col("task") == task, pl.col("query") == query, pl.col("metric") == metric
        )

    def items_of(self, benchmark: str) -> set[ItemName]:
        """The compared items of a benchmark, with a value and without."""
        names = self.scores.select(_ITEM).unique().iter_rows()
        return {name for name in names if task(name[0]).benchmark == benchmark}

    def count_dropped(self, benchmark: str) -> int:
        """The number of a benchmark's items with scores that are not among those compared."""
        return sum(
            has_task(name) and task(name).benchmark == benchmark for name, _, _ in self.dropped
        )


class SharedScores(NamedTuple):
    """The statistics of the items and rounds with a value on both sides, in the same order.

    `groups` are the units of independence of the first side. The parts `if_right` have unclear
    answers as right, `unclear` counts these answers, and `signatures` are the first of each side.
    """

    items: int
    groups: list[str]
    first: Columns
    second: Columns
    first_if_right: Columns
    second_if_right: Columns
    unclear: tuple[int, int]
    signatures: tuple[str, str]


def select_shared(one: pl.DataFrame, other: pl.DataFrame) -> SharedScores | None:
    """The scores of the items and rounds with a value on both sides; None without such."""
    one, other = (side.filter(pl.col("value").is_not_null()) for side in (one, other))
    places = one.join(other, on=PLACE, how="semi").select(PLACE).sort(PLACE)
    if places.is_empty():
        return None
    sides = [
        places.join(side, on=PLACE, how="left", maintain_order="left") for side in (one, other)
    ]
    parts = [part_columns(side) for side in sides]
    parts_if_right = [part_columns(side, if_right=True) for side in sides]
    unclear = [int((side["if_right"].list.len() > 0).sum()) for side in sides]
    return SharedScores(
        items=places["item"].n_unique(),
        groups=[group or item for group, item in sides[0].select("group", "item").iter_rows()],
        first=parts[0],
        second=parts[1],
        first_if_right=parts_if_right[0],
        second_if_right=parts_if_right[1],
        unclear=(unclear[0], unclear[1]),
        signatures=(one["signature"][0], other["signature"][0]),
    )


def _names(rows: Collection[tuple[str, ...]], columns: list[str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict.fromkeys(columns, pl.String), orient="row")


def _compared_metrics(task_id: str, query: str, protocol: Protocol) -> Collection[str]:
    """The main metric of a task (or one query of it), and under `strict` its `ERRORS`."""
    for each in task(task_id).queries if has_task(task_id) else ():
        if each.name == query:
            metrics = each.metrics(protocol)
            return {*metrics[:1], *(set(ERRORS) & set(metrics) if protocol == "strict" else ())}
    return ()

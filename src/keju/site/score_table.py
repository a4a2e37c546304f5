"""The scores of a bundle as a table for download, and as scores for the intervals of a board."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from keju.items import Protocol, Score
from keju.site.bundle_items import Place

SCHEMA = pl.Schema(
    {
        "entry": pl.String, "model": pl.String, "board": pl.String, "benchmark": pl.String,
        "task": pl.String, "query": pl.String, "item": pl.String, "group": pl.String,
        "round": pl.Int64, "status": pl.String, "verdict": pl.String, "protocol": pl.String,
        "metric": pl.String, "main": pl.Boolean, "value": pl.Float64, "reason": pl.String,
        "numerator": pl.Float64, "denominator": pl.Float64, "positive": pl.Float64,
        "signature": pl.String, "read_by": pl.String, "numerator_if_right": pl.Float64,
        "denominator_if_right": pl.Float64,
    }
)  # fmt: skip
"""The columns of scores.parquet; `value` is null where an answer is unscored."""

_ROWS = 16_384
_STATS = ("numerator", "denominator", "positive")
_IF_RIGHT = ("numerator_if_right", "denominator_if_right")
_OF_SCORE = (
    "item",
    "benchmark",
    "task",
    "query",
    "metric",
    "value",
    "group",
    "signature",
    "round",
    "read_by",
)


class ScoreTable:
    """The scores of a bundle, collected as frames."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []
        self._rows: list[tuple[object, ...]] = []

    def add(self, score: Score, entry: str, board: str, *, main: bool) -> None:
        """Add a score of an entry; `main` is whether its metric is the task's main one."""
        self._rows.append(
            (
                entry, score.model, board, score.benchmark, score.task, score.query, score.item,
                score.group, score.round, score.status, score.verdict, score.protocol,
                score.metric, main, score.value, score.reason,
                *(score.stats.get(name) for name in _STATS), score.signature, score.read_by,
                *(score.if_right.get(name) for name in _STATS[:2]),
            )
        )  # fmt: skip
        if len(self._rows) == _ROWS:
            self._pack()

    def encoded(self) -> bytes:
        """The table as a parquet file."""
        self._pack()
        stream = io.BytesIO()
        whole = pl.concat(self._frames)
        whole.write_parquet(stream, compression="zstd", row_group_size=_ROWS)
        return stream.getvalue()

    def _pack(self) -> None:
        self._frames.append(pl.DataFrame(self._rows, schema=SCHEMA, orient="row"))
        self._rows = []


class MainScores(Mapping[Place, list[Score]]):
    """The scores of main metrics of several bundles under one protocol.

    The numbers are in memory as columns; `Score` records are made for one task at a time.

    Args:
        paths: the tables of the bundles.
        board: the board's id.
        protocol: the protocol.
        places: the board's tasks and queries, in their order.
    """

    def __init__(
        self, paths: Sequence[Path], board: str, protocol: Protocol, places: Sequence[Place]
    ) -> None:
        wanted = (pl.col("board") == board) & pl.col("main") & (pl.col("protocol") == protocol)
        columns = ["entry", *_OF_SCORE, *_STATS, *_IF_RIGHT]
        self._protocol = protocol
        self._places = list(places)
        self._frames: dict[Place, list[pl.DataFrame]] = {}
        for path in paths:
            kept = pl.read_parquet(path).filter(wanted).select(columns)
            texts = [name for name in columns if SCHEMA[name] == pl.String]
            kept = kept.with_columns(pl.col(texts).cast(pl.Categorical))
            for place, frame in kept.partition_by("task", "query", as_dict=True).items():
                self._frames.setdefault((str(place[0]), str(place[1])), []).append(frame)

    def __getitem__(self, place: Place) -> list[Score]:
        if place not in self._places:
            raise KeyError(place)
        return [
            self._score(row)
            for frame in self._frames.get(place, ())
            for row in frame.iter_rows(named=True)
        ]

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _score(self, row: dict[str, Any]) -> Score:
        fields = {name: row[name] for name in _OF_SCORE}
        fields["stats"] = {name: row[name] for name in _STATS if row[name] is not None}
        if row[_IF_RIGHT[0]] is not None:
            right = {name: row[f"{name}_if_right"] for name in _STATS[:2]}
            fields["if_right"] = fields["stats"] | right
        return Score(key="", model=row["entry"], protocol=self._protocol, **fields)

"""The numbers of a board as files: CSV and JSON of its rows, CSV and parquet of its tasks."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from keju.csv_files import encode_frame
from keju.site.boards import Board, BoardRow, Mean
from keju.site.item_files import BOARDS
from keju.site.records import TaskValue
from keju.site.script_data import write_changed

_FACTS = {
    "entry": pl.String, "model": pl.String, "variant": pl.String, "label": pl.String,
    "role": pl.String, "vendor": pl.String, "size_b": pl.Float64, "run_date": pl.String,
    "bundle_sha256": pl.String,
}  # fmt: skip
_ROWS = pl.Schema(
    _FACTS
    | {
        "protocol": pl.String, "part": pl.String, "value": pl.Float64,
        "value_if_right": pl.Float64, "low": pl.Float64, "high": pl.Float64,
        "tasks": pl.Int64, "of_tasks": pl.Int64, "rank": pl.Int64,
        "rank_first": pl.Int64, "rank_last": pl.Int64, "missing_items": pl.Int64,
    }
)  # fmt: skip
_TASKS = pl.Schema(
    _FACTS
    | {
        "protocol": pl.String, "task": pl.String, "query": pl.String, "metric": pl.String,
        "main": pl.Boolean, "value": pl.Float64, "value_if_right": pl.Float64,
        "low": pl.Float64, "high": pl.Float64, "items": pl.Int64, "scored": pl.Int64,
        "signature": pl.String,
    }
)  # fmt: skip
OVERALL = "overall"


def write_downloads(out: Path, board: Board) -> None:
    """Write the numbers of a board; values are fractions, with their 95 % intervals."""
    folder = out / BOARDS / board.of.id
    rows = [each for row in board.rows for each in _rows(row)]
    about = {
        "benchmark": board.of.benchmark,
        "dataset": board.source.dataset,
        "dataset_version": board.source.dataset_version,
        "notes": list(board.notes["en"]),
        "rows": [dict(zip(_ROWS, row, strict=True)) for row in rows],
    }
    write_changed(folder / "leaderboard.json", msgspec.json.format(msgspec.json.encode(about)))
    frame = pl.DataFrame(rows, schema=_ROWS, orient="row")
    write_changed(folder / "leaderboard.csv", encode_frame(frame))
    tasks = pl.DataFrame(
        [each for row in board.rows for each in _tasks(row)], schema=_TASKS, orient="row"
    )
    write_changed(folder / "tasks.csv", encode_frame(tasks))
    stream = io.BytesIO()
    tasks.write_parquet(stream, compression="zstd")
    write_changed(folder / "tasks.parquet", stream.getvalue())


def _facts(row: BoardRow) -> tuple[Any, ...]:
    return (
        row.entry.id, row.entry.model, row.entry.variant, row.source.label, row.entry.role,
        row.facts.vendor, row.facts.size_b, row.source.date, row.source.sha256,
    )  # fmt: skip


def _rows(row: BoardRow) -> Iterator[tuple[Any, ...]]:
    about = _facts(row)
    for protocol, standing in row.standings.items():
        ranks = standing.ranks or (None, None)
        overall = _mean(standing.overall)
        yield (*about, protocol, OVERALL, *overall, standing.rank, *ranks, standing.missing_items)
        for domain, mean in standing.domains.items():
            yield (*about, protocol, domain, *_mean(mean), None, None, None, None)


def _mean(mean: Mean) -> tuple[Any, ...]:
    return (mean.value, _better_end(mean), *(mean.bounds or (None, None)), mean.tasks, mean.of)


def _better_end(value: Mean | TaskValue) -> float | None:
    return value.value if value.value_if_right is None else value.value_if_right


def _tasks(row: BoardRow) -> Iterator[tuple[Any, ...]]:
    about = _facts(row)
    for each in row.entry.values:
        yield (
            *about, each.protocol, each.task, each.query, each.metric, each.main, each.value,
            _better_end(each), *(each.bounds or (None, None)), each.items, each.scored,
            each.signature,
        )  # fmt: skip

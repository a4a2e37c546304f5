"""The scores of a report as CSV files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from keju.files import write_atomic
from keju.reporting.gather import Gathered
from keju.scoring import aggregate

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(gathered: Gathered, folder: Path) -> list[Path]:
    """Write ``items.csv`` (one row a score) and ``tasks.csv`` (one row a model, task and metric).

    Values are fractions. A text that a spreadsheet would take for a formula gets an apostrophe
    before it.
    """
    items = pl.DataFrame(
        [
            {
                "model": score.model,
                "benchmark": score.benchmark,
                "task": score.task,
                "query": score.query,
                "item": score.item,
                "group": score.group,
                "setting": score.setting,
                "round": score.round,
                "protocol": score.protocol,
                "metric": score.metric,
                "value": score.value,
                "status": score.status,
                "verdict": score.verdict,
                "reason": score.reason,
                "extracted": score.extracted,
                "signature": score.signature,
            }
            for score in gathered.scores
        ],
        infer_schema_length=None,
    )
    tasks = pl.DataFrame(
        [
            {
                "model": result.model,
                "setting": result.setting,
                "protocol": result.protocol,
                "task": each.task,
                "query": each.query,
                "metric": metric.metric,
                "main": place == 0,
                "value": metric.value,
                "without_failures": metric.without_failures,
                "items": metric.items,
                "scored": metric.scored,
                "signature": metric.signature,
            }
            for result in aggregate(gathered.scores)
            for each in result.tasks
            for place, metric in enumerate(each.metrics)
        ],
        infer_schema_length=None,
    )
    return [_write(items, folder / "items.csv"), _write(tasks, folder / "tasks.csv")]


def _write(frame: pl.DataFrame, path: Path) -> Path:
    texts = pl.col(pl.String)
    safe = frame.with_columns(
        pl.when(texts.str.slice(0, 1).is_in(list(_FORMULA)))
        .then(pl.lit("'") + texts)
        .otherwise(texts)
        .name.keep()
    )
    write_atomic(path, safe.write_csv())
    return path

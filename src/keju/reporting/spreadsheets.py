"""The scores of a report as CSV files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from keju.files import write_atomic
from keju.reporting.beside import BesideTable
from keju.reporting.labels import NOTHING
from keju.reporting.latex import slug
from keju.reporting.page import Report

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write ``items.csv`` (one row a score), ``tasks.csv`` (one row a model, task and metric).

    Beside them a file for each table in a paper's form, in the paper's units. In the first two
    values are fractions. A text that a spreadsheet would take for a formula gets an apostrophe
    before it.
    """
    gathered = report.gathered
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
            for result in gathered.results.values()
            for each in result.tasks
            for place, metric in enumerate(each.metrics)
        ],
        infer_schema_length=None,
    )
    frames = {"items": items, "tasks": tasks}
    for table in report.beside:
        frames[f"{slug(table.benchmark)}-{slug(table.name)}"] = _beside(table)
    return [_write(frame, folder / f"{name}.csv") for name, frame in frames.items()]


def _beside(table: BesideTable) -> pl.DataFrame:
    """A row a model, its source in the second column; the columns bear the data's names.

    A mean that lacks tasks of its column is left out, as nothing beside it could say so.
    """
    names = [heading.name for heading in table.headings]
    rows = [
        {
            "model": row.model,
            "source": row.source,
            **{
                name: "" if cell.value == NOTHING or cell.note else cell.value
                for name, cell in zip(names, row.cells, strict=True)
            },
        }
        for row in table.rows
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(["model", "source", *names], pl.String))


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

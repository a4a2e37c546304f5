"""`Summary`: the values, counts and reasons of one model's scores, without the scores."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from msgspec import field
from msgspec.structs import replace

from keju.items import Record
from keju.scoring.aggregate import aggregate_frames
from keju.scoring.export import encode_json, json_by_model
from keju.scoring.results import Result
from keju.scoring.run import ModelScores


class UnscoredReason(Record, frozen=True, kw_only=True):
    """A reason why scores have no value: of which metrics, how many responses, and the first."""

    reason: str
    metrics: tuple[str, ...]
    responses: int
    task: str
    item: str


class Summary(Record, frozen=True, kw_only=True):
    """One model's scores, summed up.

    `failed` counts responses that are failures, `strays` by file those whose item the run does not
    have. `json` is its part of ``keju score --json``, by name, where that was asked for.
    """

    model: str
    results: tuple[Result, ...]
    unscored: tuple[UnscoredReason, ...]
    failed: int
    strays: dict[str, int] = field(default_factory=dict)
    json: dict[str, bytes] = field(default_factory=dict)


def summarise(scored: ModelScores) -> Summary:
    """Sum up one model's scores."""
    rows = pl.concat(map(_without_value, scored.frames()))
    # Of `with-reasoning` the same metrics have no value, for the same reasons.
    unscored = rows.filter(pl.col("reason") != "", pl.col("protocol") != "with-reasoning")
    return Summary(
        model=scored.model,
        results=tuple(aggregate_frames(scored.frames())),
        unscored=tuple(
            UnscoredReason(
                reason=reason,
                metrics=tuple(group["metric"].unique(maintain_order=True)),
                responses=group["keys"].explode().n_unique(),
                **group.select("task", "item").sort("task", "item").row(0, named=True),
            )
            for (reason,), group in unscored.group_by("reason", maintain_order=True)
        ),
        failed=rows.filter("is_failed")["keys"].explode().n_unique(),
        strays=scored.strays,
    )


def _without_value(frame: pl.DataFrame) -> pl.DataFrame:
    """The failures and the scores without a value, counted: of a million items, few rows.

    `keys` are hashes of the keys of the responses, `task` and `item` name the first item.
    """
    by = ["reason", "metric", "protocol", "is_failed"]
    is_failed = (pl.col("status") == "failed").alias("is_failed")
    rows = frame.with_columns(is_failed).filter(pl.col("is_failed") | pl.col("value").is_null())
    return rows.group_by(by, maintain_order=True).agg(
        pl.col("key").hash().alias("keys"), pl.col("task", "item").sort_by("task", "item").first()
    )


def summarise_with_json(scored: ModelScores) -> Summary:
    """Sum up one model's scores, and keep every number as JSON."""
    summary = summarise(scored)
    return replace(summary, json=encode_json(json_by_model(scored.frames(), summary.results)))


def merge_unscored(parts: Iterable[UnscoredReason]) -> list[UnscoredReason]:
    """The reasons of several models together."""
    groups: dict[str, list[UnscoredReason]] = {}
    for part in parts:
        groups.setdefault(part.reason, []).append(part)
    return [
        replace(
            group[0],
            metrics=tuple(dict.fromkeys(name for part in group for name in part.metrics)),
            responses=sum(part.responses for part in group),
        )
        for group in groups.values()
    ]

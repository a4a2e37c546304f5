"""`Leaderboard`: the models of a run in order, with intervals and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from keju.analysis import leaderboard as boards
from keju.analysis.intervals import task_intervals
from keju.analysis.marks import printed
from keju.analysis.run_set import PEOPLE, RunSet, load_runs
from keju.definitions import task
from keju.errors import PrerequisiteError, number_of
from keju.items import Score
from keju.notebook import block, table
from keju.runs import RunFolder
from keju.scoring import BenchmarkResult

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The models of a run, best first within each benchmark, protocol and role.

    The numbers are those of the report. All values are fractions. `value_if_right` is `value` if
    every unclear answer were right; a rank that they decide is null. `low` and `high` are the 95 %
    interval by group (book, plate, bone); they are null where there are too few groups, and `notes`
    then states how many are needed. Models with equal values in percent with one decimal share a
    rank.

    `overall` has a row for each model, benchmark and protocol: its mean over the domains, its rank
    and the ranks that are possible after all pairwise tests (`rank_low`, `rank_high`); `role` is
    ``model``, ``engine``, ``answers`` (of other programs), ``human`` or ``baseline``, and only the
    first three are ranked. `missing` names the tasks without a value; the mean rests on `tasks`
    tasks and `items` items, and lacks `missing_items` of the items of the ranked models. A model
    that lacks any has no rank. Rows of one role with other tasks or items follow each other in
    groups, since only means over the same items can be compared. `domains` has a row for each
    domain with a value, `tasks` one for each task with the value of its main metric.
    """

    overall: pl.DataFrame
    domains: pl.DataFrame
    tasks: pl.DataFrame
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        models = number_of(self.overall["model"].n_unique(), "model")
        return f"Leaderboard({models}, {number_of(self.tasks['task'].n_unique(), 'task')})"

    def _repr_html_(self) -> str:
        heads = ("benchmark", "protocol", "model", "value", "95 % interval", "rank", "possible",
                 "tasks", "items")  # fmt: skip
        rows = [
            (
                row["benchmark"], row["protocol"], row["model"], row["value"],
                _span(row["low"], row["high"], ".3f"),
                row["rank"] or row["role"],
                _span(row["rank_low"], row["rank_high"], "d"),
                row["tasks"], row["items"],
            )
            for row in self.overall.iter_rows(named=True)
        ]  # fmt: skip
        return block("Leaderboard: means over domains", table(heads, rows), *self.notes)

    def to_frame(self) -> pl.DataFrame:
        """The table `overall`, in polars."""
        return self.overall

    def to_pandas(self) -> pd.DataFrame:
        """The table `overall`, in pandas.

        Raises:
            PrerequisiteError: pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - only here, and not among the dependencies
        except ImportError:
            raise PrerequisiteError("to_pandas()", "pip install pandas") from None
        return pd.DataFrame(self.overall.to_dict(as_series=False))


def _span(low: float | None, high: float | None, form: str) -> str | None:
    return None if low is None or high is None else f"{low:{form}} to {high:{form}}"


def leaderboard_of(run: RunFolder, scores: Sequence[Score]) -> Leaderboard:
    """The leaderboard of a run with these scores.

    Raises:
        DataError: a file of the run is damaged.
        UsageError: the run has a response without a score.
    """
    run_set = load_runs([run.path], scores=scores)
    found = boards.leaderboards(run_set, run_set.results)
    return Leaderboard(
        overall=pl.DataFrame(_overall_rows(run_set, found), schema=_OVERALL),
        domains=pl.DataFrame(_domain_rows(run_set, found), schema=_DOMAINS),
        tasks=pl.DataFrame(_task_rows(run_set), schema=_TASKS),
        notes=tuple(dict.fromkeys(note for each in found for note in each.notes)),
    )


_Types = dict[str, type[pl.DataType] | pl.DataType]
_VALUE: _Types = dict.fromkeys(("value", "value_if_right", "low", "high"), pl.Float64)
_WHO: _Types = dict.fromkeys(("protocol", "role", "model"), pl.String)
_RANKS: _Types = dict.fromkeys(("rank", "rank_low", "rank_high"), pl.Int64)
_BASIS: _Types = dict.fromkeys(("tasks", "items", "missing_items"), pl.Int64)
_OVERALL = pl.Schema(
    {"benchmark": pl.String, **_WHO, **_VALUE, **_RANKS, **_BASIS, "missing": pl.List(pl.String)}
)
_DOMAINS = pl.Schema({"benchmark": pl.String, "domain": pl.String, **_WHO, **_VALUE})
_PLACE: _Types = dict.fromkeys(("benchmark", "task", "query", "metric"), pl.String)
_COUNTS: _Types = {"without_failures": pl.Float64, "items": pl.Int64, "scored": pl.Int64}
_TASKS = pl.Schema({**_PLACE, **_WHO, **_VALUE, **_COUNTS})


def _overall_rows(
    run_set: RunSet, found: Sequence[boards.Leaderboard]
) -> Iterator[dict[str, object]]:
    """By benchmark, protocol and role; there the best first."""
    for board in found:
        for protocol, resampled in board.resampled.items():
            for group in board.groups:
                models = [row.model for row in group.rows if (row.model, protocol) in board.results]
                models.sort(key=lambda model: (-_value(board.results[model, protocol]), model))
                for model in models:
                    result = board.results[model, protocol]
                    rank, span = resampled.ranks.get(model, (None, None))
                    means = result.domains.values()
                    yield {
                        "benchmark": board.benchmark,
                        "value": result.overall.value,
                        "value_if_right": result.overall.value_if_right,
                        "missing": [name for mean in means for name in mean.missing],
                        "rank": rank,
                        "rank_low": span and span[0],
                        "rank_high": span and span[1],
                        "tasks": len(resampled.bases[model].digests),
                        "items": resampled.bases[model].items,
                        "missing_items": resampled.missing[model],
                        **_who(run_set, model, protocol),
                        **_bounds(resampled.overall.get(model)),
                    }


def _value(result: BenchmarkResult) -> float:
    """The overall value as it is printed; below all others where there is none."""
    return -1.0 if result.overall.value is None else printed(result.overall.value)


def _domain_rows(
    run_set: RunSet, found: Sequence[boards.Leaderboard]
) -> Iterator[dict[str, object]]:
    for board in found:
        for (model, protocol), result in board.results.items():
            known = {name: mean for name, mean in result.domains.items() if mean.value is not None}
            for domain, mean in known.items():
                bounds = board.resampled[protocol].domains.get((model, domain))
                yield {
                    "benchmark": board.benchmark, "domain": domain, "value": mean.value,
                    "value_if_right": mean.value_if_right,
                } | _who(run_set, model, protocol) | _bounds(bounds)  # fmt: skip


def _task_rows(run_set: RunSet) -> Iterator[dict[str, object]]:
    places = {
        (model, each.task, each.query, protocol, each.main.metric): (each, each.main)
        for (model, protocol), result in run_set.results.items()
        for each in result.tasks
        if each.main is not None
    }
    intervals = {
        (protocol, *place): task_intervals(scores)
        for protocol, mains in run_set.mains.items()
        for place, scores in mains.items()
    }
    for place, (each, main) in places.items():
        model, _, _, protocol, _ = place
        interval = intervals.get((protocol, each.task, each.query), {}).get(model)
        yield {
            "benchmark": task(each.task).benchmark,
            **{name: getattr(each, name) for name in ("task", "query")},
            **{name: getattr(main, name) for name in _OF_METRIC},
            "value_if_right": main.value_if_right,
            **_who(run_set, model, protocol),
            **_bounds((interval.low, interval.high) if interval else None),
        }


_OF_METRIC = ("metric", "value", "without_failures", "items", "scored")


def _who(run_set: RunSet, model: str, protocol: str) -> dict[str, object]:
    model_responses = run_set.by_model.get(model)
    return {
        "model": model,
        "role": model_responses.role if model_responses else PEOPLE,
        "protocol": protocol,
    }


def _bounds(found: tuple[float, float] | None) -> dict[str, object]:
    return dict(zip(("low", "high"), found or (None, None), strict=True))

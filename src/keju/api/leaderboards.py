"""`Leaderboard`: the models of a run in order, with intervals and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from keju.benchmarks import task
from keju.errors import PrerequisiteError, number_of
from keju.items import Score
from keju.reporting import leaderboard as boards
from keju.reporting.gather import PEOPLE, Gathered, gather
from keju.reporting.intervals import intervals
from keju.runs import RunFolder

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The models of a run, best first within each benchmark, protocol and role.

    The numbers are those of the report. All values are fractions. `low` and `high` are the 95 %
    interval when groups (books, plates, bones) are drawn again; they are null where there are too
    few groups, and `notes` then says how many are needed.

    `overall` has a row for each model, benchmark and protocol: its mean over the domains, its rank
    and the ranks that are possible after all pairwise tests (`rank_low`, `rank_high`); `role` is
    ``model``, ``engine``, ``answers`` (made elsewhere), ``human`` or ``baseline``, and only the
    first three are ranked. `missing` names the tasks without a value. `domains` has a row for each
    domain with a value, `tasks` one for each task with the value of its main metric.
    """

    overall: pl.DataFrame
    domains: pl.DataFrame
    tasks: pl.DataFrame
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        models = number_of(self.overall["model"].n_unique(), "model")
        return f"Leaderboard({models}, {number_of(self.tasks['task'].n_unique(), 'task')})"

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


def leaderboard_of(run: RunFolder, scores: Sequence[Score]) -> Leaderboard:
    """The leaderboard of a run with these scores.

    Raises:
        DataError: a file of the run is damaged.
        UsageError: the run has a response without a score.
    """
    gathered = gather([run.path], picture_bytes=0, scores=scores)
    found = boards.leaderboards(gathered, gathered.results)
    return Leaderboard(
        overall=_sorted(pl.DataFrame(_overall_rows(gathered, found), schema=_OVERALL)),
        domains=pl.DataFrame(_domain_rows(gathered, found), schema=_DOMAINS),
        tasks=pl.DataFrame(_task_rows(gathered), schema=_TASKS),
        notes=tuple(dict.fromkeys(note for each in found for note in each.notes)),
    )


_Types = dict[str, type[pl.DataType] | pl.DataType]
_VALUE: _Types = dict.fromkeys(("value", "low", "high"), pl.Float64)
_WHO: _Types = dict.fromkeys(("protocol", "role", "model"), pl.String)
_RANKS: _Types = dict.fromkeys(("rank", "rank_low", "rank_high"), pl.Int64)
_OVERALL = pl.Schema(
    {"benchmark": pl.String, **_WHO, **_VALUE, **_RANKS, "missing": pl.List(pl.String)}
)
_DOMAINS = pl.Schema({"benchmark": pl.String, "domain": pl.String, **_WHO, **_VALUE})
_PLACE: _Types = dict.fromkeys(("benchmark", "task", "query", "metric"), pl.String)
_COUNTS: _Types = {"without_failures": pl.Float64, "items": pl.Int64, "scored": pl.Int64}
_TASKS = pl.Schema({**_PLACE, **_WHO, **_VALUE, **_COUNTS})


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    """Best first within each benchmark, protocol and role, in the order in which those come."""
    places = pl.int_range(pl.len())
    groups = [places.min().over("benchmark", "protocol"), places.min().over(*_GROUPS)]
    return frame.sort(*groups, "value", descending=[False, False, True], nulls_last=True)


_GROUPS = ("benchmark", "protocol", "role")


def _overall_rows(
    gathered: Gathered, found: Sequence[boards.Leaderboard]
) -> Iterator[dict[str, object]]:
    for board in found:
        for protocol, sure in board.sure.items():
            for group in board.groups:
                for row in group.rows:
                    result = board.results.get((row.model, protocol))
                    if result is None:
                        continue
                    rank, span = sure.ranks.get(row.model, (None, None))
                    yield (
                        {
                            "benchmark": board.benchmark,
                            "value": result.overall.value,
                            "missing": [
                                name for each in result.domains.values() for name in each.missing
                            ],
                            "rank": rank,
                            "rank_low": span and span[0],
                            "rank_high": span and span[1],
                        }
                        | _who(gathered, row.model, protocol)
                        | _bounds(sure.overall.get(row.model))
                    )


def _domain_rows(
    gathered: Gathered, found: Sequence[boards.Leaderboard]
) -> Iterator[dict[str, object]]:
    for board in found:
        for (model, protocol), result in board.results.items():
            known = {name: mean for name, mean in result.domains.items() if mean.value is not None}
            for domain, mean in known.items():
                bounds = board.sure[protocol].domains.get((model, domain))
                yield {
                    "benchmark": board.benchmark, "domain": domain, "value": mean.value,
                } | _who(gathered, model, protocol) | _bounds(bounds)  # fmt: skip


def _task_rows(gathered: Gathered) -> Iterator[dict[str, object]]:
    mains = [each for by in gathered.mains.values() for scores in by.values() for each in scores]
    places = {
        (model, each.task, each.query, protocol, each.main.metric): (each, each.main)
        for (model, protocol), result in gathered.results.items()
        for each in result.tasks
        if each.main is not None
    }
    sure = intervals(mains, metrics=set(places))
    for place, (each, main) in places.items():
        model, _, _, protocol, _ = place
        interval = sure.get(place)
        yield {
            "benchmark": task(each.task).benchmark,
            **{name: getattr(each, name) for name in ("task", "query")},
            **{name: getattr(main, name) for name in _OF_METRIC},
            **_who(gathered, model, protocol),
            **_bounds((interval.low, interval.high) if interval else None),
        }


_OF_METRIC = ("metric", "value", "without_failures", "items", "scored")


def _who(gathered: Gathered, model: str, protocol: str) -> dict[str, object]:
    voice = gathered.voices.get(model)
    return {"model": model, "role": voice.role if voice else PEOPLE, "protocol": protocol}


def _bounds(found: tuple[float, float] | None) -> dict[str, object]:
    return dict(zip(("low", "high"), found or (None, None), strict=True))

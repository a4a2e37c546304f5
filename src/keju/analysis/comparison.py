"""`Comparison`: two sides task by task, with the difference, its interval and a paired test."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl

from keju.analysis.comparison_sides import (
    Side,
    SideChoice,
    choose_sides,
    names_of,
    shared_variant,
)
from keju.analysis.leaderboard import RANKED
from keju.analysis.roles import model_role
from keju.analysis.score_sources import ScoredRun, source_of
from keju.definitions import tasks
from keju.errors import UsageError
from keju.items import Protocol, Record
from keju.scoring import (
    OverallComparison,
    SideScores,
    TaskComparison,
    adjust_comparisons,
    compare_errors,
    compare_sides,
    mark_equal,
)
from keju.scoring.model_comparison import PLACE
from keju.texts import _, join_clauses, listed, n_, recognised


class Unscored(Record, frozen=True, kw_only=True):
    """A task (or one of its queries) without main metric on some items: how many items, and why."""

    task: str
    query: str
    metric: str
    items: int
    reason: str


class Comparison(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Two sides compared: the overall mean of each benchmark, and task by task.

    `first` and `second` are their names, which state their differences; `shared` is the part of the
    prompt variant that is the same and not the default. `overall` has one test for each benchmark,
    which is not adjusted; `tasks` are adjusted over all tasks. `margin` is that of equivalence in
    percent points, if there is one. `models` is the number of models of the run that reports rank
    (0 with two runs). `errors` are the exploratory comparisons of recognition and layout error
    (`compare_errors`), under `strict` alone. `dropped` counts items of the first side that are not
    the same in the other run's dataset. `unscored` are tasks of both sides with items that one of
    them has no value for, and which are therefore excluded.
    """

    first: str
    second: str
    shared: str
    sides: tuple[dict[str, str], dict[str, str]]
    protocol: Protocol
    overall: list[OverallComparison]
    tasks: list[TaskComparison]
    margin: float | None = None
    models: int = 0
    errors: list[TaskComparison] = msgspec.field(default_factory=list)
    dropped: int = 0
    unscored: list[Unscored] = msgspec.field(default_factory=list)


def comparison_of(
    runs: Sequence[ScoredRun],
    protocol: Protocol,
    wanted: SideChoice | None = None,
    *,
    margin: float | None = None,
) -> Comparison:
    """Compare two models, two runs, two settings or two scripts, over the items of both.

    Args:
        runs: one run or two, directories or bundles; they must have been scored.
        protocol: whose main metrics are compared.
        wanted: the selected sides; by default they are derived from the runs.
        margin: percent points within which two values count as equal.

    Raises:
        UsageError: the sides cannot be determined (see `choose_sides`), or have no item in common,
            or the margin is not above 0 and at most 100.
        DataError: a run has not been scored.
    """
    if margin is not None and not 0 < margin <= 100:
        raise UsageError(
            "--margin {} is not a margin in percent points: a number above 0 and at most 100",
            margin,
        )
    if protocol == "official" and (why := source_of(runs[0]).without_official()):
        raise UsageError(f"{runs[0].path}: {why}")
    first, second = choose_sides(runs, wanted or SideChoice(), protocol)
    names = names_of(first, second)
    one, other = first.scores, second.scores
    dropped = len(one.dropped)
    tasks, overall = compare_sides(one, other)
    if not tasks:
        raise UsageError(_explain_nothing(names, first, second, protocol, dropped))
    tasks = adjust_comparisons(tasks)
    overall = [each for of_one in overall for each in adjust_comparisons([of_one])]
    if margin is not None:
        tasks, overall = mark_equal(tasks, margin / 100), mark_equal(overall, margin / 100)
    return Comparison(
        first=names[0],
        second=names[1],
        shared=shared_variant(first, second),
        sides=(_describe_side(first), _describe_side(second)),
        protocol=protocol,
        overall=overall,
        tasks=tasks,
        margin=margin,
        models=_count_ranked(first) if len(runs) == 1 else 0,
        errors=compare_errors(one, other) if protocol == "strict" else [],
        dropped=dropped,
        unscored=_find_unscored(one, other, protocol),
    )


def _count_ranked(side: Side) -> int:
    manifest = side.run.manifest()
    return sum(model_role(manifest, model) in RANKED for model in manifest.models)


def _find_unscored(first: SideScores, second: SideScores, protocol: Protocol) -> list[Unscored]:
    """The tasks of both sides in which the main metric of some item has no value."""
    found = []
    for declared in tasks():
        for query in declared.queries:
            metric = next(iter(query.metrics(protocol)), "")
            one, two = (side.of(declared.id, query.name, metric) for side in (first, second))
            shared = one.join(two, on=PLACE, how="semi").select(PLACE)
            lacking = pl.concat([one, two]).filter(pl.col("value").is_null())
            lacking = lacking.join(shared, on=PLACE, how="semi")
            if not lacking.is_empty():
                found.append(
                    Unscored(
                        task=declared.id,
                        query=query.name,
                        metric=metric,
                        items=lacking["item"].n_unique(),
                        reason=min(lacking["reason"]),
                    )
                )
    return found


def _describe_side(side: Side) -> dict[str, str]:
    label = side.run.manifest().label
    about = {"run": str(side.run.path), "model": side.model, **side.variant._asdict()}
    return about | ({"label": label} if label else {})


def _explain_nothing(
    names: tuple[str, str], first: Side, second: Side, protocol: Protocol, dropped: int
) -> str:
    tasks = [listed(sorted(side.scores.tasks)) or _("none") for side in (first, second)]
    why = _("tasks with {} scores: {}; and {}", protocol, tasks[0], tasks[1])
    unscored = first.scores.reasons - {""}
    if unscored:
        why = _("{}; unscored: {}", why, join_clauses(map(recognised, sorted(unscored)[:3])))
    if dropped:
        why = n_(
            "the runs have different datasets, and {n:,} item is not the same in both",
            "the runs have different datasets, and {n:,} items are not the same in both",
            dropped,
        )
    return _(
        "nothing to compare: {} and {} have no scored item in common ({})", names[0], names[1], why
    )

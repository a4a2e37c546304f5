"""`Comparison`: two sides task by task, with the difference, its interval and a paired test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

import msgspec

from keju.analysis.comparison_sides import (
    Side,
    SideChoice,
    choose_sides,
    names_of,
    shared_variant,
)
from keju.analysis.labels import higher_is_better
from keju.analysis.score_sources import ScoredRun, source_of
from keju.definitions import task, tasks
from keju.errors import UsageError
from keju.items import Protocol, Record
from keju.messages import join_clauses, listed, message, recognised
from keju.scoring import (
    CUT_NOTE,
    SideScores,
    TaskComparison,
    compare_errors,
    compare_sides,
)


class Unscored(Record, frozen=True, kw_only=True):
    """A task (or one of its queries) without main metric on some items: how many items, and why."""

    task: str
    query: str
    metric: str
    items: int
    reason: str


class ComparedMeans(Record, frozen=True, kw_only=True):
    """The means of both sides over the domains of a benchmark, of the tasks that were compared."""

    benchmark: str
    first: float
    second: float
    difference: float
    tasks: int


class Comparison(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Two sides compared task by task.

    `first` and `second` are their names, which state their differences; `shared` is the part of the
    prompt variant that is the same and not the default. `means` are overall means, without a test;
    tasks of error rates are not part of them. `errors` are the exploratory comparisons of
    recognition and layout error (`compare_errors`), under `strict` alone. `dropped` counts items of
    the first side that are not the same in the other run's dataset. `unscored` are tasks of both
    sides with items that one of them has no value for, and which are therefore excluded. `notes`
    are remarks on the scores of a side, by its name.
    """

    first: str
    second: str
    shared: str
    sides: tuple[dict[str, str], dict[str, str]]
    protocol: Protocol
    tasks: list[TaskComparison]
    means: list[ComparedMeans] = msgspec.field(default_factory=list)
    errors: list[TaskComparison] = msgspec.field(default_factory=list)
    dropped: int = 0
    unscored: list[Unscored] = msgspec.field(default_factory=list)
    notes: dict[str, str] = msgspec.field(default_factory=dict)


def comparison_of(
    runs: Sequence[ScoredRun], protocol: Protocol, wanted: SideChoice | None = None
) -> Comparison:
    """Compare two models, two runs, two settings or two scripts, over the items of both.

    Args:
        runs: one run or two, directories or bundles; they must have been scored.
        protocol: whose main metrics are compared.
        wanted: the selected sides; by default they are derived from the runs.

    Raises:
        UsageError: the sides cannot be determined (see `choose_sides`), or have no item in common.
        DataError: a run has not been scored.
    """
    if protocol == "official" and (why := source_of(runs[0]).without_official()):
        raise UsageError(f"{runs[0].path}: {why}")
    first, second = choose_sides(runs, wanted or SideChoice(), protocol)
    names = names_of(first, second)
    one, other = first.scores, second.scores
    dropped = len(one.dropped)
    found = compare_sides(one, other)
    if not found:
        raise UsageError(_explain_nothing(names, first, second, protocol, dropped))
    return Comparison(
        first=names[0],
        second=names[1],
        shared=shared_variant(first, second),
        sides=(_describe_side(first), _describe_side(second)),
        protocol=protocol,
        tasks=found,
        means=list(_compare_means(found, protocol)),
        errors=compare_errors(one, other) if protocol == "strict" else [],
        dropped=dropped,
        unscored=_find_unscored(one, other, protocol),
        notes={
            name: CUT_NOTE for name, side in zip(names, (one, other), strict=True) if side.is_cut
        },
    )


def _compare_means(found: Sequence[TaskComparison], protocol: Protocol) -> Iterator[ComparedMeans]:
    """The mean over domains of each benchmark with several tasks, over the items of both sides."""
    domains: dict[str, dict[str, list[TaskComparison]]] = {}
    for each in found:
        if higher_is_better(each.task, each.query, protocol, each.metric):
            of_task = task(each.task)
            of_benchmark = domains.setdefault(of_task.benchmark, {})
            of_benchmark.setdefault(of_task.domain, []).append(each)
    for benchmark, by_domain in domains.items():
        first = fmean(fmean(each.first for each in its) for its in by_domain.values())
        second = fmean(fmean(each.second for each in its) for its in by_domain.values())
        if (tasks := sum(map(len, by_domain.values()))) > 1:
            yield ComparedMeans(
                benchmark=benchmark, first=first, second=second, difference=first - second,
                tasks=tasks,
            )  # fmt: skip


def _find_unscored(first: SideScores, second: SideScores, protocol: Protocol) -> list[Unscored]:
    """The tasks of both sides in which the main metric of some item has no value."""
    found = []
    for declared in tasks():
        for query in declared.queries:
            metric = next(iter(getattr(query, protocol)), "")
            one, two = (side.of(declared.id, query.name, metric) for side in (first, second))
            lacking = [
                (place[0], reasons[place])
                for place in one.all_places & two.all_places
                for reasons in (one.unscored, two.unscored)
                if place in reasons
            ]
            if lacking:
                found.append(
                    Unscored(
                        task=declared.id,
                        query=query.name,
                        metric=metric,
                        items=len({item for item, _ in lacking}),
                        reason=min(reason for _, reason in lacking),
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
    tasks = [
        listed(sorted(side.scores.tasks)) or message("analysis.none") for side in (first, second)
    ]
    why = message("analysis.tasks-with-scores", protocol=protocol, task=tasks[0], other=tasks[1])
    unscored = first.scores.reasons - {""}
    if unscored:
        why = message(
            "analysis.also-unscored",
            why=why,
            unscored=join_clauses(map(recognised, sorted(unscored)[:3])),
        )
    if dropped:
        why = message("analysis.runs-ask-other-datasets", dropped=dropped)
    return message("analysis.nothing-to-compare", name=names[0], other=names[1], why=why)

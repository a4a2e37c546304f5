"""Compare two sides task by task, over the items that both answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from keju.definitions import Query, Task, tasks
from keju.items import Protocol, Record, Score
from keju.scoring.aggregate import is_ratio_of_sums, metric_of_score, pooled_value
from keju.scoring.score_columns import StatsColumn
from keju.scoring.side_scores import ERRORS, SelectedScores, SideScores, select_shared
from keju.statistics import (
    GroupSums,
    compare,
    detectable_difference,
    group_sums,
    groups_needed,
    holm,
    spread_of_differences,
)

_LEVEL = 0.05


class TaskComparison(Record, frozen=True, kw_only=True, omit_defaults=False):
    """One task (or one query of it): the main metric of two sides over the same items.

    `difference` is first - second, with the 95 % interval `low` to `high` of the paired bootstrap
    by group (None with fewer than 6 groups). `p` is of the paired randomisation test, `p_holm`
    adjusted over all tasks that were compared. `needed` is the number of groups with which a p of
    .05 can be reached after that adjustment; `detectable` is the true difference that this
    number of groups finds four times in five, None where there are fewer than needed or where all
    groups differ by the same amount. p, `p_holm` and
    `detectable` are None too where the metric is not a ratio of sums (a median, a harmonic mean of
    means) or where there is one group only. `better` is ``first`` or ``second`` where the adjusted
    p is at most .05, else empty.
    """

    task: str
    query: str
    metric: str
    first: float
    second: float
    difference: float
    items: int
    groups: int
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    needed: int | None = None
    detectable: float | None = None
    better: str = ""


def compare_models(
    first: Iterable[Score], second: Iterable[Score], protocol: Protocol, *, resamples: int = 10_000
) -> list[TaskComparison]:
    """Compare two sides task by task on their main metrics, in the catalogue's order.

    Failures count at each metric's worst value, as in every table. An item that has no
    value on one side is not compared.

    Args:
        first: scores of one model in one prompt variant.
        second: scores of another model, prompt variant or run.
        protocol: whose main metrics are compared.
        resamples: of the test and of the interval.
    """
    return compare_sides(
        SideScores(protocol, first), SideScores(protocol, second), resamples=resamples
    )


def compare_sides(
    first: SideScores, second: SideScores, *, resamples: int = 10_000
) -> list[TaskComparison]:
    """`compare_models` of scores that were read with a protocol."""
    return _adjusted(
        [
            compared
            for task in tasks()
            for query in task.queries
            for metric in getattr(query, first.protocol)[:1]
            for compared in _pairs(task, query, metric, (first, second), resamples)
        ]
    )


def compare_errors(
    first: SideScores, second: SideScores, *, resamples: int = 10_000
) -> list[TaskComparison]:
    """Compare recognition and layout error of the tasks of transcription, under `strict`.

    These are exploratory (our reading). The main metric alone answers which side reads better; in
    one Holm family with it, two more tests a task would take power from that answer (7 groups
    instead of 6 for one task). So they are a family of their own, adjusted among themselves, and
    `better` is always empty.

    Args:
        first: scores of one model in one prompt variant under `strict`.
        second: those of another model, prompt variant or run.
        resamples: of the test and of the interval.
    """
    found = _adjusted(
        [
            compared
            for task in tasks()
            for query in task.queries
            for metric in ERRORS
            if metric in query.strict
            for compared in _pairs(task, query, metric, (first, second), resamples)
        ]
    )
    return [replace(each, better="") for each in found]


def _pairs(
    task: Task,
    query: Query,
    metric: str,
    sides: tuple[SideScores, SideScores],
    resamples: int,
) -> Iterator[_TestedTask]:
    """The comparison on one metric over the items of both sides; nothing where there are none."""
    one, two = (side.of(task.id, query.name, metric) for side in sides)
    if pair := select_shared(one, two):
        yield _compared(task, query, metric, *pair, resamples=resamples)


class _TestedTask(NamedTuple):
    """A comparison, and how the models' differences are spread over its groups."""

    found: TaskComparison
    spread: float


def _compared(
    task: Task,
    query: Query,
    metric: str,
    first: SelectedScores,
    second: SelectedScores,
    *,
    resamples: int,
) -> _TestedTask:
    values = [
        pooled_value(metric_of_score(side.first), side.stats) or 0.0 for side in (first, second)
    ]
    plain = TaskComparison(
        task=task.id,
        query=query.name,
        metric=metric,
        first=values[0],
        second=values[1],
        difference=values[0] - values[1],
        items=len(first.groups),
        groups=len(set(first.groups)),
    )
    sums = [_sums(side.stats, first.groups) for side in (first, second)]
    if (
        plain.groups < 2
        or not is_ratio_of_sums(first.first)
        or not all(s.bottom.sum() for s in sums)
    ):
        return _TestedTask(plain, 0.0)
    found = compare(*sums, resamples=resamples)
    declared = metric_of_score(first.first)
    is_error = declared is not None and not declared.higher_is_better
    ahead = "first" if (found.value > 0) != is_error else "second"
    tested = replace(
        plain,
        low=found.interval.low if found.interval else None,
        high=found.interval.high if found.interval else None,
        p=found.p,
        better=ahead,
    )
    return _TestedTask(tested, spread_of_differences(*sums))


def _sums(stats: StatsColumn, groups: Sequence[str]) -> GroupSums:
    return group_sums(
        [each["numerator"] for each in stats], [each["denominator"] for each in stats], groups
    )


def _adjusted(found: Sequence[_TestedTask]) -> list[TaskComparison]:
    """Adjust the p values over the tested tasks; only a significant difference names the better."""
    tested = [each for each, _ in found if each.p is not None]
    if not tested:
        return [each for each, _ in found]
    adjusted = dict(zip(map(id, tested), holm([each.p or 0.0 for each in tested]), strict=True))
    needed = groups_needed(len(tested))
    return [
        replace(
            each,
            p_holm=adjusted[id(each)],
            needed=needed,
            detectable=detectable_difference(spread, each.groups, tests=len(tested)),
            better=each.better if adjusted[id(each)] <= _LEVEL else "",
        )
        if each.p is not None
        else each
        for each, spread in found
    ]

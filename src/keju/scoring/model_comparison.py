"""Compare two sides over the items that both answered: each task, and the overall mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from msgspec import field
from msgspec.structs import replace

from keju.definitions import Query, Task, tasks
from keju.errors import UsageError
from keju.items import Record
from keju.scoring.aggregate import Columns, declared_metric, pooled_value
from keju.scoring.metric import Metric
from keju.scoring.side_scores import ERRORS, SharedScores, SideScores, select_shared
from keju.scoring.signatures import reading_of
from keju.scoring.value_parts import mean_weights, sum_parts
from keju.statistics import (
    FEWEST_GROUPS,
    LEVEL,
    Ratio,
    difference_interval,
    group_shares,
    groups_needed,
    holm,
    number_names,
    paired_p,
    ratio_of,
)


class End(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The difference at one end of the ranges, with its test; `better` as in `Difference`."""

    difference: float
    p: float | None
    p_holm: float | None = None
    better: str


class Difference(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The values of two sides over the same items, and their difference with its test.

    `difference` is first - second, with the 95 % interval `low` to `high`, resampled by group. `p`
    is of the paired randomisation test by group, `p_holm` adjusted over the tests of the table
    (Holm). Interval and p are None with fewer than 6 groups, and where the value is not made of
    ratios of sums (a median, a harmonic mean of means); an interval also where one part of the
    value has fewer than 6 groups. `needed` is the number of groups with which a p of .05 can be
    reached after that adjustment. `better` is ``first`` or ``second`` where the adjusted p is at
    most .05, else empty. `equal` is whether the interval is inside the margin of equivalence; None
    without a margin.

    While answers are unclear, `first` and `second` have them as wrong, and `first_if_right` and
    `second_if_right` as right; `unclear_first` and `unclear_second` are the shares of such answers.
    `ends` are then the least and the greatest difference, the interval contains those of both, p is
    the greater one, and `better` is empty unless both ends agree. If they do not, the comparison is
    `undecided`, and `p_holm` is None. Without unclear answers there are no `ends`.

    `items` is the number of shared items, `groups` of their groups, and `largest` the share of the
    largest group.
    """

    first: float
    second: float
    first_if_right: float
    second_if_right: float
    unclear_first: float
    unclear_second: float
    difference: float
    items: int
    groups: int
    largest: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    needed: int | None = None
    better: str = ""
    equal: bool | None = None
    undecided: bool = False
    ends: list[End] = field(default_factory=list)


class TaskComparison(Difference, frozen=True, kw_only=True, omit_defaults=False):
    """The difference of two sides in one task (or one query of it), on its main metric."""

    task: str
    query: str
    metric: str


class OverallComparison(Difference, frozen=True, kw_only=True, omit_defaults=False):
    """The difference of the means over the domains of a benchmark, of the tasks of both sides.

    A benchmark with one task of both sides has the difference of this task. `tasks` are the names
    of the tasks of the mean. `only_first` and `only_second` are the numbers of the benchmark's
    items that only one side has.
    """

    benchmark: str
    tasks: tuple[str, ...]
    only_first: int
    only_second: int


D = TypeVar("D", bound=Difference)


def compare_tasks(first: SideScores, second: SideScores) -> list[TaskComparison]:
    """Compare two sides on their main metrics, in the catalogue's order.

    Failures count at each metric's worst value, as in every table. An item that has no
    value on one side is not compared. The p values are not adjusted (see `adjust_comparisons`).

    Raises:
        UsageError: the answers of the two sides were not read by the same rules and decisions.
    """
    return [_compare_task(shared) for shared in _share_mains(first, second)]


def compare_sides(
    first: SideScores, second: SideScores
) -> tuple[list[TaskComparison], list[OverallComparison]]:
    """`compare_tasks`, and the overall mean of each benchmark. No p value is adjusted.

    Raises:
        UsageError: as `compare_tasks`.
    """
    shared = list(_share_mains(first, second))
    comparisons = [_compare_task(each) for each in shared]
    by_benchmark: dict[str, list[tuple[_SharedTask, TaskComparison]]] = {}
    for pair in zip(shared, comparisons, strict=True):
        by_benchmark.setdefault(pair[0].task.benchmark, []).append(pair)
    overall = [
        OverallComparison(
            **figures,
            benchmark=benchmark,
            tasks=names,
            only_first=_count_alone(first, second, benchmark),
            only_second=_count_alone(second, first, benchmark),
        )
        for benchmark, pairs in by_benchmark.items()
        for names, figures in _compare_mean(pairs)
    ]
    return comparisons, overall


def compare_errors(first: SideScores, second: SideScores) -> list[TaskComparison]:
    """Compare recognition and layout error of the tasks of transcription, under `strict`.

    These are exploratory (our reading). The main metric alone answers which side reads better; in
    one Holm family with it, two more tests a task would take power from that answer (7 groups
    instead of 6 for one task). So they are a family of their own, adjusted among themselves, and
    `better` is always empty.

    Args:
        first: one model in one prompt variant under `strict`.
        second: another model, prompt variant or run.
    """
    comparisons = [
        _compare_task(shared)
        for task in tasks()
        for query in task.queries
        for metric in ERRORS
        if metric in query.strict
        for shared in _share(task, query, metric, first, second)
    ]
    return [replace(compared, better="") for compared in adjust_comparisons(comparisons)]


def adjust_comparisons(comparisons: Sequence[D]) -> list[D]:
    """Adjust the p values over all tests of a table; only then a side is called better."""
    ends_of_all = [_adjust_end(comparisons, place) for place in (0, 1)]
    tested = sum(compared.p is not None for compared in comparisons)
    # With enough groups, those that could not be tested would belong to the family as well.
    testable = sum(compared.needed is not None for compared in comparisons)
    adjusted = []
    for compared, *ends in zip(comparisons, *ends_of_all, strict=True):
        p_values = [end.p_holm for end in ends if end.p_holm is not None]
        undecided = ends[0].better != ends[1].better
        needed = groups_needed(testable if compared.p is None else tested)
        adjusted.append(
            replace(
                compared,
                p_holm=max(p_values) if p_values and not undecided else None,
                needed=None if compared.needed is None else needed,
                better="" if undecided else ends[0].better,
                undecided=undecided,
                ends=ends if compared.ends else [],
            )
        )
    return adjusted


def _adjust_end(comparisons: Sequence[Difference], place: int) -> list[End]:
    """One end of each comparison, with p adjusted over these ends (Holm)."""
    ends = [
        compared.ends[place]
        if compared.ends
        else End(difference=compared.difference, p=compared.p, better=compared.better)
        for compared in comparisons
    ]
    p_values = {number: end.p for number, end in enumerate(ends) if end.p is not None}
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return [
        replace(
            end,
            p_holm=adjusted.get(number),
            better=end.better if adjusted.get(number, 1.0) <= LEVEL else "",
        )
        for number, end in enumerate(ends)
    ]


def mark_equal(comparisons: Sequence[D], margin: float) -> list[D]:
    """Mark the differences whose 95 % interval is inside ± `margin`, a fraction."""
    return [
        replace(
            compared,
            equal=compared.low is not None
            and compared.high is not None
            and -margin < compared.low <= compared.high < margin,
        )
        for compared in comparisons
    ]


class _SharedTask(NamedTuple):
    """The scores of both sides for the same items of a task."""

    task: Task
    query: Query
    metric: str
    declared: Metric | None
    scores: SharedScores

    @property
    def name(self) -> str:
        return f"{self.task.id}/{self.query.name}" if self.query.name else self.task.id

    @property
    def higher_is_better(self) -> bool:
        return self.declared is None or self.declared.higher_is_better

    @property
    def values(self) -> tuple[float, float]:
        """The values of both sides."""
        first, second = self.scores.first, self.scores.second
        return pooled_value(self.declared, first), pooled_value(self.declared, second)

    @property
    def if_right(self) -> _SharedTask:
        """The same with all unclear answers as right."""
        first, second = self.scores.first_if_right, self.scores.second_if_right
        return self._replace(scores=self.scores._replace(first=first, second=second))

    @property
    def ends(self) -> tuple[_SharedTask, _SharedTask]:
        """The least difference (unclear answers of the second are right), and the greatest."""
        least = self.scores._replace(second=self.scores.second_if_right)
        most = self.scores._replace(first=self.scores.first_if_right)
        return self._replace(scores=least), self._replace(scores=most)

    def parts(self, numbers: Mapping[str, int], weight: float = 1.0) -> list[Ratio]:
        """The parts of the value, with a column for each side; empty where it has none."""
        scores, units = self.scores, [numbers[group] for group in self.scores.groups]
        columns_of_sides: Columns = {
            name: np.concatenate([column, scores.second[name]])
            for name, column in scores.first.items()
            if name in scores.second
        }
        sides = [0] * len(units) + [1] * len(units)
        return sum_parts(self.declared, columns_of_sides, units * 2, sides, weight=weight)

    def counted(self, numbers: Mapping[str, int], weight: float = 1.0) -> Ratio:
        """The numbers of items, for the shares of groups of a value without parts."""
        ones = [1.0] * len(self.scores.groups)
        return ratio_of(ones, ones, self.scores.groups, numbers=numbers, weight=weight)


def _share_mains(first: SideScores, second: SideScores) -> Iterator[_SharedTask]:
    for task in tasks():
        for query in task.queries:
            for metric in getattr(query, first.protocol)[:1]:
                yield from _share(task, query, metric, first, second)


def _share(
    task: Task, query: Query, metric: str, first: SideScores, second: SideScores
) -> Iterator[_SharedTask]:
    """The items of both sides with a value of a metric; nothing where there are none.

    Raises:
        UsageError: the answers of the two sides were not read by the same rules and decisions.
    """
    one, two = (side.of(task.id, query.name, metric) for side in (first, second))
    if scores := select_shared(one, two):
        readings = [reading_of(signature) for signature in scores.signatures]
        if len(set(readings)) > 1:
            raise UsageError(
                "the answers to {} were read in two ways, so the values cannot be compared: {} "
                "and {}. Score both runs again with the same --extractor and with one "
                "--adjudicated file, which contains the rows of both files",
                task.id,
                *readings,
            )
        declared = declared_metric(
            first.protocol, task.benchmark, query.form, metric, scores.signatures[0]
        )
        yield _SharedTask(task, query, metric, declared, scores)


def _compare_task(shared: _SharedTask) -> TaskComparison:
    return TaskComparison(
        **_compare_values([shared], {shared.name: 1.0}, lambda tasks: tasks[0].values),
        items=shared.scores.items,
        task=shared.task.id,
        query=shared.query.name,
        metric=shared.metric,
    )


def _compare_mean(
    pairs: Sequence[tuple[_SharedTask, TaskComparison]],
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The tasks of a benchmark's mean, and the figures of their overall difference.

    Error rates are not part of a mean of scores. A single task is its own mean, also if its metric
    is an error rate. Nothing where several tasks are error rates and no other task exists.
    """
    means = [pair for pair in pairs if pair[0].higher_is_better]
    if len(means or pairs) == 1:
        ((shared, comparison),) = means or pairs
        yield (shared.name,), {name: getattr(comparison, name) for name in _FIGURES}
    elif means:
        tasks = [shared for shared, _ in means]
        domains: dict[str, list[str]] = {}
        for shared in tasks:
            domains.setdefault(shared.task.domain, []).append(shared.name)
        weights = mean_weights(domains)
        figures = _compare_values(tasks, weights, _mean_over_domains)
        yield tuple(weights), {**figures, "items": sum(task.scores.items for task in tasks)}


_FIGURES = Difference.__struct_fields__


def _mean_over_domains(tasks: Sequence[_SharedTask]) -> tuple[float, float]:
    """Both sides' means over domains of means over tasks, as `benchmark_result` computes them."""
    domains: dict[str, list[tuple[float, float]]] = {}
    for shared in tasks:
        domains.setdefault(shared.task.domain, []).append(shared.values)
    first, second = (
        [
            sum(values[side] for values in of_domain) / len(of_domain)
            for of_domain in domains.values()
        ]
        for side in (0, 1)
    )
    return sum(first) / len(first), sum(second) / len(second)


def _compare_values(
    tasks: Sequence[_SharedTask],
    weights: Mapping[str, float],
    value_of: Callable[[Sequence[_SharedTask]], tuple[float, float]],
) -> dict[str, Any]:
    """The figures of a `Difference` of a value of some tasks, at both ends if answers are unclear.

    Args:
        tasks: the tasks.
        weights: the weight of each task in the value, by its name.
        value_of: the values of both sides.
    """
    numbers = number_names(group for shared in tasks for group in shared.scores.groups)
    counted = [shared.counted(numbers, weights[shared.name]) for shared in tasks]

    def test(at_end: Sequence[_SharedTask]) -> dict[str, Any]:
        parts = [shared.parts(numbers, weights[shared.name]) for shared in at_end]
        return _test(
            [part for of_task in parts for part in of_task] if all(parts) else [],
            counted,
            value_of(at_end),
            higher_is_better=tasks[0].higher_is_better,
        )

    answers = sum(len(shared.scores.groups) for shared in tasks)
    unclear = [sum(shared.scores.unclear[side] for shared in tasks) for side in (0, 1)]
    figures = test(tasks)
    first_if_right, second_if_right = value_of([shared.if_right for shared in tasks])
    figures |= {
        "first_if_right": first_if_right,
        "second_if_right": second_if_right,
        "unclear_first": unclear[0] / answers,
        "unclear_second": unclear[1] / answers,
    }
    if any(unclear):
        ends = [test([shared.ends[place] for shared in tasks]) for place in (0, 1)]
        figures |= _join_ends(ends)
    return figures


def _test(
    parts: Sequence[Ratio],
    counted: Sequence[Ratio],
    values: tuple[float, float],
    *,
    higher_is_better: bool,
) -> dict[str, Any]:
    """The figures of a `Difference`. Before adjustment, `better` is the side that is ahead."""
    difference = values[0] - values[1]
    shares = group_shares(parts or counted)
    bounds = difference_interval(parts, 0, 1) if parts else None
    return {
        "first": values[0],
        "second": values[1],
        "difference": difference,
        "groups": shares.groups,
        "largest": shares.largest,
        "low": bounds.low if bounds else None,
        "high": bounds.high if bounds else None,
        "p": paired_p(parts).get((0, 1)),
        "needed": FEWEST_GROUPS if parts else None,
        "better": "first" if (difference > 0) == higher_is_better else "second",
    }


def _join_ends(ends: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The widest interval and the greater p of both ends, and the ends."""
    lows, highs, p_values = (
        [end[name] for end in ends if end[name] is not None] for name in ("low", "high", "p")
    )
    return {
        "low": min(lows) if len(lows) == len(ends) else None,
        "high": max(highs) if len(highs) == len(ends) else None,
        "p": max(p_values) if len(p_values) == len(ends) else None,
        "ends": [
            End(difference=end["difference"], p=end["p"], better=end["better"]) for end in ends
        ],
    }


def _count_alone(one: SideScores, other: SideScores, benchmark: str) -> int:
    """The number of a benchmark's items that one side has and the other has not."""
    return len(one.items_of(benchmark) - other.items_of(benchmark)) + one.count_dropped(benchmark)

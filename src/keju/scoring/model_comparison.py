"""Compare two sides over the items that both answered: each task, and the overall mean."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl
from msgspec import field
from msgspec.structs import replace

from keju.definitions import Query, Task, has_task, task, tasks
from keju.errors import UsageError
from keju.items import Protocol, Record
from keju.scoring.aggregate import Columns, declared_metric, part_columns, pooled_value
from keju.scoring.metric import Metric, reading_of
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

ItemName = tuple[str, str, str]
"""Task, query and id of an item."""

_ITEM = ["task", "query", "item"]
_METRIC = ["task", "query", "metric"]
PLACE = ["item", "round"]
"""The item and round that both sides must have answered."""

ERRORS = ("CER_recognition", "CER_layout")
"""The parts of the CER of a transcription, which are compared beside the main metric."""

_Right = tuple[bool, bool]
"""Of each side, whether its unclear answers count as right."""


class SideScores:
    """The scores of one model in one prompt variant under one protocol, for a comparison.

    Args:
        protocol: whose main metrics are compared.
        scores: a table of scores, of all protocols.
        among: the items that are compared; None for all.

    Attributes:
        scores: those of main metrics and `ERRORS`; of several of the same metric, item and round
            the last one.
        tasks: the tasks with scores of the protocol, compared or not.
        reasons: the reasons of scores without a value, of all protocols, compared or not.
        dropped: the items with scores that are not among those compared.
    """

    def __init__(
        self,
        protocol: Protocol,
        scores: pl.DataFrame,
        *,
        among: Collection[ItemName] | None = None,
    ) -> None:
        self.protocol = protocol
        own = scores.filter(pl.col("protocol") == protocol)
        self.tasks = set(own["task"].unique())
        self.reasons = set(scores.filter(pl.col("value").is_null())["reason"].unique())
        self.dropped: set[ItemName] = set()
        if among is not None:
            shared = pl.DataFrame(list(among), dict.fromkeys(_ITEM, pl.String), orient="row")
            dropped = scores.join(shared, on=_ITEM, how="anti").select(_ITEM).unique()
            self.dropped = set(dropped.iter_rows())
            own = own.join(shared, on=_ITEM, how="semi", maintain_order="left")
        errors = ERRORS if protocol == "strict" else ()
        compared = [
            (name, query.name, metric)
            for name in self.tasks
            for query in (task(name).queries if has_task(name) else ())
            for metric in (*query.metrics(protocol)[:1], *errors)
        ]
        metrics = pl.DataFrame(compared, dict.fromkeys(_METRIC, pl.String), orient="row")
        own = own.join(metrics, on=_METRIC, how="semi", maintain_order="left")
        self.scores = own.unique([*_METRIC, *PLACE], keep="last", maintain_order=True)

    def of(self, name: str, query: str, metric: str) -> pl.DataFrame:
        """The scores of a metric of a task, with a value and without."""
        return self.scores.filter(
            pl.col("task") == name, pl.col("query") == query, pl.col("metric") == metric
        )

    def count_alone(self, second: SideScores, benchmark: str) -> int:
        """The number of a benchmark's items that this side has and the second has not."""
        items, items_of_second = (
            set(side.scores.select(_ITEM).iter_rows()) for side in (self, second)
        )
        alone = (items - items_of_second) | self.dropped
        return sum(has_task(name) and task(name).benchmark == benchmark for name, _, _ in alone)


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


def compare_tasks(
    first: SideScores, second: SideScores, metrics: Collection[str] = ()
) -> list[TaskComparison]:
    """Compare two sides on their main metrics or on `metrics`, in the catalogue's order.

    Failures count at each metric's worst value, as in every table. An item that has no
    value on one side is not compared. The p values are not adjusted (see `adjust_comparisons`).

    Raises:
        UsageError: the answers of the two sides were not read by the same rules and decisions.
    """
    return [_compare_task(shared) for shared in _share(first, second, metrics)]


def compare_errors(first: SideScores, second: SideScores) -> list[TaskComparison]:
    """Compare recognition and layout error of the tasks of transcription, under `strict`.

    These are exploratory (our reading). The main metric alone answers which side reads better; in
    one Holm family with it, two more tests a task would take power from that answer (7 groups
    instead of 6 for one task). So they are a family of their own, adjusted among themselves, and
    `better` is always empty.
    """
    comparisons = adjust_comparisons(compare_tasks(first, second, ERRORS))
    return [replace(compared, better="") for compared in comparisons]


def compare_sides(
    first: SideScores, second: SideScores
) -> tuple[list[TaskComparison], list[OverallComparison]]:
    """`compare_tasks`, and the overall mean of each benchmark. No p value is adjusted.

    Error rates are not part of a mean of scores. A single task is its own mean, also if its metric
    is an error rate. A benchmark of which several tasks are all error rates has no mean.

    Raises:
        UsageError: as `compare_tasks`.
    """
    shared_tasks = list(_share(first, second))
    overall = []
    for benchmark in dict.fromkeys(shared.task.benchmark for shared in shared_tasks):
        own = [shared for shared in shared_tasks if shared.task.benchmark == benchmark]
        of_mean = [shared for shared in own if shared.higher_is_better] or own
        if len(of_mean) == 1 or of_mean[0].higher_is_better:
            overall.append(
                OverallComparison(
                    **_compare_mean(of_mean),
                    benchmark=benchmark,
                    tasks=tuple(_weights(of_mean)),
                    only_first=first.count_alone(second, benchmark),
                    only_second=second.count_alone(first, benchmark),
                )
            )
    return [_compare_task(shared) for shared in shared_tasks], overall


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
    adjusted = iter(holm([end.p for end in ends if end.p is not None]))
    ends = [end if end.p is None else replace(end, p_holm=next(adjusted)) for end in ends]
    return [
        end if end.p_holm is not None and end.p_holm <= LEVEL else replace(end, better="")
        for end in ends
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
    """The scores of a task's items and rounds with a value on both sides, in the same order.

    `parts` are the statistics of each side with unclear answers as wrong, `parts_if_right` as
    right. The units of independence are those of the first side.
    """

    task: Task
    query: Query
    metric: str
    declared: Metric | None
    sides: list[pl.DataFrame]
    parts: list[Columns]
    parts_if_right: list[Columns]

    @property
    def name(self) -> str:
        return f"{self.task.id}/{self.query.name}" if self.query.name else self.task.id

    @property
    def higher_is_better(self) -> bool:
        return self.declared is None or self.declared.higher_is_better

    @property
    def groups(self) -> list[str]:
        return [group or item for group, item in self.sides[0].select("group", "item").iter_rows()]

    def columns(self, side: int, right: _Right) -> Columns:
        """The statistics of the first side (0) or the second."""
        return (self.parts_if_right if right[side] else self.parts)[side]

    def ratios(self, right: _Right, numbers: Mapping[str, int], weight: float) -> list[Ratio]:
        """The parts of the value, with a column for each side; empty where it has none."""
        first, second = (self.columns(side, right) for side in (0, 1))
        columns_of_sides: Columns = {
            name: np.concatenate([column, second[name]])
            for name, column in first.items()
            if name in second
        }
        units = [numbers[group] for group in self.groups]
        sides = [0] * len(units) + [1] * len(units)
        return sum_parts(self.declared, columns_of_sides, units * 2, sides, weight=weight)


def _share(
    first: SideScores, second: SideScores, metrics: Collection[str] = ()
) -> Iterator[_SharedTask]:
    """The tasks with items that have a value on both sides, of these metrics or the main one.

    Raises:
        UsageError: the answers of the two sides were not read by the same rules and decisions.
    """
    for declared, query in [(kind, query) for kind in tasks() for query in kind.queries]:
        for metric in metrics or query.metrics(first.protocol)[:1]:
            scores = [
                side.of(declared.id, query.name, metric).filter(pl.col("value").is_not_null())
                for side in (first, second)
            ]
            places = scores[0].join(scores[1], on=PLACE, how="semi").select(PLACE).sort(PLACE)
            if places.is_empty():
                continue
            sides = [
                places.join(side, on=PLACE, how="left", maintain_order="left") for side in scores
            ]
            signatures = [side["signature"][0] for side in sides]
            _check_readings(declared, signatures)
            yield _SharedTask(
                declared,
                query,
                metric,
                declared_metric(first.protocol, declared.id, query.name, metric, signatures[0]),
                sides,
                [part_columns(side) for side in sides],
                [part_columns(side, if_right=True) for side in sides],
            )


def _check_readings(declared: Task, signatures: Sequence[str]) -> None:
    readings = [reading_of(signature) for signature in signatures]
    if len(set(readings)) > 1:
        raise UsageError(
            "the answers to {} were read in two ways, so the values cannot be compared: {} "
            "and {}. Score both runs again with the same --extractor and with one "
            "--adjudicated file, which contains the rows of both files",
            declared.id,
            *readings,
        )


def _compare_task(shared: _SharedTask) -> TaskComparison:
    return TaskComparison(
        **_compare_mean([shared]),
        task=shared.task.id,
        query=shared.query.name,
        metric=shared.metric,
    )


def _weights(shared_tasks: Sequence[_SharedTask]) -> dict[str, float]:
    """The weight of each task, by name, in the mean over domains of means over tasks."""
    domains: dict[str, list[str]] = {}
    for shared in shared_tasks:
        domains.setdefault(shared.task.domain, []).append(shared.name)
    return mean_weights(domains)


def _mean_over_domains(shared_tasks: Sequence[_SharedTask], side: int, right: _Right) -> float:
    """The mean over domains of means over tasks, as `benchmark_result` computes it."""
    domains: dict[str, list[float]] = {}
    for shared in shared_tasks:
        value = pooled_value(shared.declared, shared.columns(side, right))
        domains.setdefault(shared.task.domain, []).append(value)
    means = [sum(values) / len(values) for values in domains.values()]
    return sum(means) / len(means)


def _compare_mean(shared_tasks: Sequence[_SharedTask]) -> dict[str, Any]:
    """The fields of a `Difference` of the mean of tasks, at both ends if answers are unclear."""
    weights = _weights(shared_tasks)
    numbers = number_names(group for shared in shared_tasks for group in shared.groups)
    answers = sum(len(shared.sides[0]) for shared in shared_tasks)
    unclear = [
        sum((shared.sides[side]["if_right"].list.len() > 0).sum() for shared in shared_tasks)
        for side in (0, 1)
    ]
    counted = [
        ratio_of(counts, counts, shared.groups, numbers=numbers, weight=weights[shared.name])
        for shared in shared_tasks
        for counts in [[1.0] * len(shared.sides[0])]
    ]

    def test(right: _Right) -> dict[str, Any]:
        first, second = (_mean_over_domains(shared_tasks, side, right) for side in (0, 1))
        parts = [shared.ratios(right, numbers, weights[shared.name]) for shared in shared_tasks]
        ratios = [ratio for of_task in parts for ratio in of_task] if all(parts) else []
        shares = group_shares(ratios or counted)
        bounds = difference_interval(ratios, 0, 1) if ratios else None
        ahead = (first > second) == shared_tasks[0].higher_is_better
        return {
            "first": first,
            "second": second,
            "difference": first - second,
            "groups": shares.groups,
            "largest": shares.largest,
            "low": bounds.low if bounds else None,
            "high": bounds.high if bounds else None,
            "p": paired_p(ratios).get((0, 1)),
            "needed": FEWEST_GROUPS if ratios else None,
            "better": "first" if ahead else "second",
        }

    figures = test((False, False)) | {
        "first_if_right": _mean_over_domains(shared_tasks, 0, (True, True)),
        "second_if_right": _mean_over_domains(shared_tasks, 1, (True, True)),
        "unclear_first": unclear[0] / answers,
        "unclear_second": unclear[1] / answers,
        "items": sum(shared.sides[0]["item"].n_unique() for shared in shared_tasks),
    }
    if not any(unclear):
        return figures
    # The widest interval and the greater p of both ends.
    ends = [test((False, True)), test((True, False))]
    for name, widest in (("low", min), ("high", max), ("p", max)):
        values = [end[name] for end in ends]
        figures[name] = None if None in values else widest(values)
    fields = ("difference", "p", "better")
    return figures | {"ends": [End(**{name: end[name] for name in fields}) for end in ends]}

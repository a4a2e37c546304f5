"""`SideScores`: what a comparison needs of the scores of one side, in about 250 bytes per score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from keju.definitions import has_task, task
from keju.items import Protocol, Score
from keju.scoring.score_columns import Stats, StatsColumn

ERRORS = ("CER_recognition", "CER_layout")
"""The parts of the CER of a transcription, which are compared beside the main metric."""

Place = tuple[str, int]
"""Item and round: what both sides must have answered."""

ItemName = tuple[str, str, str]
"""Task, query and id of an item."""


class MetricOfSide:
    """The scores of one metric of a task, as columns.

    Attributes:
        first: the first score with a value; None without one.
        places: the index in the columns of each item and round with a value, in their order.
        groups: the unit of independence of each score.
        stats: the statistics of each score.
        if_right: the statistics of unclear answers if they were right, by index.
        unscored: the reasons of the items and rounds without a value.
    """

    def __init__(self) -> None:
        self.first: Score | None = None
        self.places: dict[Place, int] = {}
        self.groups: list[str] = []
        self.stats = StatsColumn()
        self.if_right: dict[int, Stats] = {}
        self.unscored: dict[Place, str] = {}

    @property
    def all_places(self) -> set[Place]:
        """All items and rounds, with a value and without."""
        return {*self.places, *self.unscored}

    def add(self, place: Place, score: Score) -> None:
        """Add a score. A later one of the same item and round replaces it."""
        if score.value is None:
            self.unscored[place] = score.reason
            return
        self.unscored.pop(place, None)
        self.first = self.first or score
        self.places[place] = len(self.groups)
        if score.if_right:
            self.if_right[len(self.groups)] = score.if_right
        self.groups.append(score.unit)
        self.stats.append(score.stats)


class SharedScores(NamedTuple):
    """The scores of a metric of two sides for the same items and rounds, in one order.

    `score` is a score of the metric, `items` the number of different items, `groups` are the
    units of independence of the first side. The columns `if_right` have unclear answers as right;
    where a side has none, they are its other ones.
    """

    score: Score
    items: int
    groups: list[str]
    first: StatsColumn
    second: StatsColumn
    first_if_right: StatsColumn
    second_if_right: StatsColumn
    unclear: tuple[int, int]


class SideScores:
    """The scores of one model in one prompt variant under one protocol, for a comparison.

    Kept are those of main metrics, and under `strict` of `ERRORS`.

    Args:
        protocol: whose main metrics are compared.
        scores: the first scores, of both protocols.
        among: the items that are compared; None for all.

    Attributes:
        tasks: the tasks with scores of the protocol, compared or not.
        reasons: the reasons of scores without a value, of both protocols, compared or not.
        dropped: the items with scores that are not among those compared.
    """

    def __init__(
        self,
        protocol: Protocol,
        scores: Iterable[Score] = (),
        *,
        among: Collection[ItemName] | None = None,
    ) -> None:
        self.protocol = protocol
        self.tasks: set[str] = set()
        self.reasons: set[str] = set()
        self.dropped: set[ItemName] = set()
        self._among = among
        self._metrics: dict[tuple[str, str, str], MetricOfSide] = {}
        self._known: dict[Place, Place] = {}
        self._compared: dict[tuple[str, str], Collection[str]] = {}
        for score in scores:
            self.add(score)

    def add(self, score: Score) -> None:
        """Add a score."""
        if score.value is None:
            self.reasons.add(score.reason)
        if score.protocol == self.protocol:
            self.tasks.add(score.task)
        name = score.task, score.query, score.item
        if self._among is not None and name not in self._among:
            self.dropped.add(name)
        elif score.protocol == self.protocol and self._is_compared(score):
            place = score.item, score.round
            self._of(score).add(self._known.setdefault(place, place), score)

    def of(self, task: str, query: str, metric: str) -> MetricOfSide:
        """The scores of a metric; without any where the side has none."""
        return self._metrics.get((task, query, metric)) or MetricOfSide()

    def items_of(self, benchmark: str) -> set[ItemName]:
        """The compared items of a benchmark, with a value and without."""
        return {
            (name, query, item)
            for (name, query, _), metric in self._metrics.items()
            if task(name).benchmark == benchmark
            for item, _ in metric.all_places
        }

    def count_dropped(self, benchmark: str) -> int:
        """The number of a benchmark's items with scores that are not among those compared."""
        return sum(
            has_task(name) and task(name).benchmark == benchmark for name, _, _ in self.dropped
        )

    def _is_compared(self, score: Score) -> bool:
        query = score.task, score.query
        if query not in self._compared:
            self._compared[query] = _compared_metrics(*query, self.protocol)
        return score.metric in self._compared[query]

    def _of(self, score: Score) -> MetricOfSide:
        key = score.task, score.query, score.metric
        if key not in self._metrics:
            self._metrics[key] = MetricOfSide()
        return self._metrics[key]


def select_shared(one: MetricOfSide, other: MetricOfSide) -> SharedScores | None:
    """The scores of the items and rounds with a value on both sides; None without such."""
    both = [place for place in one.places if place in other.places]
    if not both or one.first is None:
        return None
    own, others = ([side.places[place] for place in both] for side in (one, other))
    first, second = _select(one.stats, own), _select(other.stats, others)
    unclear_first, unclear_second = (
        {place: side.if_right[at] for place, at in enumerate(places) if at in side.if_right}
        for side, places in ((one, own), (other, others))
    )
    return SharedScores(
        score=one.first,
        items=len({item for item, _ in both}),
        groups=[one.groups[place] for place in own],
        first=first,
        second=second,
        first_if_right=first.replaced(unclear_first),
        second_if_right=second.replaced(unclear_second),
        unclear=(len(unclear_first), len(unclear_second)),
    )


def _select(stats: StatsColumn, places: Sequence[int]) -> StatsColumn:
    if len(places) == len(stats) and all(at == place for at, place in enumerate(places)):
        return stats
    selected = StatsColumn()
    for place in places:
        selected.append(stats[place])
    return selected


def _compared_metrics(task_id: str, query: str, protocol: Protocol) -> Collection[str]:
    """The main metric of a task (or one query of it), and under `strict` its `ERRORS`."""
    for each in task(task_id).queries if has_task(task_id) else ():
        if each.name == query:
            metrics = each.metrics(protocol)
            return {*metrics[:1], *(set(ERRORS) & set(metrics) if protocol == "strict" else ())}
    return ()

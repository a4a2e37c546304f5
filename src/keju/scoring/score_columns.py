"""`MetricColumns`: the scores of one metric of one task as columns, in about 50 bytes per score."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

from keju.items import Score

Stats = Mapping[str, float]


class StatsColumn(Sequence[Stats]):
    """The statistics of scores, 8 bytes per number; each access makes a new dict.

    `names` are the statistics that any score has.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._names: list[tuple[str, ...]] = []
        self._numbers: dict[tuple[str, ...], int] = {}
        self._kinds = array("H")
        self._ends = array("q")
        self._values = array("d")

    def append(self, stats: Stats) -> None:
        """Add the statistics of one score."""
        names = tuple(stats)
        kind = self._numbers.setdefault(names, len(self._numbers))
        if kind == len(self._names):
            self._names.append(names)
            self.names.update(names)
        self._kinds.append(kind)
        self._values.extend(stats.values())
        self._ends.append(len(self._values))

    def replaced(self, others: Mapping[int, Stats]) -> StatsColumn:
        """The column with other statistics at some places; itself if there are none."""
        if not others:
            return self
        column = StatsColumn()
        for place, stats in enumerate(self):
            column.append(others.get(place, stats))
        return column

    def totals(self, *names: str) -> list[float]:
        """The sums of some statistics over all scores, which have them.

        Raises:
            KeyError: a score does not have one.
        """
        return [self._total(name) for name in names]

    def _total(self, name: str) -> float:
        if any(name not in names for names in self._names):
            raise KeyError(name)
        before = [names.index(name) - len(names) for names in self._names]
        places = zip(self._kinds, self._ends, strict=True)
        return sum(self._values[end + before[kind]] for kind, end in places)

    def __len__(self) -> int:
        return len(self._kinds)

    @overload
    def __getitem__(self, place: int) -> Stats: ...
    @overload
    def __getitem__(self, place: slice) -> list[Stats]: ...
    def __getitem__(self, place: int | slice) -> Stats | list[Stats]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        names, end = self._names[self._kinds[place]], self._ends[place]
        return dict(zip(names, self._values[end - len(names) : end], strict=True))

    def __iter__(self) -> Iterator[Stats]:
        start = 0
        for kind, end in zip(self._kinds, self._ends, strict=True):
            yield dict(zip(self._names[kind], self._values[start:end], strict=True))
            start = end


class MetricColumns:
    """The scores of one metric: what a `MetricResult` needs of them, in their order.

    Attributes:
        signed: the first score with a signature, or else the first score.
        first_scored: the first score with a value; None without one.
        count: the number of scores.
        statuses: scores by status of the response.
        verdicts: scores by verdict.
        unscored: scores without a value by reason.
        values: the values that exist.
        stats: the statistics of the scores with a value.
        read_by: scores with a value by who read the answer; only of scores that read one.
    """

    def __init__(self, first: Score) -> None:
        self.signed = first
        self.first_scored: Score | None = None
        self.count = 0
        self.statuses: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.unscored: Counter[str] = Counter()
        self.values = array("d")
        self.stats = StatsColumn()
        self.read_by: Counter[str] = Counter()
        self._is_answered = bytearray()
        self._if_right: dict[int, Stats] = {}

    @property
    def answered(self) -> StatsColumn:
        """The statistics of the scores with a value whose response is an answer."""
        if all(self._is_answered):
            return self.stats
        kept = StatsColumn()
        for stats, answered in zip(self.stats, self._is_answered, strict=True):
            if answered:
                kept.append(stats)
        return kept

    @property
    def stats_if_right(self) -> StatsColumn:
        """The statistics if all unclear answers were right; `stats` where none is unclear."""
        return self.stats.replaced(self._if_right)

    def add(self, score: Score) -> None:
        """Add one score."""
        if score.signature and not self.signed.signature:
            self.signed = score
        self.count += 1
        self.statuses[score.status] += 1
        self.verdicts[score.verdict] += 1
        if score.value is None:
            self.unscored[score.reason] += 1
            return
        self.first_scored = self.first_scored or score
        if score.read_by:
            self.read_by[score.read_by] += 1
        if score.if_right:
            self._if_right[len(self.values)] = score.if_right
        self.values.append(score.value)
        self.stats.append(score.stats)
        self._is_answered.append(score.status == "answered")

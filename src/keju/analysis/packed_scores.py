"""`ScorePacker`: scores as small rows; `ScoreList` and `ResponseScores`, lists of them on disk."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from sys import intern
from typing import Literal, NamedTuple, overload

import msgspec

from keju.items import PromptScript, Protocol, ReadBy, Score, Setting, Status
from keju.runs import RecordList


class _Kind(NamedTuple):
    """The fields that all scores of a metric have in common."""

    model: str
    benchmark: str
    task: str
    query: str
    protocol: Protocol
    metric: str
    setting: Setting
    script: PromptScript
    wording: str
    signature: str
    stats: tuple[str, ...]


class _Row(msgspec.Struct, array_like=True, frozen=True):
    kind: int
    value: float | None
    stats: list[float]
    round: int
    status: Status
    verdict: str
    reason: str
    extracted: str
    extracted_from: str
    read_by: ReadBy | Literal[""]
    if_right: dict[str, float]


class PackedScores(msgspec.Struct, array_like=True, frozen=True):
    """Scores with the same item, key of the response, and group, as a `ScorePacker` wrote them."""

    item: str
    key: str
    group: str
    rows: list[_Row]


class ScorePacker:
    """Packs scores in rows of their values; texts that scores share are in memory once."""

    def __init__(self) -> None:
        self._numbers: dict[_Kind, int] = {}
        self._kinds: list[_Kind] = []

    def pack(self, scores: Iterable[Score]) -> Iterator[PackedScores]:
        """Pack neighbouring scores of the same item, response and group together."""
        for (item, key, group), own in groupby(scores, lambda s: (s.item, s.key, s.group)):
            yield PackedScores(item, key, group, list(map(self._row, own)))

    def unpack(self, packed: PackedScores) -> Iterator[Score]:
        """The scores, with the model's name that they had."""
        for row in packed.rows:
            kind = self._kinds[row.kind]
            yield Score(
                key=packed.key,
                item=packed.item,
                model=kind.model,
                benchmark=kind.benchmark,
                task=kind.task,
                protocol=kind.protocol,
                metric=kind.metric,
                value=row.value,
                query=kind.query,
                setting=kind.setting,
                script=kind.script,
                wording=kind.wording,
                round=row.round,
                group=packed.group,
                status=intern(row.status),  # type: ignore[arg-type]
                verdict=intern(row.verdict),
                reason=row.reason,
                extracted=row.extracted,
                extracted_from=row.extracted_from,
                stats=dict(zip(kind.stats, row.stats, strict=True)),
                signature=kind.signature,
                read_by=row.read_by,
                if_right=row.if_right,
            )

    def _row(self, score: Score) -> _Row:
        kind = _Kind(
            score.model, score.benchmark, score.task, score.query, score.protocol, score.metric,
            score.setting, score.script, score.wording, score.signature, tuple(score.stats),
        )  # fmt: skip
        number = self._numbers.setdefault(kind, len(self._numbers))
        if number == len(self._kinds):
            self._kinds.append(kind)
        return _Row(
            number, score.value, list(score.stats.values()), score.round, score.status,
            score.verdict, score.reason, score.extracted, score.extracted_from, score.read_by,
            score.if_right,
        )  # fmt: skip


class ScoreList(Sequence[Score]):
    """A list of scores to which scores are only appended; a long one is on disk (`RecordList`).

    Each access makes a new record. Extracted answers and keys of responses are not stored: no mean,
    interval or comparison uses them.
    """

    def __init__(self, packer: ScorePacker) -> None:
        self._packer = packer
        self._packed: RecordList[PackedScores] = RecordList(PackedScores)

    def append(self, score: Score) -> None:
        """Add a score at the end."""
        slim = msgspec.structs.replace(score, key="", extracted="", extracted_from="")
        for packed in self._packer.pack([slim]):
            self._packed.append(packed)

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, place: int) -> Score: ...
    @overload
    def __getitem__(self, place: slice) -> list[Score]: ...
    def __getitem__(self, place: int | slice) -> Score | list[Score]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        return next(self._packer.unpack(self._packed[place]))

    def __iter__(self) -> Iterator[Score]:
        known: dict[str, str] = {}
        for packed in self._packed:
            item = known.setdefault(packed.item, packed.item)
            group = known.setdefault(packed.group, packed.group)
            same = PackedScores(item, "", group, packed.rows)
            yield from self._packer.unpack(same)


class ResponseScores:
    """The scores of one model by item and key of the response; many are on disk (`RecordList`).

    In memory are about 170 bytes per response.

    Args:
        scores: the scores of the model; those of a response need not be neighbours.
    """

    def __init__(self, scores: Iterable[Score] = ()) -> None:
        self._packer = ScorePacker()
        self._packed: RecordList[PackedScores] = RecordList(PackedScores)
        self._places: dict[int, int | tuple[int, ...]] = {}
        self._items: set[str] = set()
        for packed in self._packer.pack(scores):
            number = hash((packed.item, packed.key))
            here = len(self._packed)
            before = self._places.get(number)
            if before is None:
                self._places[number] = here
            else:
                self._places[number] = (*_as_tuple(before), here)
            self._packed.append(packed)

    def of(self, item: str, key: str) -> list[Score]:
        """The scores of a response in their order; none where it has none."""
        places = self._places.get(hash((item, key)), ())
        found = (self._packed[place] for place in _as_tuple(places))
        return [
            score
            for packed in found
            if (packed.item, packed.key) == (item, key)
            for score in self._packer.unpack(packed)
        ]

    @property
    def items(self) -> Collection[str]:
        """The items with scores."""
        if not self._items:
            self._items.update(packed.item for packed in self._packed)
        return self._items


def _as_tuple(places: int | tuple[int, ...]) -> tuple[int, ...]:
    return places if isinstance(places, tuple) else (places,)

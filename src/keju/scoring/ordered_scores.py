"""`OrderedScores`: the scores of one model, added in any order, in the order of the run's items."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from typing import overload

import numpy as np
from msgspec.structs import replace

from keju.items import PromptVariant, Score, variant_of
from keju.runs import RecordList


class OrderedScores(Sequence[Score]):
    """Scores sorted by item, round and prompt variant, then by the index in which they were made.

    Many scores are on disk (`RecordList`); about 40 bytes of memory are used per score.
    """

    def __init__(self) -> None:
        self._scores: RecordList[Score] = RecordList(Score)
        self._keys = array("q")
        self._variants: dict[PromptVariant, int] = {}

    def add(self, score: Score, *, place: int, index: int) -> None:
        """Add a score of the item at `place`; `index` is its number among all scores."""
        self._scores.append(score)
        variant = self._variants.setdefault(variant_of(score), len(self._variants))
        self._keys.extend((place, score.round, variant, index))

    def sort(self) -> None:
        """Sort the scores; call it once, after the last `add`."""
        ranks = np.empty(len(self._variants), np.int64)
        for rank, variant in enumerate(sorted(self._variants)):
            ranks[self._variants[variant]] = rank
        place, turn, variant, index = self._table().T
        order = np.lexsort((index, ranks[variant], turn, place))
        if not np.array_equal(order, np.arange(len(order))):
            self._scores = RecordList(Score, (self._scores[int(each)] for each in order))
        del place, turn, variant, index
        self._keys = array("q")

    def as_made(self) -> list[Score]:
        """All scores in the order of their indices, in memory."""
        order = np.argsort(self._table()[:, 3], kind="stable")
        return [self._scores[int(each)] for each in order]

    def sign(self, part: str) -> None:
        """Add a part to all signatures: how the images or prompts differ."""
        signed = cache(lambda signature: f"{signature}|{part}" if signature else "")
        self._scores = RecordList(
            Score,
            (replace(score, signature=signed(score.signature)) for score in self._scores),
        )

    def __len__(self) -> int:
        return len(self._scores)

    @overload
    def __getitem__(self, place: int) -> Score: ...
    @overload
    def __getitem__(self, place: slice) -> list[Score]: ...
    def __getitem__(self, place: int | slice) -> Score | list[Score]:
        return self._scores[place]

    def __iter__(self) -> Iterator[Score]:
        return iter(self._scores)

    def _table(self) -> np.ndarray:
        return np.frombuffer(self._keys, np.int64).reshape(-1, 4)

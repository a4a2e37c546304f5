"""Which characters are read for which: variants and the other script's forms folded together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from keju.reporting.differences import Difference
from keju.text import normalise

_MOST = 40
_LEAST = 2


class Confusion(NamedTuple):
    """A character of the truth and what was read for it, empty if it was passed over.

    `times` counts all models but baselines, each item once a round; `of` is how often the character
    stood there to be read; `models` is how many made the mistake.
    """

    truth: str
    read: str
    times: int
    of: int
    models: int


class Mistakes:
    """Gathers the mistakes of transcriptions, answer by answer.

    Answers that hold more than half as many mistakes as the truth has characters are left out: an
    alignment of texts that have little in common says nothing about single characters.
    """

    def __init__(self) -> None:
        self._there: Counter[str] = Counter()
        self._made: Counter[tuple[str, str]] = Counter()
        self._models: dict[tuple[str, str], set[str]] = {}

    def add(self, model: str, parts: Iterable[Difference]) -> None:
        """Take in how one answer of a model differs from its truth."""
        there: Counter[str] = Counter()
        made: Counter[tuple[str, str]] = Counter()
        for part in parts:
            folded = [normalise(char) for char in part.truth]
            there.update(folded)
            if part.kind == "sub":
                made.update(zip(folded, map(normalise, part.answer), strict=True))
            elif part.kind == "del":
                made.update((char, "") for char in folded)
        if 2 * made.total() <= there.total():
            self._there.update(there)
            self._made.update(made)
            for pair in made:
                self._models.setdefault(pair, set()).add(model)

    def commonest(self) -> list[Confusion]:
        """The commonest mistakes, those that came twice or more, all tasks together."""
        order = sorted(self._made.items(), key=lambda each: (-each[1], each[0]))
        return [
            Confusion(pair[0], pair[1], times, self._there[pair[0]], len(self._models[pair]))
            for pair, times in order[:_MOST]
            if times >= _LEAST
        ]

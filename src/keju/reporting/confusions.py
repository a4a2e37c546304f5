"""Which characters each model misreads: variants and the other script's forms count as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from keju.reporting.differences import Difference
from keju.text import normalise

_MOST = 40
_LEAST = 2
_MOST_FORMS = 4
_MOST_MAIN, _MAIN_TIMES, _MAIN_SHARE = 3, 5, 0.05

_Pair = tuple[str, str]


class Confusion(NamedTuple):
    """A character of the reference and what was read for it, empty if it was passed over.

    Both are as they are in the reference and in the answer, in the commonest pair of forms; `forms`
    are the other pairs that are the same once variants and scripts are folded, with their counts.
    `times` counts all of them, each item once a round; `of` is how often the character occurs in
    the reference, in any form.
    """

    truth: str
    read: str
    times: int
    of: int
    forms: tuple[tuple[str, str, int], ...] = ()


class Misread(NamedTuple):
    """A model's mistakes; `left_out` of its `pages` are mostly wrong and therefore not counted.

    `mistakes` are all characters that were misread or passed over on the pages that count.
    """

    model: str
    pages: int
    left_out: int
    mistakes: int
    confusions: list[Confusion]

    @property
    def main(self) -> list[Confusion]:
        """The confusions that carry weight: 5 times or more, and 5 % of the mistakes or more."""
        return [
            each
            for each in self.confusions[:_MOST_MAIN]
            if each.times >= _MAIN_TIMES and each.times >= _MAIN_SHARE * self.mistakes
        ]


class _Counts:
    """The mistakes of one model; both counters have folded characters as keys."""

    def __init__(self) -> None:
        self.pages = 0
        self.left_out = 0
        self.there: Counter[str] = Counter()
        self.made: dict[_Pair, Counter[_Pair]] = {}


class Mistakes:
    """Gathers the mistakes of transcriptions, answer by answer.

    An answer with more than half as many mistakes as the reference has characters is left out and
    counted: an alignment of texts that have little in common says nothing about single characters.
    """

    def __init__(self) -> None:
        self._models: dict[str, _Counts] = {}

    def add(self, model: str, parts: Iterable[Difference]) -> None:
        """Take in how one answer of a model differs from its reference."""
        there: Counter[str] = Counter()
        made: Counter[_Pair] = Counter()
        for part in parts:
            there.update(map(normalise, part.truth))
            if part.kind == "sub":
                made.update(zip(part.truth, part.answer, strict=True))
            elif part.kind == "del":
                made.update((char, "") for char in part.truth)
        if not there:
            return
        counts = self._models.setdefault(model, _Counts())
        counts.pages += 1
        if 2 * made.total() > there.total():
            counts.left_out += 1
            return
        counts.there.update(there)
        for (truth, read), times in made.items():
            forms = counts.made.setdefault((normalise(truth), normalise(read)), Counter())
            forms[truth, read] += times

    def commonest(self) -> list[Misread]:
        """Of each model its commonest mistakes, those made twice or more, all tasks together."""
        return [
            Misread(
                model,
                counts.pages,
                counts.left_out,
                sum(forms.total() for forms in counts.made.values()),
                list(map(_confusion, *_sorted(counts))),
            )
            for model, counts in self._models.items()
        ]


def _sorted(counts: _Counts) -> tuple[list[Counter[_Pair]], list[int]]:
    """The commonest mistakes by their forms, and how often each one's character occurs."""
    order = sorted(counts.made.items(), key=lambda each: (-each[1].total(), each[0]))
    kept = [(pair, forms) for pair, forms in order[:_MOST] if forms.total() >= _LEAST]
    return [forms for _, forms in kept], [counts.there[pair[0]] for pair, _ in kept]


def _confusion(forms: Counter[_Pair], of: int) -> Confusion:
    (first, _), *others = sorted(forms.items(), key=lambda each: (-each[1], each[0]))
    shown = tuple((truth, read, times) for (truth, read), times in others[:_MOST_FORMS])
    return Confusion(*first, forms.total(), of, shown)

"""Confusions: the characters that each model misreads; variants and scripts count as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from keju.analysis.differences import Difference
from keju.text import normalise

_MOST = 40
_LEAST = 2
_MOST_FORMS = 4
_MOST_MAIN, _MAIN_TIMES, _MAIN_SHARE = 3, 5, 0.05

_Pair = tuple[str, str]


class Confusion(NamedTuple):
    """A character of the reference and the recognised one, empty if it was omitted.

    Both are as in the reference and in the answer, in the most frequent pair of forms; `forms` are
    the other pairs that are the same after folding variants and scripts, with their counts. `times`
    counts all of them, each item once per round; `of` is the frequency of the character in the
    reference, in any form.
    """

    truth: str
    read: str
    times: int
    of: int
    forms: tuple[tuple[str, str, int], ...] = ()


class Misread(NamedTuple):
    """A model's mistakes; `left_out` of its `pages` are mostly wrong and therefore not counted.

    `mistakes` are all characters that were misread or omitted on the counted pages.
    """

    model: str
    pages: int
    left_out: int
    mistakes: int
    confusions: list[Confusion]

    @property
    def main(self) -> list[Confusion]:
        """The main confusions: at least 5 times, and at least 5 % of the mistakes."""
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
    """Collects the mistakes of transcriptions, answer by answer.

    An answer with more than half as many mistakes as the reference has characters is excluded and
    counted: an alignment of texts with little in common is meaningless for single characters.
    """

    def __init__(self) -> None:
        self._models: dict[str, _Counts] = {}

    def add(self, model: str, parts: Iterable[Difference]) -> None:
        """Add the difference of a model's answer from its reference."""
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
        """The most frequent mistakes of each model, made at least twice, over all tasks."""
        return [
            Misread(
                model,
                counts.pages,
                counts.left_out,
                sum(forms.total() for forms in counts.made.values()),
                list(map(_confusion, *_sort_mistakes(counts))),
            )
            for model, counts in self._models.items()
        ]


def _sort_mistakes(counts: _Counts) -> tuple[list[Counter[_Pair]], list[int]]:
    """The most frequent mistakes by their forms, and the frequency of each one's character."""
    order = sorted(counts.made.items(), key=lambda each: (-each[1].total(), each[0]))
    kept = [(pair, forms) for pair, forms in order[:_MOST] if forms.total() >= _LEAST]
    return [forms for _, forms in kept], [counts.there[pair[0]] for pair, _ in kept]


def _confusion(forms: Counter[_Pair], of: int) -> Confusion:
    (first, _), *others = sorted(forms.items(), key=lambda each: (-each[1], each[0]))
    shown = tuple((truth, read, times) for (truth, read), times in others[:_MOST_FORMS])
    return Confusion(*first, forms.total(), of, shown)

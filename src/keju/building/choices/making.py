"""Options for a question, taken from the answers to other questions of its kind.

Blind guessing must not score above chance, so nothing about an option may depend on its being the
answer: every answer of a pool is a wrong option as many times more often than the right one as
there are wrong options per right one, options have similar length and script, and each letter is
the answer equally often.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import count, islice
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from keju.building.dedup.canonical import fold_text
from keju.building.sampling import Weights
from keju.errors import number_of
from keju.text.han import has_han
from keju.text.scripts import in_script

_NEAR_LENGTH = 0.34
"""The largest difference of two similar lengths, as a share of the longer; one character is always
permitted."""

_STEPS = 20_000
"""The number of answers, and of sets of options, tried for one question before it is dropped."""

_SCRIPTS = ("Hans", "Han", "Hant", "digits", "Latin", "marks")
_HAN = frozenset({"Hans", "Han", "Hant"})


class OpenQuestion(NamedTuple):
    """A question without options.

    `pool` names the kind of its answer; other answers of the pool may become its options. `also`
    are other right answers to it, which may not.
    """

    id: str
    pool: str
    answer: str
    also: frozenset[str] = frozenset()


class Choice(NamedTuple):
    """Options in order, and the position of the answer among them."""

    options: tuple[str, ...]
    place: int


class ChoiceSet(NamedTuple):
    """Choices by the questions' ids, and the reasons why the others have none."""

    choices: dict[str, Choice]
    reasons: dict[str, str]


def make_choices(
    asked: Sequence[OpenQuestion], options: int, rng: np.random.Generator
) -> ChoiceSet:
    """Make options for each question, with the answers spread evenly over the letters.

    No option contains another, is a variant, traditional or simplified form of another, or another
    right answer. Each letter is the answer of as many questions as any other, or of one more.

    `options` is their number, including the answer; 2 or more. The same questions and the same
    state of `rng` give the same choices.
    """
    pools: defaultdict[str, list[OpenQuestion]] = defaultdict(list)
    for each in asked:
        pools[each.pool].append(each)
    wrong: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for name, pool in pools.items():
        for each, found in _find_distractors(pool, options - 1, rng):
            if found is None:
                reasons[each.id] = (
                    f"fewer than {options - 1} of the "
                    f"{number_of(_count_distinct(pool), 'answer')} of pool {name!r} "
                    "can be an option of it"
                )
            else:
                wrong[each.id] = found
    answered = [each for each in asked if each.id in wrong]
    places = spread_answers(len(answered), options, rng)
    choices = {}
    for each, place in zip(answered, places, strict=True):
        others = [wrong[each.id][at] for at in rng.permutation(options - 1)]
        choices[each.id] = Choice((*others[:place], each.answer, *others[place:]), place)
    return ChoiceSet(choices, reasons)


def spread_answers(questions: int, options: int, rng: np.random.Generator) -> list[int]:
    """Choose a position for each answer: each equally often or once more, in random order."""
    first = rng.permutation(options)
    return [int(first[at % options]) for at in rng.permutation(questions)]


@lru_cache(maxsize=100_000)
def normalise_option(text: str) -> str:
    """Remove punctuation and white space; simplify characters and replace variants."""
    return fold_text(text, simplify=True)


def _count_distinct(pool: Sequence[OpenQuestion]) -> int:
    return len({normalise_option(each.answer) for each in pool})


def _find_distractors(
    pool: Sequence[OpenQuestion], wanted: int, rng: np.random.Generator
) -> Iterator[tuple[OpenQuestion, list[str] | None]]:
    """Find wrong options for each question of a pool; None where there are too few."""
    shelf = _AnswerPool(pool, wanted, rng)
    for at in rng.permutation(len(pool)):
        each = pool[at]
        right = {normalise_option(text) for text in (each.answer, *each.also)}
        # An empty text is part of every other answer.
        yield each, None if "" in right else shelf.take(each.answer, right, wanted)


class _AnswerPool:
    """The different answers of a pool, by script and length, each with its remaining quota."""

    def __init__(self, pool: Sequence[OpenQuestion], wanted: int, rng: np.random.Generator) -> None:
        forms: dict[str, str] = {}
        for each in pool:
            if normalise_option(each.answer):
                forms.setdefault(normalise_option(each.answer), each.answer)
        owed = Counter(normalise_option(each.answer) for each in pool)
        self._rng = rng
        self._values = sorted(forms, key=lambda value: _get_place(forms[value]))
        self._forms = [forms[value] for value in self._values]
        self._places = [_get_place(form) for form in self._forms]
        self._owed = [owed[value] * wanted for value in self._values]
        self._weights = Weights(map(_compute_weight, self._owed))

    def take(self, answer: str, right: Set[str], wanted: int) -> list[str] | None:
        """Take answers that do not clash: similar ones first, then by their remaining quota."""
        drawn: list[int] = []
        found = self._choose(self._draw(answer, drawn), right, wanted)
        for at in found or ():
            self._owed[at] -= 1
        for at in drawn:
            self._weights[at] = _compute_weight(self._owed[at])
        return None if found is None else [self._forms[at] for at in found]

    def _choose(self, places: Iterator[int], right: Set[str], wanted: int) -> list[int] | None:
        values, steps = self._values, iter(range(_STEPS))
        fit = (at for at in places if not _has_clash(values[at], right))
        seen: list[int] = []

        def search(start: int, taken: list[int]) -> list[int] | None:
            if len(taken) == wanted:
                return taken
            for turn in count(start):
                if turn == len(seen):
                    seen.extend(islice(fit, 1))
                if turn == len(seen) or next(steps, None) is None:
                    return None
                if not _has_clash(values[seen[turn]], [values[at] for at in taken]):
                    found = search(turn + 1, [*taken, seen[turn]])
                    if found is not None:
                        return found
            return None

        return search(0, [])

    def _draw(self, answer: str, drawn: list[int]) -> Iterator[int]:
        """Draw positions by weight: similar answers, then the same script, then others."""
        for ranges in self._iter_ranges(answer):
            while len(drawn) < _STEPS:
                weighted = [range(*map(self._weights.sum_before, ends)) for ends in ranges]
                total = sum(map(len, weighted))
                if not total:
                    break
                at = self._weights.find(_get_nth(weighted, int(self._rng.integers(total))))
                self._weights[at] = 0
                drawn.append(at)
                yield at

    def _iter_ranges(self, answer: str) -> Iterator[list[tuple[int, int]]]:
        """Yield ranges of answers around one: similar length, then the same script, then all."""
        script, length = _get_place(answer)
        kin = [other for other in range(len(_SCRIPTS)) if _is_compatible(script, other)]
        least = ceil(length - max(1, _NEAR_LENGTH * length))
        most = max(length + 1, floor(length / (1 - _NEAR_LENGTH)))
        yield [self._find_range((other, least), (other, most + 1)) for other in kin]
        yield [self._find_range((other, 0), (other + 1, 0)) for other in kin]
        yield [(0, len(self._values))]

    def _find_range(self, low: tuple[int, int], high: tuple[int, int]) -> tuple[int, int]:
        return bisect_left(self._places, low), bisect_left(self._places, high)


def _get_nth(ranges: Iterable[range], number: int) -> int:
    """Return the nth number of several ranges, counted through them; it must exist."""
    for each in ranges:
        if number < len(each):
            return each[number]
        number -= len(each)
    raise IndexError(number)


def _has_clash(value: str, others: Iterable[str]) -> bool:
    return any(value in each or each in value for each in others)


def _compute_weight(owed: int) -> int:
    """Compute the weight of an answer: 100 times the square of its remaining quota; at least 1."""
    return 100 * owed * owed if owed > 0 else 1


def _get_place(text: str) -> tuple[int, int]:
    return _SCRIPTS.index(_classify_script(text)), len(text)


def _is_compatible(one: int, other: int) -> bool:
    """Return whether two scripts are compatible; a text that is the same in both fits either."""
    first, second = _SCRIPTS[one], _SCRIPTS[other]
    return first == second or ("Han" in (first, second) and {first, second} <= _HAN)


@lru_cache(maxsize=100_000)
def _classify_script(text: str) -> str:
    """Classify the script of a text: Hant or Hans where only one is possible, else Han."""
    if has_han(text):
        traditional = in_script(text, "simplified") != text
        simplified = in_script(text, "traditional") != text
        return {(True, False): "Hant", (False, True): "Hans"}.get((traditional, simplified), "Han")
    if any(map(str.isdigit, text)):
        return "digits"
    return "Latin" if any(map(str.isalpha, text)) else "marks"

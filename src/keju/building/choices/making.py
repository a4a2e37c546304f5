"""Options for a question, out of the answers to others of its kind (MCS-Bench M1).

Guessing blind must pay no more than chance, so nothing about an option may depend on its being the
answer: every answer of a pool is shown as a wrong option as many times more than as the right one
as there are wrong options to a right one, neighbours in length and script stand together, and each
letter is the answer equally often.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from keju.building.dedup.canonical import folded
from keju.text.han import is_han
from keju.text.scripts import in_script

_NEAR_LENGTH = 0.34
"""Share of the longer by which two lengths may differ; one character is always near."""

_NEED = 2.0
"""How strongly a value that is owed more appearances is preferred."""

_STEPS = 20_000
"""Sets of options looked at for one question before it is given up."""


class Asked(NamedTuple):
    """A question that waits for options.

    `pool` names the kind of its answer, whose other answers may stand beside it; `also` are other
    right answers to it, which may not.
    """

    id: str
    pool: str
    answer: str
    also: frozenset[str] = frozenset()


class Choice(NamedTuple):
    """Options in order, and the place of the answer among them."""

    options: tuple[str, ...]
    place: int


class Made(NamedTuple):
    """Choices by the questions' ids, and why there are none for the others."""

    choices: dict[str, Choice]
    reasons: dict[str, str]


def make_choices(asked: Sequence[Asked], options: int, rng: np.random.Generator) -> Made:
    """Options for each question, answers spread evenly over the letters.

    No option contains another, nor is a variant, traditional or simplified form of another, nor
    another right answer. Each letter is the answer of as many questions as any other, or of one
    more.

    Args:
        asked: questions, each with an id of its own.
        options: on offer for each, the answer among them; 2 or more.
        rng: decides; the same questions and the same state give the same choices.
    """
    pools: defaultdict[str, list[Asked]] = defaultdict(list)
    for each in asked:
        pools[each.pool].append(each)
    wrong: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for name, pool in pools.items():
        for each, found in _distractors(pool, options - 1, rng):
            if found is None:
                reasons[each.id] = (
                    f"fewer than {options - 1} of the {_distinct(pool)} answers of pool {name!r} "
                    "can stand beside it"
                )
            else:
                wrong[each.id] = found
    answered = [each for each in asked if each.id in wrong]
    places = spread(len(answered), options, rng)
    choices = {}
    for each, place in zip(answered, places, strict=True):
        others = [wrong[each.id][at] for at in rng.permutation(options - 1)]
        choices[each.id] = Choice((*others[:place], each.answer, *others[place:]), place)
    return Made(choices, reasons)


def spread(questions: int, options: int, rng: np.random.Generator) -> list[int]:
    """A place for each question's answer: each equally often or once more, in random order."""
    first = rng.permutation(options)
    return [int(first[at % options]) for at in rng.permutation(questions)]


@lru_cache(maxsize=100_000)
def plain(text: str) -> str:
    """A text without marks and white space, its variant and traditional characters folded."""
    return folded(text, simplify=True)


def clash(one: str, other: str) -> bool:
    """Whether two options cannot stand together: one says what the other says, or contains it."""
    first, second = plain(one), plain(other)
    return first in second or second in first


def _distinct(pool: Sequence[Asked]) -> int:
    return len({plain(each.answer) for each in pool})


def _distractors(
    pool: Sequence[Asked], wanted: int, rng: np.random.Generator
) -> Iterator[tuple[Asked, list[str] | None]]:
    """Wrong options for each question of a pool; None where they cannot be found."""
    forms: dict[str, str] = {}
    for each in pool:
        if plain(each.answer):
            forms.setdefault(plain(each.answer), each.answer)
    owed = Counter(plain(each.answer) for each in pool)
    for value in owed:
        owed[value] *= wanted
    for at in rng.permutation(len(pool)):
        each = pool[at]
        wrong = (each.answer, *each.also)
        values = [
            value for value, form in forms.items() if not any(clash(form, not_) for not_ in wrong)
        ]
        found = _chosen(each.answer, values, forms, owed, wanted, rng) if each.answer else None
        for value in found or ():
            owed[value] -= 1
        yield each, None if found is None else [forms[value] for value in found]


def _chosen(
    answer: str,
    values: Sequence[str],
    forms: Mapping[str, str],
    owed: Mapping[str, int],
    wanted: int,
    rng: np.random.Generator,
) -> list[str] | None:
    """As many values that do not clash: neighbours first, then by what each is owed."""
    draw = rng.gumbel(size=len(values))
    keys = {
        value: (_distance(answer, forms[value]), -_NEED * np.log(max(owed[value], 0.1)) - chance)
        for value, chance in zip(values, draw, strict=True)
    }
    ordered = sorted(values, key=keys.__getitem__)
    steps = iter(range(_STEPS))

    def search(start: int, taken: list[str]) -> list[str] | None:
        if len(taken) == wanted:
            return taken
        for at in range(start, len(ordered) - (wanted - len(taken)) + 1):
            if next(steps, None) is None:
                return None
            value = ordered[at]
            if not any(value in each or each in value for each in taken):
                found = search(at + 1, [*taken, value])
                if found is not None:
                    return found
        return None

    return search(0, [])


def _distance(one: str, other: str) -> int:
    """0 for neighbours, 1 for the same script alone, 2 for another script."""
    first, second = _script(one), _script(other)
    if (
        first != second
        and {first, second} != {"Han", "Hant"}
        and {first, second} != {"Han", "Hans"}
    ):
        return 2
    shorter, longer = sorted((len(one), len(other)))
    return 0 if longer - shorter <= max(1, _NEAR_LENGTH * longer) else 1


@lru_cache(maxsize=100_000)
def _script(text: str) -> str:
    """What a text is written in; Hant or Hans where it can be but one of them, else Han."""
    if any(map(is_han, text)):
        traditional = in_script(text, "simplified") != text
        simplified = in_script(text, "traditional") != text
        return {(True, False): "Hant", (False, True): "Hans"}.get((traditional, simplified), "Han")
    if any(map(str.isdigit, text)):
        return "digits"
    return "Latin" if any(map(str.isalpha, text)) else "marks"

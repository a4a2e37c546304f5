"""Leak checks of options: by length, letter, frequency, and by a blind guesser."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from keju.building.choices.guessing import guess_blindly
from keju.building.choices.making import normalise_option
from keju.definitions import options_of
from keju.errors import number_of
from keju.items import Item, get_group
from keju.statistics import group_bootstrap, holm

LEVEL = 0.01
"""Family-wise error of one task's checks (Holm): a set without leaks fails one time in a hundred.
"""

FEWEST = 20
"""The minimum number of questions of a check."""

_DRAWS = 2000
_SHOWN = 3
_SEED = 45


class Question(NamedTuple):
    """A multiple-choice question as the checks see it, without its images."""

    id: str
    group: str
    asked: str
    options: tuple[str, ...]
    place: int


class LeakCheck(Struct, frozen=True):
    """One check of one task.

    `seen` is the share (of `position` and `frequency`: the statistic) that was found in
    `questions`, `expected` the value by chance, `low` and `high` its 95 % interval where it is a
    share (else NaN), `p` the probability of such a value by chance, `adjusted` the same for all
    checks of the task (Holm). `verdict` is ``leak``, ``clean`` or ``too few``.
    """

    task: str
    check: str
    questions: int
    seen: float
    expected: float
    low: float
    high: float
    p: float
    adjusted: float
    verdict: str
    note: str


class OptionUse(Struct, frozen=True):
    """How often a text is the answer and how often a wrong option in one task."""

    task: str
    option: str
    right: int
    wrong: int


class _CheckResult(NamedTuple):
    questions: int
    seen: float = float("nan")
    expected: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    p: float = 1.0
    note: str = ""


def list_questions(items: Iterable[Item]) -> dict[str, list[Question]]:
    """List the questions of the test split with one letter as answer, by benchmark and task."""
    found: defaultdict[str, list[Question]] = defaultdict(list)
    for item in items:
        if item.split == "reference":
            continue
        options = options_of(item)
        letter = item.answer.strip()
        if len(options) > 1 and len(letter) == 1 and letter in ascii_uppercase[: len(options)]:
            place = ascii_uppercase.index(letter)
            asked = item.question if item.options else item.question.partition(options[0])[0]
            question = Question(item.id, get_group(item), asked, options, place)
            found[f"{item.benchmark} {item.task}"].append(question)
    return dict(found)


def check_choices(items: Iterable[Item]) -> list[LeakCheck]:
    """Run all checks on all tasks with letters.

    Raises:
        DataError: an item's task is not in the catalogue.
    """
    rows = []
    for task, questions in list_questions(items).items():
        found = {name: check(questions) for name, check in CHECKS.items()}
        adjusted = holm([each.p for each in found.values()])
        rows += [
            _make_row(task, name, each, p)
            for (name, each), p in zip(found.items(), adjusted, strict=True)
        ]
    return rows


def count_option_use(items: Iterable[Item]) -> list[OptionUse]:
    """Count the use of every option, the most frequent first."""
    rows = []
    for task, questions in list_questions(items).items():
        shown = Counter(option for question in questions for option in question.options)
        right = Counter(question.options[question.place] for question in questions)
        rows += [
            OptionUse(task, option, right[option], number - right[option])
            for option, number in sorted(shown.items(), key=lambda use: (-use[1], use[0]))
        ]
    return rows


def describe_leaks(checks: Iterable[LeakCheck]) -> list[str]:
    """Describe each leak in a line."""
    return [
        f"{check.task}: leak by {check.check}: {check.seen:.3g} against {check.expected:.3g} by "
        f"chance in {number_of(check.questions, 'question')} (p {check.adjusted:.2g}); {check.note}"
        for check in checks
        if check.verdict == "leak"
    ]


def _make_row(task: str, name: str, found: _CheckResult, adjusted: float) -> LeakCheck:
    verdict = "leak" if adjusted < LEVEL else "clean"
    return LeakCheck(
        task=task,
        check=name,
        adjusted=adjusted,
        verdict="too few" if found.questions < FEWEST else verdict,
        **found._asdict(),
    )


def _check_extreme(
    questions: Sequence[Question], end: Callable[[Iterable[int]], int], note: str
) -> _CheckResult:
    """Test how often the one option of extreme length is the answer; exact binomial test."""
    hits, chances, groups = [], [], []
    for question in questions:
        lengths = [len(option) for option in question.options]
        if lengths.count(end(lengths)) == 1:
            hits.append(lengths[question.place] == end(lengths))
            chances.append(1 / len(lengths))
            groups.append(question.group)
    return _test_share(hits, chances, groups, note)


def _check_blind(questions: Sequence[Question]) -> _CheckResult:
    """Test how often a classifier fitted without a question's group guesses it from its options."""
    if len(questions) < FEWEST:
        return _CheckResult(len(questions))
    hits = guess_blindly(
        [question.asked for question in questions],
        [question.options for question in questions],
        [question.place for question in questions],
        [question.group for question in questions],
    )
    chances = [1 / len(question.options) for question in questions]
    groups = [question.group for question in questions]
    return _test_share(hits, chances, groups, "a blind guess is the answer")


def _test_share(
    hits: Sequence[bool], chances: Sequence[float], groups: Sequence[str], note: str
) -> _CheckResult:
    if len(hits) < FEWEST:
        return _CheckResult(len(hits))
    interval = group_bootstrap([float(hit) for hit in hits], [1.0] * len(hits), groups)
    low, high = interval[:2] if interval else (float("nan"), float("nan"))
    seen, expected = float(np.mean(hits)), float(np.mean(chances))
    return _CheckResult(
        len(hits), seen, expected, low, high, _compute_upper_tail(sum(hits), chances), note
    )


def _compute_upper_tail(hits: int, chances: Sequence[float]) -> float:
    """Compute the exact probability of at least `hits` hits from independent chances."""
    from scipy.stats import binom  # noqa: PLC0415 - a second to import

    counts = np.ones(1)
    for chance, number in sorted(Counter(chances).items()):
        counts = np.convolve(counts, binom.pmf(np.arange(number + 1), number, chance))
    return float(min(1.0, counts[hits:].sum()))


def _check_position(questions: Sequence[Question]) -> _CheckResult:
    """Test the answers' letters by chi-square; its distribution by drawing letters at random."""
    sizes = Counter(len(question.options) for question in questions)
    most = max(sizes)
    expected = np.zeros(most)
    for size, number in sizes.items():
        expected[:size] += number / size
    rng = np.random.default_rng(_SEED)
    drawn = np.zeros((_DRAWS, most))
    for size, number in sorted(sizes.items()):
        drawn[:, :size] += rng.multinomial(number, [1 / size] * size, size=_DRAWS)
    seen = np.bincount([question.place for question in questions], minlength=most)
    letters = ", ".join(f"{ascii_uppercase[at]} {number}" for at, number in enumerate(seen))
    return _test_against(seen, drawn, expected, len(questions), letters)


def _check_frequency(questions: Sequence[Question]) -> _CheckResult:
    """Test by chi-square how often each option is the answer, if shown at least three times."""
    shown = Counter(
        normalise_option(option) for question in questions for option in question.options
    )
    number = {text: at for at, text in enumerate(sorted(shown)) if shown[text] >= _SHOWN}
    number = {text: at for at, text in enumerate(number)}
    widest = max(len(question.options) for question in questions)
    table = np.full((len(questions), widest), len(number))
    for row, question in enumerate(questions):
        for place, option in enumerate(question.options):
            table[row, place] = number.get(normalise_option(option), len(number))
    sizes = np.array([len(question.options) for question in questions])
    expected = np.zeros(len(number) + 1)
    for place in range(widest):
        has = sizes > place
        np.add.at(expected, table[has, place], 1 / sizes[has])
    rows = np.arange(len(questions))

    def answers(places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(table[rows, places], minlength=len(number) + 1)[:-1]

    if not number:
        return _CheckResult(0, note="no option is shown three times")
    rng = np.random.default_rng(_SEED)
    drawn = np.stack([answers(rng.integers(0, sizes)) for _ in range(_DRAWS)])
    seen = answers(np.array([question.place for question in questions]))
    worst = int(np.argmax((seen - expected[:-1]) ** 2 / expected[:-1]))
    text = list(number)[worst]
    note = f"{text}: the answer {seen[worst]} of {shown[text]} times"
    return _test_against(seen, drawn, expected[:-1], len(questions), note)


def _test_against(
    seen: NDArray[np.int64],
    drawn: NDArray[np.float64] | NDArray[np.int64],
    expected: NDArray[np.float64],
    questions: int,
    note: str,
) -> _CheckResult:
    if questions < FEWEST:
        return _CheckResult(questions)
    statistic = float(((seen - expected) ** 2 / expected).sum())
    chance = ((drawn - expected) ** 2 / expected).sum(axis=1)
    p = (1 + int((chance >= statistic - 1e-9).sum())) / (1 + len(chance))
    return _CheckResult(questions, statistic, float(chance.mean()), p=p, note=note)


CHECKS: dict[str, Callable[[Sequence[Question]], _CheckResult]] = {
    "longest": partial(_check_extreme, end=max, note="the longest option is the answer"),
    "shortest": partial(_check_extreme, end=min, note="the shortest option is the answer"),
    "position": _check_position,
    "frequency": _check_frequency,
    "blind": _check_blind,
}
"""The checks by name."""

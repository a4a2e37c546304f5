"""Leak checks of options: by length, letter, frequency, and by a blind guesser.

Questions of one book often repeat options and answer, so they are not independent. What occurs by
chance is drawn by group (book, plate or bone; else the image), once for all its questions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from string import ascii_uppercase
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from keju.building.choices.guessing import guess_blindly
from keju.building.choices.making import normalise_option
from keju.definitions import options_of
from keju.items import Item, get_group
from keju.statistics import groups_needed, holm, number_names, ratio_interval
from keju.texts import _, n_, recognised

LEVEL = 0.01
"""Family-wise error of one task's checks (Holm): a set without leaks fails one time in a hundred.
"""

FEWEST = 20
"""The minimum number of questions of a check."""

FEWEST_GROUPS = groups_needed(5, level=LEVEL)
"""The minimum number of groups of a check: with fewer, no p is small enough among five."""

_EXACT = 11
_DRAWS = 1 << _EXACT
_BLOCK = 1 << 22
_SLACK = 1e-9
_SHOWN = 3
_SEED = 45

Floats = NDArray[np.float64]


class Question(NamedTuple):
    """A multiple-choice question as the checks see it, without its images."""

    id: str
    group: str
    asked: str
    options: tuple[str, ...]
    place: int


LeakVerdict = Literal["leak", "clean", "too few"]


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


class _Use(NamedTuple):
    """One option of a question: its text or letter, and its chance of being the answer."""

    text: str
    group: str
    right: bool
    chance: float


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
        n_(
            "{}: leak by {}: {:.3g} against {:.3g} by chance in {n:,} question (p {:.2g}); {}",
            "{}: leak by {}: {:.3g} against {:.3g} by chance in {n:,} questions (p {:.2g}); {}",
            check.questions,
            check.task,
            recognised(check.check),
            check.seen,
            check.expected,
            check.adjusted,
            recognised(check.note),
        )
        for check in checks
        if check.verdict == "leak"
    ]


def _make_row(task: str, name: str, found: _CheckResult, adjusted: float) -> LeakCheck:
    verdict: LeakVerdict = "leak" if adjusted < LEVEL else "clean"
    return LeakCheck(
        task=task,
        check=name,
        adjusted=adjusted,
        verdict="too few" if np.isnan(found.seen) else verdict,
        **found._asdict(),
    )


def _check_extreme(
    questions: Sequence[Question], end: Callable[[Iterable[int]], int], note: str
) -> _CheckResult:
    """Test how often the one option of extreme length is the answer."""
    chosen, places = [], []
    for question in questions:
        lengths = [len(option) for option in question.options]
        if lengths.count(end(lengths)) == 1:
            chosen.append(question)
            places.append(lengths.index(end(lengths)))
    return _test_share(chosen, places, note)


def _check_blind(questions: Sequence[Question]) -> _CheckResult:
    """Test how often a classifier fitted without a question's group guesses it from its options."""
    if not _are_enough(questions):
        return _CheckResult(len(questions))
    guesses = guess_blindly(
        [question.asked for question in questions],
        [question.options for question in questions],
        [question.place for question in questions],
        [question.group for question in questions],
    )
    return _test_share(questions, guesses.tolist(), "a blind guess is the answer")


def _test_share(questions: Sequence[Question], places: Sequence[int], note: str) -> _CheckResult:
    """Test whether the option at one place of each question is the answer too often."""
    if not _are_enough(questions):
        return _CheckResult(len(questions))
    uses = [
        _Use("", question.group, place == question.place, 1 / len(question.options))
        for question, place in zip(questions, places, strict=True)
    ]
    _, right, expected, drawn = _draw(uses)
    number = len(questions)
    interval = ratio_interval(
        [float(use.right) for use in uses], [1.0] * number, [use.group for use in uses]
    )
    low, high = interval[:2] if interval else (float("nan"), float("nan"))
    p = _share_reaching_the_first(drawn[:, 0])
    seen, chance = float(right[0]) / number, float(expected[0]) / number
    return _CheckResult(number, seen, chance, low, high, p, note)


def _check_position(questions: Sequence[Question]) -> _CheckResult:
    """Test by chi-square how often each letter is the answer."""
    if not _are_enough(questions):
        return _CheckResult(len(questions))
    letters, right, expected, drawn = _draw(
        _Use(ascii_uppercase[place], question.group, place == question.place, 1 / len(options))
        for question in questions
        for options in [question.options]
        for place in range(len(options))
    )
    note = ", ".join(
        f"{letter} {number:.0f}" for letter, number in zip(letters, right, strict=True)
    )
    return _test_squares(drawn, expected, len(questions), note)


def _check_frequency(questions: Sequence[Question]) -> _CheckResult:
    """Test by chi-square how often each option is the answer, if shown at least three times."""
    shown = Counter(
        normalise_option(option) for question in questions for option in question.options
    )
    if max(shown.values()) < _SHOWN:
        return _CheckResult(0, note=_("no option is shown three times"))
    if not _are_enough(questions):
        return _CheckResult(len(questions))
    texts, right, expected, drawn = _draw(
        _Use(text, question.group, place == question.place, 1 / len(question.options))
        for question in questions
        for place, text in enumerate(map(normalise_option, question.options))
        if shown[text] >= _SHOWN
    )
    worst = int(np.argmax(drawn[0] ** 2 / expected))
    note = _("{}: the answer {:.0f} of {} times", texts[worst], right[worst], shown[texts[worst]])
    return _test_squares(drawn, expected, len(questions), note)


def _test_squares(drawn: Floats, expected: Floats, questions: int, note: str) -> _CheckResult:
    statistics = (drawn**2 / expected).sum(axis=1)
    p = _share_reaching_the_first(statistics)
    return _CheckResult(
        questions, float(statistics[0]), float(statistics[1:].mean()), p=p, note=note
    )


def _share_reaching_the_first(statistics: Floats) -> float:
    return float((statistics >= statistics[0] - _SLACK).mean())


def _draw(uses: Iterable[_Use]) -> tuple[list[str], Floats, Floats, Floats]:
    """How often each text is the answer, how often by chance, and deviations from that by chance.

    The sum of a group's deviations keeps its size by chance and has either sign with equal
    probability (the wild bootstrap of clusters): whatever the questions of a group have in common,
    they have one sign. Up to `_EXACT` groups all signs are enumerated.

    Returns:
        The K texts, K numbers, K numbers by chance, and R by K deviations: first the observed ones,
        then with other signs.
    """
    rows = sorted(uses)
    texts = sorted({use.text for use in rows})
    starts = np.searchsorted([use.text for use in rows], texts)
    numbers = number_names(use.group for use in rows)
    owners = np.array([numbers[use.group] for use in rows])
    right, chances = (
        np.array(side, dtype=np.float64)
        for side in ([use.right for use in rows], [use.chance for use in rows])
    )
    drawn = [
        np.add.reduceat(signs[:, owners] * (right - chances), starts, axis=1)
        for signs in _draw_signs(len(numbers), len(rows))
    ]
    return (
        texts,
        np.add.reduceat(right, starts),
        np.add.reduceat(chances, starts),
        np.concatenate(drawn),
    )


def _draw_signs(groups: int, numbers: int) -> Iterator[Floats]:
    """Signs of the groups in blocks of rows; in the first row, all are positive."""
    if groups <= _EXACT:
        swapped = np.arange(2**groups)[:, None] >> np.arange(groups) & 1
        yield np.where(swapped, -1.0, 1.0)
        return
    rng = np.random.default_rng(_SEED)
    most = max(1, _BLOCK // numbers)
    for start in range(0, _DRAWS, most):
        signs = rng.choice((-1.0, 1.0), size=(min(most, _DRAWS - start), groups))
        if not start:
            signs[0] = 1
        yield signs


def _are_enough(questions: Sequence[Question]) -> bool:
    return (
        len(questions) >= FEWEST
        and len({question.group for question in questions}) >= FEWEST_GROUPS
    )


CHECKS: dict[str, Callable[[Sequence[Question]], _CheckResult]] = {
    "longest": partial(_check_extreme, end=max, note=_("the longest option is the answer")),
    "shortest": partial(_check_extreme, end=min, note=_("the shortest option is the answer")),
    "position": _check_position,
    "frequency": _check_frequency,
    "blind": _check_blind,
}
"""The checks by name."""

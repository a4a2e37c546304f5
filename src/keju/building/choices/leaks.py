"""Leak checks of options: by length, letter, frequency, and by a blind guesser.

Questions of one book often repeat options and answer, so they are not independent. What occurs by
chance is drawn group by group, with one draw for all questions of a group.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from keju.statistics import FEWEST_GROUPS, holm, number_names, ratio_interval

LEVEL = 0.01
"""Family-wise error of one task's checks (Holm): a set without leaks fails one time in a hundred.
"""

FEWEST = 20
"""The minimum number of questions of a check, in at least `FEWEST_GROUPS` groups."""

_FEWEST_SIGNS = 12
"""The minimum number of groups of random signs: with 2^12, p is small enough for `LEVEL`."""

_DRAWS = 2000
_BLOCK = 1 << 22
_SLACK = 1e-9
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
    """Test how often the option at one place of each question is the answer.

    Options are ordered by their texts here, so that a draw moves the answer of all questions with
    the same options to the same text, in whichever order they are printed.
    """
    if not _are_enough(questions):
        return _CheckResult(len(questions))
    answers, targets = (
        np.array(
            [
                sorted(question.options).index(question.options[place])
                for question, place in zip(questions, chosen, strict=True)
            ]
        )
        for chosen in ([question.place for question in questions], places)
    )
    hits = answers == targets
    drawn = [(turned == targets).sum(axis=1) for turned in _turn(answers, questions)]
    interval = ratio_interval(
        hits.tolist(), [1.0] * len(hits), [question.group for question in questions]
    )
    low, high = interval[:2] if interval else (float("nan"), float("nan"))
    expected = float(np.mean([1 / len(question.options) for question in questions]))
    p = _share_reaching(np.concatenate(drawn), float(hits.sum()))
    return _CheckResult(len(hits), float(hits.mean()), expected, low, high, p, note)


def _check_position(questions: Sequence[Question]) -> _CheckResult:
    """Test the answers' letters by chi-square; its distribution by turning the letters."""
    if not _are_enough(questions):
        return _CheckResult(len(questions))
    sizes = np.array([len(question.options) for question in questions])
    most = int(sizes.max())
    places = np.array([question.place for question in questions])
    expected = np.array([(1 / sizes[sizes > place]).sum() for place in range(most)])
    seen = np.bincount(places, minlength=most)
    letters = ", ".join(f"{ascii_uppercase[at]} {number}" for at, number in enumerate(seen))
    drawn = [
        np.stack([(turned == place).sum(axis=1) for place in range(most)], axis=1)
        for turned in _turn(places, questions)
    ]
    return _test_deviations(
        seen - expected, np.concatenate(drawn) - expected, expected, len(questions), letters
    )


def _turn(places: NDArray[np.intp], questions: Sequence[Question]) -> Iterator[NDArray[np.intp]]:
    """Places of answers by chance, a row per draw: those of a group turn by one random angle."""
    sizes = np.array([len(question.options) for question in questions])
    groups, rows = _list_groups(questions)
    rng = np.random.default_rng(_SEED)
    for size in _blocks(len(questions)):
        angles = rng.random((size, groups))[:, rows]
        yield (places + (angles * sizes).astype(np.intp)) % sizes


def _check_frequency(questions: Sequence[Question]) -> _CheckResult:
    """Test by chi-square how often each option is the answer, if shown at least three times.

    A group may have one answer and other wrong options in each question, so that no draw of an
    answer keeps what its questions have in common. Instead, the deviations from chance of a whole
    group get a random sign (the wild bootstrap of clusters).
    """
    shown = Counter(
        normalise_option(option) for question in questions for option in question.options
    )
    known = [text for text in sorted(shown) if shown[text] >= _SHOWN]
    if not known:
        return _CheckResult(0, note="no option is shown three times")
    groups, rows = _list_groups(questions)
    if not _are_enough(questions) or groups < _FEWEST_SIGNS:
        return _CheckResult(len(questions))
    uses = sorted(
        (text, row, place == question.place, 1 / len(question.options))
        for row, question in zip(rows.tolist(), questions, strict=True)
        for place, text in enumerate(map(normalise_option, question.options))
        if shown[text] >= _SHOWN
    )
    starts = np.searchsorted([text for text, *_ in uses], known)
    owners = np.array([owner for _, owner, _, _ in uses])
    right, chances = (np.array([use[at] for use in uses], dtype=np.float64) for at in (2, 3))
    rng = np.random.default_rng(_SEED)
    drawn = [
        np.add.reduceat(
            rng.choice((-1.0, 1.0), size=(size, groups))[:, owners] * (right - chances),
            starts,
            axis=1,
        )
        for size in _blocks(len(uses))
    ]
    seen, expected = np.add.reduceat(right, starts), np.add.reduceat(chances, starts)
    worst = int(np.argmax((seen - expected) ** 2 / expected))
    text = known[worst]
    note = f"{text}: the answer {seen[worst]:.0f} of {shown[text]} times"
    return _test_deviations(seen - expected, np.concatenate(drawn), expected, len(questions), note)


def _blocks(numbers: int) -> Iterator[int]:
    """The sizes of blocks of draws, each of which needs this many numbers."""
    most = max(1, _BLOCK // numbers)
    for start in range(0, _DRAWS, most):
        yield min(most, _DRAWS - start)


def _test_deviations(
    seen: NDArray[np.float64],
    drawn: NDArray[np.float64],
    expected: NDArray[np.float64],
    questions: int,
    note: str,
) -> _CheckResult:
    statistic = float((seen**2 / expected).sum())
    chance = (drawn**2 / expected).sum(axis=1)
    p = _share_reaching(chance, statistic)
    return _CheckResult(questions, statistic, float(chance.mean()), p=p, note=note)


def _share_reaching(drawn: NDArray[np.float64] | NDArray[np.intp], seen: float) -> float:
    """The p of a statistic: the share of draws that reach it, with itself as one of them."""
    return (1 + int((drawn >= seen - _SLACK).sum())) / (1 + len(drawn))


def _are_enough(questions: Sequence[Question]) -> bool:
    return len(questions) >= FEWEST and _list_groups(questions)[0] >= FEWEST_GROUPS


def _list_groups(questions: Sequence[Question]) -> tuple[int, NDArray[np.intp]]:
    """The number of groups, and the number of each question's group."""
    numbers = number_names(question.group for question in questions)
    return len(numbers), np.array([numbers[question.group] for question in questions])


CHECKS: dict[str, Callable[[Sequence[Question]], _CheckResult]] = {
    "longest": partial(_check_extreme, end=max, note="the longest option is the answer"),
    "shortest": partial(_check_extreme, end=min, note="the shortest option is the answer"),
    "position": _check_position,
    "frequency": _check_frequency,
    "blind": _check_blind,
}
"""The checks by name."""

"""Blind guesser: predict answers from options alone, to measure how much the options leak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.building.choices.making import normalise_option
from keju.text.han import has_han

FOLDS = 5
_RIDGE = 1.0
_PRIOR = 2.0
_SEED = 46
_STEPS = 50
_SMALL = 1e-6

Floats = NDArray[np.float64]


def guess_blindly(
    asked: Sequence[str],
    options: Sequence[tuple[str, ...]],
    places: Sequence[int],
    groups: Sequence[str],
) -> NDArray[np.intp]:
    """Guess each question with a classifier fitted without its group; return the guessed places.

    A conditional logit over the options of a question. Features: length, being longest or shortest,
    the letter, how often the option was the answer among its occurrences in the training folds,
    characters shared with the question and with the other options, and being alone in its script.

    `places` are the positions of the answers among the options. A guess is -1 where all questions
    are of one group.
    """
    shapes = [_compute_features(*each) for each in zip(asked, options, strict=True)]
    fold = _assign_folds(groups)
    guesses = np.full(len(asked), -1)
    for number in range(FOLDS):
        inside = np.flatnonzero(fold != number).tolist()
        outside = np.flatnonzero(fold == number).tolist()
        if not inside or not outside:
            continue
        known = _OptionCounts.of([options[at] for at in inside], [places[at] for at in inside])
        train = _stack([_add_rate(shapes[at], known, options[at], places[at]) for at in inside])
        weights = _fit(train, np.array([places[at] for at in inside]))
        test = _stack([_add_rate(shapes[at], known, options[at], None) for at in outside])
        guesses[outside] = np.argmax(_compute_scores(test, weights), axis=1)
    return guesses


class _OptionCounts(NamedTuple):
    """How often each option occurred, weighted by its share of a question, and was the answer."""

    shown: Counter[str]
    answers: Counter[str]

    @classmethod
    def of(cls, options: Sequence[tuple[str, ...]], places: Sequence[int]) -> _OptionCounts:
        shown: Counter[str] = Counter()
        answers: Counter[str] = Counter()
        for some, place in zip(options, places, strict=True):
            shown.update(map(normalise_option, some))
            answers[normalise_option(some[place])] += 1
        return cls(shown, answers)


def _assign_folds(groups: Sequence[str]) -> NDArray[np.int64]:
    names = sorted(set(groups))
    order = np.random.default_rng(_SEED).permutation(len(names))
    fold = {name: int(at) % FOLDS for name, at in zip(names, order, strict=True)}
    return np.array([fold[group] for group in groups])


def _compute_features(asked: str, options: tuple[str, ...]) -> Floats:
    """Compute features of each option relative to the other options [options, features]."""
    lengths = np.array([len(option) for option in options], float)
    chars = [set(normalise_option(option)) for option in options]
    question = set(normalise_option(asked))
    alone = [
        np.mean([_classify_script(option) != _classify_script(other) for other in options])
        for option in options
    ]
    columns = [
        (lengths - lengths.mean()) / max(float(lengths.std()), 1.0),
        (lengths == lengths.max()) & ((lengths == lengths.max()).sum() == 1),
        (lengths == lengths.min()) & ((lengths == lengths.min()).sum() == 1),
        [len(each & question) / max(1, len(each)) for each in chars],
        [
            np.mean([len(each & other) / max(1, len(each | other)) for other in chars])
            for each in chars
        ],
        alone,
    ]
    letters = np.eye(len(options), 26)[:, 1:8]
    return np.column_stack([*(np.asarray(column, float) for column in columns), letters])


def _classify_script(text: str) -> str:
    if has_han(text):
        return "Han"
    return "digits" if any(map(str.isdigit, text)) else "other"


def _add_rate(
    shape: Floats, known: _OptionCounts, options: tuple[str, ...], place: int | None
) -> Floats:
    """Add to the features the rate at which each option was the answer elsewhere.

    A question of the training folds is excluded from its own counts (`place` is its answer):
    otherwise the guesser would learn from its own answers that the rate determines the answer.
    """
    own = 0 if place is None else 1
    rates = []
    for at, option in enumerate(options):
        shown = known.shown[normalise_option(option)] - own
        answers = known.answers[normalise_option(option)] - (own if at == place else 0)
        expected = (shown + _PRIOR) / len(options)
        rates.append(np.log((answers + _PRIOR / len(options)) / expected))
    return np.column_stack([shape, rates])


def _stack(rows: Sequence[Floats]) -> Floats:
    """Stack questions to [questions, options, features]; NaN where there are fewer options."""
    widest = max(len(row) for row in rows)
    out = np.full((len(rows), widest, rows[0].shape[1]), np.nan)
    for at, row in enumerate(rows):
        out[at, : len(row)] = row
    return out


def _compute_scores(table: Floats, weights: Floats) -> Floats:
    scores = np.nan_to_num(table) @ weights
    return np.where(np.isnan(table[:, :, 0]), -np.inf, scores)


def _fit(table: Floats, places: NDArray[np.int64]) -> Floats:
    """Fit weights by maximum likelihood with a ridge.

    The last weight, that of the rate, is not below zero: in an exactly balanced set, an option that
    was seldom the answer elsewhere is more likely to be the answer here, and a guesser that counts
    answers would profit from it. A person who answers a question does not know the answers to the
    others.
    """
    weights = _maximise(table, places)
    if weights[-1] < 0:
        # The likelihood is concave, so the best permitted weights are on the boundary.
        weights = np.append(_maximise(table[:, :, :-1], places), 0.0)
    return weights


def _maximise(table: Floats, places: NDArray[np.int64]) -> Floats:
    """Maximise the likelihood by Newton steps, each halved until it improves."""
    filled = np.nan_to_num(table)
    right = filled[np.arange(len(table)), places]
    weights = np.zeros(table.shape[2])
    loss = _compute_loss(table, right, weights)
    for _ in range(_STEPS):
        scores = _compute_scores(table, weights)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        expected = np.einsum("qo,qof->qf", shares, filled)
        slope = (expected - right).sum(axis=0) + _RIDGE * weights
        weighed = (filled * shares[:, :, None]).reshape(-1, len(weights))
        bend = weighed.T @ filled.reshape(-1, len(weights)) - expected.T @ expected
        step = np.linalg.solve(bend + _RIDGE * np.eye(len(weights)), slope)
        while (after := _compute_loss(table, right, weights - step)) > loss and np.abs(
            step
        ).max() > _SMALL:
            step /= 2
        weights, loss = weights - step, after
        if np.abs(step).max() < _SMALL:
            break
    return weights


def _compute_loss(table: Floats, right: Floats, weights: Floats) -> float:
    scores = _compute_scores(table, weights)
    most = scores.max(axis=1)
    total = most + np.log(np.exp(scores - most[:, None]).sum(axis=1))
    return float((total - right @ weights).sum() + _RIDGE * weights @ weights / 2)

"""chrF and chrF++, equal to sacrebleu 2.6.0 in its default form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from string import punctuation
from typing import NamedTuple

from keju.metrics.ngrams import counts_of, shared

_CHAR_ORDERS = 6
_BETA = 2


class OrderCounts(NamedTuple):
    """N-grams of one order: in the hypothesis, in the reference, in both."""

    predicted: int
    expected: int
    hits: int


def chrf_counts(
    reference: str, hypothesis: str, *, word_orders: int = 0
) -> tuple[OrderCounts, ...]:
    """The counts from which chrF is computed; those of several items add up to a corpus's.

    Args:
        reference: the true text.
        hypothesis: the predicted text.
        word_orders: 0 for chrF, 2 for chrF++. Words are parted by white space, with punctuation of
            ASCII split off, so that Chinese without spaces is one word (sacrebleu's way).
    """
    left, right = ("".join(text.split()) for text in (reference, hypothesis))
    counts = [
        _counts(*both)
        for both in zip(counts_of(left, _CHAR_ORDERS), counts_of(right, _CHAR_ORDERS), strict=True)
    ]
    if word_orders:
        left_words, right_words = _words(reference), _words(hypothesis)
        counts += [
            _counts(_grams(left_words, order), _grams(right_words, order))
            for order in range(1, word_orders + 1)
        ]
    return tuple(counts)


def chrf_of_counts(counts: Sequence[OrderCounts]) -> float:
    """The F score of counts, beta 2, 0 to 1: the mean over the orders that both sides have.

    Popovic 2015 and 2017, with sacrebleu's effective order: an order counts only where hypothesis
    and reference both have n-grams of it.
    """
    precision = recall = 0.0
    orders = 0
    for each in counts:
        if each.predicted and each.expected:
            precision += each.hits / each.predicted
            recall += each.hits / each.expected
            orders += 1
    if not orders:
        return 0.0
    precision /= orders
    recall /= orders
    if not precision + recall:
        return 0.0
    factor = _BETA * _BETA
    return (1 + factor) * precision * recall / (factor * precision + recall)


def chrf(reference: str, hypothesis: str, *, word_orders: int = 0) -> float:
    """One pair's chrF (``word_orders=0``) or chrF++ (2), 0 to 1."""
    return chrf_of_counts(chrf_counts(reference, hypothesis, word_orders=word_orders))


def _counts(expected: Counter[str], predicted: Counter[str]) -> OrderCounts:
    # sacrebleu counts no n-grams of an order that the reference lacks; a corpus's score shows it.
    given = predicted.total() if expected else 0
    return OrderCounts(given, expected.total(), shared(expected, predicted))


def _grams(words: Sequence[str], order: int) -> Counter[str]:
    return Counter(
        " ".join(words[start : start + order]) for start in range(len(words) - order + 1)
    )


def _words(text: str) -> list[str]:
    words = []
    for word in text.split():
        if len(word) == 1:
            words.append(word)
        elif word[-1] in punctuation:
            words += [word[:-1], word[-1]]
        elif word[0] in punctuation:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words

"""Metrics of n-grams and common subsequences: BLEU, chrF and ROUGE.

Sentence BLEU is equal to nltk 3.9.1 to the last bit, chrF and chrF++ to sacrebleu 2.6.0 in its
default form.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from operator import add
from string import punctuation
from typing import Literal, NamedTuple, TypeVar

from rapidfuzz.distance import LCSseq

from keju.metrics.base import PRF, prf

_BLEU_ORDERS = 4
_EPSILON = 0.1
_K = 5
_CHRF_ORDERS = 6
_CHRF_BETA = 2

Smoothing = Literal["none", "method1", "method4"]
_Gram = str | tuple[str, ...]
_Key = TypeVar("_Key", bound=Hashable)


def ngrams(tokens: Sequence[str], orders: int) -> Sequence[Sequence[_Gram]]:
    """All runs of 1, 2, … `orders` tokens, in their order, one list a length.

    Args:
        tokens: a text, whose runs of characters are texts, or words, whose runs are tuples.
        orders: the greatest length.
    """
    if not isinstance(tokens, str):
        return [
            list(zip(*(tokens[start:] for start in range(order)), strict=False))
            for order in range(1, orders + 1)
        ]
    # Each length is made of the one before it, which takes a third of the time of slicing.
    runs = [list(tokens)]
    for order in range(1, orders):
        runs.append(list(map(add, runs[-1], tokens[order:])))
    return runs


def shared(left: Mapping[_Key, int], right: Mapping[_Key, int]) -> int:
    """How many runs two counts have in common, each as often as the rarer side has it."""
    common = left.keys() & right.keys()
    return sum(map(min, map(left.__getitem__, common), map(right.__getitem__, common)))


def sentence_bleu(
    reference: Sequence[str], hypothesis: Sequence[str], *, smoothing: Smoothing = "method1"
) -> float:
    """BLEU-4 of one hypothesis against one reference, each a string (characters) or words.

    Args:
        reference: the true tokens.
        hypothesis: the predicted tokens.
        smoothing: ``method1`` puts 0.1 in place of zero matches; ``method4`` puts a value that
            falls with the length of the hypothesis, and leaves orders without a match out where
            that length is 1 (Chen and Cherry 2014, as nltk 3.9.1 has them);
            ``none`` leaves the smallest positive number, so that one order without a match makes
            the score all but 0.
    """
    counts = _matches(reference, hypothesis)
    if counts[0][0] == 0:
        return 0.0
    precisions = _smoothed(counts, len(hypothesis), smoothing)
    mean = math.fsum(math.log(precision) / _BLEU_ORDERS for precision in precisions)
    return _brevity(len(reference), len(hypothesis)) * math.exp(mean)


def bleu_unsmoothed(reference: Sequence[str], hypothesis: Sequence[str]) -> float:
    """BLEU-4 as Papineni et al. 2002 define it: 0 where an order of n-grams has no match."""
    if any(not hits for hits, _ in _matches(reference, hypothesis)):
        return 0.0
    return sentence_bleu(reference, hypothesis, smoothing="none")


def _matches(reference: Sequence[str], hypothesis: Sequence[str]) -> list[tuple[int, int]]:
    """Clipped matches and the number of n-grams of the hypothesis (at least 1), of each order."""
    both = zip(ngrams(reference, _BLEU_ORDERS), ngrams(hypothesis, _BLEU_ORDERS), strict=True)
    return [(shared(Counter(wanted), Counter(found)), max(1, len(found))) for wanted, found in both]


def _smoothed(counts: list[tuple[int, int]], length: int, smoothing: Smoothing) -> list[float]:
    precisions = []
    orders_without = 1
    for hits, total in counts:
        if hits:
            precisions.append(hits / total)
        elif smoothing == "method1":
            precisions.append((hits + _EPSILON) / total)
        elif smoothing == "none":
            precisions.append(sys.float_info.min)
        elif length > 1:
            numerator = 1 / (2**orders_without * _K / math.log(length))
            orders_without += 1
            precisions.append(numerator / total)
    return precisions


def _brevity(reference: int, hypothesis: int) -> float:
    if hypothesis > reference:
        return 1.0
    return math.exp(1 - reference / hypothesis)


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
    both = chain(
        zip(ngrams(left, _CHRF_ORDERS), ngrams(right, _CHRF_ORDERS), strict=True),
        zip(
            ngrams(_words(reference), word_orders),
            ngrams(_words(hypothesis), word_orders),
            strict=True,
        ),
    )
    return tuple(_order_counts(Counter(wanted), Counter(found)) for wanted, found in both)


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
    factor = _CHRF_BETA * _CHRF_BETA
    return (1 + factor) * precision * recall / (factor * precision + recall)


def chrf(reference: str, hypothesis: str, *, word_orders: int = 0) -> float:
    """One pair's chrF (``word_orders=0``) or chrF++ (2), 0 to 1."""
    return chrf_of_counts(chrf_counts(reference, hypothesis, word_orders=word_orders))


def _order_counts(expected: Counter[_Gram], predicted: Counter[_Gram]) -> OrderCounts:
    # sacrebleu counts no n-grams of an order that the reference lacks; a corpus's score shows it.
    given = predicted.total() if expected else 0
    return OrderCounts(given, expected.total(), shared(expected, predicted))


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


def rouge_n(reference: str, hypothesis: str, order: int) -> PRF:
    """P, R, F1 of character n-grams with clipped counts (Lin 2004).

    Spaces (U+0020) are removed first.
    """
    wanted, found = (
        Counter(ngrams(text.replace(" ", ""), order)[-1]) for text in (reference, hypothesis)
    )
    return prf(shared(wanted, found), found.total(), wanted.total())


def rouge_l(reference: str, hypothesis: str) -> PRF:
    """P, R, F1 of the longest common subsequence of characters (Lin 2004).

    Spaces are removed first.
    """
    wanted, found = reference.replace(" ", ""), hypothesis.replace(" ", "")
    return prf(LCSseq.similarity(wanted, found), len(found), len(wanted))


def f_beta(rates: PRF, beta: float) -> float:
    """The F measure with recall weighted `beta` times precision."""
    precision, recall = rates.precision, rates.recall
    weight = beta * beta
    total = recall + weight * precision
    return (1 + weight) * precision * recall / total if total else 0.0

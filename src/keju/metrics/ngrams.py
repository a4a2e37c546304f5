"""Metrics of n-grams and common subsequences: BLEU, chrF and ROUGE.

Sentence BLEU is equal to nltk 3.9.1 to the last bit, chrF and chrF++ to sacrebleu 2.6.0 in its
default form.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from string import punctuation
from typing import TYPE_CHECKING, Literal

from rapidfuzz.distance import LCSseq

from keju.metrics.base import PRF, HitCounts, prf

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    _Numbers = npt.NDArray[np.int64]

_BLEU_ORDERS = 4
_EPSILON = 0.1
_K = 5
_CHRF_ORDERS = 6
_CHRF_BETA = 2

Smoothing = Literal["none", "method1", "method4"]


def count_ngrams(
    reference: Sequence[str], hypothesis: Sequence[str], orders: int
) -> list[HitCounts]:
    """The runs of 1, 2, … `orders` tokens, and how many both sides have (each as often as both).

    Args:
        reference: the true text, whose tokens are characters, or words.
        hypothesis: the predicted one.
        orders: the greatest length.
    """
    import numpy as np  # noqa: PLC0415 - slow to import, and error rates need none

    count = len(reference) + len(hypothesis)
    true_tokens, read_tokens = true, read = _ranks(*_token_numbers(reference, hypothesis))
    counts: list[HitCounts] = []
    for order in range(orders):
        if order:
            # A run is the run before it and one more token, both as numbers below `count`.
            true, read = _ranks(
                true[:-1] * count + true_tokens[order:], read[:-1] * count + read_tokens[order:]
            )
        wanted, found = np.bincount(true), np.bincount(read)
        both = min(len(wanted), len(found))
        hits = int(np.minimum(wanted[:both], found[:both]).sum())
        counts.append(HitCounts(hits, len(read), len(true)))
    return counts


def _token_numbers(reference: Sequence[str], hypothesis: Sequence[str]) -> list[_Numbers]:
    """The tokens of both sides as numbers; equal ones have the same."""
    import numpy as np  # noqa: PLC0415 - as above

    if isinstance(reference, str) and isinstance(hypothesis, str):
        texts = (text.encode("utf-32-le", "surrogatepass") for text in (reference, hypothesis))
        return [np.frombuffer(text, np.uint32).astype(np.int64) for text in texts]
    number_of_token: dict[str, int] = {}
    return [
        np.array(
            [number_of_token.setdefault(token, len(number_of_token)) for token in tokens], np.int64
        )
        for tokens in (reference, hypothesis)
    ]


def _ranks(true: _Numbers, read: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Each number as its rank among those of both sides, so that numbers stay small."""
    import numpy as np  # noqa: PLC0415 - as above

    numbers = np.concatenate([true, read])
    places = numbers.argsort()
    ascending = numbers[places]
    ranks = np.zeros_like(numbers)
    ranks[places[1:]] = np.cumsum(ascending[1:] != ascending[:-1])
    return ranks[: len(true)], ranks[len(true) :]


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
    counts = count_ngrams(reference, hypothesis, _BLEU_ORDERS)
    return [(each.hits, max(1, each.predicted)) for each in counts]


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


def chrf_counts(reference: str, hypothesis: str, *, word_orders: int = 0) -> tuple[HitCounts, ...]:
    """The counts from which chrF is computed; those of several items add up to a corpus's.

    Args:
        reference: the true text.
        hypothesis: the predicted text.
        word_orders: 0 for chrF, 2 for chrF++. Words are parted by white space, with punctuation of
            ASCII split off, so that Chinese without spaces is one word (sacrebleu's way).
    """
    left, right = ("".join(text.split()) for text in (reference, hypothesis))
    counts = count_ngrams(left, right, _CHRF_ORDERS)
    counts += count_ngrams(_words(reference), _words(hypothesis), word_orders)
    # sacrebleu counts no n-grams of an order that the reference lacks; a corpus's score shows it.
    return tuple(each if each.expected else each._replace(predicted=0) for each in counts)


def chrf_of_counts(counts: Sequence[HitCounts]) -> float:
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
    wanted, found = (text.replace(" ", "") for text in (reference, hypothesis))
    counts = count_ngrams(wanted, found, order)[-1]
    return prf(*counts)


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

"""Sentence BLEU, equal to nltk 3.9.1 to the last bit."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from keju.metrics.ngrams import character_ngrams, shared

_ORDERS = 4
_EPSILON = 0.1
_K = 5

Smoothing = Literal["none", "method1", "method4"]
_Gram = str | tuple[str, ...]


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
    both = zip(_ngrams(reference), _ngrams(hypothesis), strict=True)
    counts = [_matches(wanted, found) for wanted, found in both]
    if counts[0][0] == 0:
        return 0.0
    precisions = _smoothed(counts, len(hypothesis), smoothing)
    mean = math.fsum(math.log(each) / _ORDERS for each in precisions)
    return _brevity(len(reference), len(hypothesis)) * math.exp(mean)


def bleu_unsmoothed(reference: Sequence[str], hypothesis: Sequence[str]) -> float:
    """BLEU-4 as Papineni et al. 2002 define it: 0 where an order of n-grams has no match."""
    both = zip(_ngrams(reference), _ngrams(hypothesis), strict=True)
    if any(not _matches(wanted, found)[0] for wanted, found in both):
        return 0.0
    return sentence_bleu(reference, hypothesis, smoothing="none")


def _matches(wanted: Sequence[_Gram], found: Sequence[_Gram]) -> tuple[int, int]:
    """Clipped matches and the number of n-grams of the hypothesis (at least 1)."""
    return shared(Counter(wanted), Counter(found)), max(1, len(found))


def _ngrams(tokens: Sequence[str]) -> Sequence[Sequence[_Gram]]:
    """The n-grams of every order, of characters as texts and of words as tuples."""
    if isinstance(tokens, str):
        return character_ngrams(tokens, _ORDERS)
    return [
        list(zip(*(tokens[start:] for start in range(order)), strict=False))
        for order in range(1, _ORDERS + 1)
    ]


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

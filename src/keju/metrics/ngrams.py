"""Metrics of n-grams and common subsequences: BLEU, chrF and ROUGE.

Sentence BLEU is equal to nltk 3.9.1 to the last bit, chrF and chrF++ to sacrebleu 2.6.0 in its
default form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import punctuation
from typing import TYPE_CHECKING, Literal

from rapidfuzz.distance import LCSseq

from keju.metrics.base import PRF, HitCounts, f_beta, prf

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

    A text is a string, whose tokens are characters, or a list of words.
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

    The smoothing ``method1`` puts 0.1 in place of zero matches; ``method4`` puts a value that falls
    with the length of the hypothesis, and leaves orders without a match out where that length is 1
    (Chen and Cherry 2014, as nltk 3.9.1 has them); with ``none`` the score is 0 where an order has
    no match (Papineni et al. 2002).
    """
    counts = count_ngrams(reference, hypothesis, _BLEU_ORDERS)
    if not counts[0].hits or (smoothing == "none" and not all(order.hits for order in counts)):
        return 0.0
    length = len(hypothesis)
    precisions = []
    orders_without = 0
    for order in counts:
        total = max(1, order.predicted)
        if order.hits:
            precisions.append(order.hits / total)
        elif smoothing == "method1":
            precisions.append(_EPSILON / total)
        elif length > 1:
            orders_without += 1
            precisions.append(1 / (2**orders_without * _K / math.log(length)) / total)
    mean = math.fsum(math.log(precision) / _BLEU_ORDERS for precision in precisions)
    brevity = 1.0 if length > len(reference) else math.exp(1 - len(reference) / length)
    return brevity * math.exp(mean)


def chrf_counts(reference: str, hypothesis: str, *, word_orders: int = 0) -> tuple[HitCounts, ...]:
    """The counts from which chrF is computed; those of several items add up to a corpus's.

    `word_orders` is 0 for chrF, 2 for chrF++. Words are parted by white space, with punctuation of
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
    for order in counts:
        if order.predicted and order.expected:
            precision += order.hits / order.predicted
            recall += order.hits / order.expected
            orders += 1
    return f_beta(precision / orders, recall / orders, _CHRF_BETA) if orders else 0.0


def chrf(reference: str, hypothesis: str, *, word_orders: int = 0) -> float:
    """One pair's chrF (``word_orders=0``) or chrF++ (2), 0 to 1."""
    return chrf_of_counts(chrf_counts(reference, hypothesis, word_orders=word_orders))


def _words(text: str) -> list[str]:
    words = []
    for word in text.split():
        if len(word) > 1 and word[-1] in punctuation:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in punctuation:
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

"""ROUGE-1, ROUGE-2 and ROUGE-L over characters."""

from __future__ import annotations

from collections import Counter

from rapidfuzz.distance import LCSseq

from keju.metrics.base import PRF, prf
from keju.metrics.ngrams import character_ngrams, shared


def rouge_n(reference: str, hypothesis: str, order: int) -> PRF:
    """P, R, F1 of character n-grams with clipped counts (Lin 2004).

    Spaces (U+0020) are removed first.
    """
    wanted, found = (_ngrams(text.replace(" ", ""), order) for text in (reference, hypothesis))
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


def _ngrams(text: str, order: int) -> Counter[str]:
    return Counter(character_ngrams(text, order)[-1])

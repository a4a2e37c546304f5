"""Metrics of transcriptions. The strings are compared as they are: nothing is normalised."""

from __future__ import annotations

from keju.metrics.base import PRF, UndefinedMetricError, check_texts, prf
from keju.metrics.edit import EditCounts, distance
from keju.texts import _


def accurate_rate(counts: EditCounts) -> float:
    """AR = (N - S - D - I) / N, negative where edits outnumber characters; 0 for N = 0.

    N is the length of the reference. The measure of the ICDAR competitions in Chinese handwriting
    recognition (Yin et al. 2013).
    """
    return (counts.expected - counts.distance) / counts.expected if counts.expected else 0.0


def correct_rate(counts: EditCounts) -> float:
    """CR = (N - S - D) / N, blind to insertions; 0 for N = 0 (Yin et al. 2013)."""
    return counts.matches / counts.expected if counts.expected else 0.0


def normalised_distance(reference: str, hypothesis: str) -> float:
    """Edit distance over the longer length, 0 to 1.

    Raises:
        TypeError: one of them is not a text.
        UndefinedMetricError: both are empty.
    """
    check_texts(reference, hypothesis)
    longer = max(len(reference), len(hypothesis))
    if not longer:
        raise UndefinedMetricError(
            _("both texts are empty, so the distance would be divided by zero")
        )
    return distance(reference, hypothesis) / longer


def character_error_rate(reference: str, hypothesis: str) -> float:
    """CER: edit distance over the length of the reference; not bounded by 1.

    Raises:
        TypeError: one of them is not a text.
        UndefinedMetricError: the reference is empty.
    """
    check_texts(reference, hypothesis)
    if not reference:
        raise UndefinedMetricError(_("the reference is empty"))
    return distance(reference, hypothesis) / len(reference)


def set_prf(reference: str, hypothesis: str) -> PRF:
    """P, R, F1 over the *sets* of distinct characters.

    Raises:
        TypeError: one of them is not a text.
        UndefinedMetricError: the reference is empty.
    """
    check_texts(reference, hypothesis)
    if not reference:
        raise UndefinedMetricError(_("the reference is empty"))
    expected, predicted = set(reference), set(hypothesis)
    rates = prf(len(expected & predicted), len(predicted), len(expected))
    if not rates.f1:
        return rates
    # This form of the harmonic mean, which differs from 2PR / (P + R) in the last bit, is that of
    # the scripts whose values `official` gives.
    return rates._replace(f1=2 / (1 / rates.precision + 1 / rates.recall))


def position_matches(reference: str, hypothesis: str) -> int:
    """How many characters are equal at equal index."""
    return sum(a == b for a, b in zip(reference, hypothesis, strict=False))


def position_prf(reference: str, hypothesis: str) -> PRF:
    """P, R, F1 of characters equal at equal index.

    One early insertion ruins the page.

    Raises:
        TypeError: one of them is not a text.
    """
    check_texts(reference, hypothesis)
    hits = position_matches(reference, hypothesis)
    return prf(hits, len(hypothesis), len(reference))

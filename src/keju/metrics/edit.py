"""Metrics of transcriptions: edit distance, its counts, and rates of characters.

The strings are compared as they are: nothing is normalised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein

from keju.metrics.base import PRF, UndefinedMetricError, prf
from keju.texts import _


class EditCounts(NamedTuple):
    """How a reference becomes a hypothesis, in characters."""

    matches: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def distance(self) -> int:
        """Substitutions, deletions and insertions together."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def expected(self) -> int:
        """Length of the reference."""
        return self.matches + self.substitutions + self.deletions

    @property
    def predicted(self) -> int:
        """Length of the hypothesis."""
        return self.matches + self.substitutions + self.insertions


def distance(reference: str, hypothesis: str) -> int:
    """Levenshtein distance: the fewest substitutions, deletions and insertions."""
    return Levenshtein.distance(reference, hypothesis)


def best_edits(reference: str, hypothesis: str) -> EditCounts:
    """The counts of an alignment with the fewest edits and, of these, the most matches.

    The distance alone does not fix the split: 学而 against 而时 is two substitutions, or a
    deletion and an insertion around one match. The second reading is ours.
    """
    steps = Levenshtein.editops(reference, hypothesis)
    substitutions = sum(step.tag == "replace" for step in steps)
    matches = (len(reference) + len(hypothesis) - len(steps) - substitutions) // 2
    if matches < LCSseq.similarity(reference, hypothesis):
        # Another alignment may have more matches. With edits worth `unit` and a substitution one
        # more, the cheapest path has the fewest edits, and of these the fewest substitutions, which
        # is the most matches. This takes ten times as long.
        unit = min(len(reference), len(hypothesis)) + 2
        cost = Levenshtein.distance(reference, hypothesis, weights=(unit, unit, unit + 1))
        edits, substitutions = divmod(cost, unit)
        matches = (len(reference) + len(hypothesis) - edits - substitutions) // 2
    return EditCounts(
        matches,
        substitutions,
        len(reference) - matches - substitutions,
        len(hypothesis) - matches - substitutions,
    )


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
        UndefinedMetricError: both are empty.
    """
    longer = max(len(reference), len(hypothesis))
    if not longer:
        raise UndefinedMetricError(
            _("both texts are empty, so the distance would be divided by zero")
        )
    return distance(reference, hypothesis) / longer


def character_error_rate(reference: str, hypothesis: str) -> float:
    """CER: edit distance over the length of the reference; not bounded by 1.

    Raises:
        UndefinedMetricError: the reference is empty.
    """
    _check_reference(reference)
    return distance(reference, hypothesis) / len(reference)


def set_prf(reference: str, hypothesis: str) -> PRF:
    """P, R, F1 over the *sets* of distinct characters.

    Raises:
        UndefinedMetricError: the reference is empty.
    """
    _check_reference(reference)
    expected, predicted = set(reference), set(hypothesis)
    rates = prf(len(expected & predicted), len(predicted), len(expected))
    if not rates.f1:
        return rates
    # This form of the harmonic mean, which differs from 2PR / (P + R) in the last bit, is that of
    # the scripts whose values `official` gives.
    return rates._replace(f1=2 / (1 / rates.precision + 1 / rates.recall))


def position_prf(reference: str, hypothesis: str) -> PRF:
    """P, R, F1 of characters equal at equal index.

    One early insertion ruins the page.
    """
    hits = sum(a == b for a, b in zip(reference, hypothesis, strict=False))
    return prf(hits, len(hypothesis), len(reference))


class ErrorParts(NamedTuple):
    """The edits of one page in two parts, in characters.

    `recognition` is the bag distance of reference and hypothesis, `layout` the edit distance minus
    the bag distance, `expected` the length of the reference. For several pages, sum each of the
    three before dividing.
    """

    recognition: int
    layout: int
    expected: int

    @property
    def recognition_error(self) -> float:
        """Bag-of-characters error: `recognition` over the length of the reference."""
        return self.recognition / self.expected

    @property
    def layout_error(self) -> float:
        """CER minus the recognition error: `layout` over the length of the reference."""
        return self.layout / self.expected


def bag_distance(reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> int:
    """The smallest edit distance over all orders of the hypothesis' elements.

    It is the longer length minus the size of the multiset intersection, and never above the edit
    distance (Bartolini, Ciaccia and Patella 2002, "String matching with metric trees using an
    approximate distance", SPIRE).
    """
    shared = (Counter(reference) & Counter(hypothesis)).total()
    return max(len(reference), len(hypothesis)) - shared


def error_parts(reference: str, hypothesis: str) -> ErrorParts:
    """Divide the edits of a page into recognition edits and layout edits.

    Vidal, Toselli, Ríos-Vila and Calvo-Zaragoza 2023, "End-to-end page-level assessment of
    handwritten text recognition": the bag-of-words error rate (bWER) measures recognition, and
    WER - bWER the errors of layout and reading order. Here the units are characters, since the
    texts have no words. Nothing depends on line breaks.

    Recognition is a lower bound: a wrong character that also occurs elsewhere on the page
    counts as layout. So compare both with the values of a wrong page (`keju.scoring.pages`).

    Raises:
        UndefinedMetricError: the reference is empty.
    """
    _check_reference(reference)
    bag = bag_distance(reference, hypothesis)
    return ErrorParts(bag, distance(reference, hypothesis) - bag, len(reference))


def _check_reference(reference: str) -> None:
    if not reference:
        raise UndefinedMetricError(_("the reference is empty"))

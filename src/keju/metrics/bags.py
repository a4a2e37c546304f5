"""Recognition error and layout error: the two parts of the character error rate of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from keju.metrics.base import UndefinedMetricError
from keju.metrics.edit import distance
from keju.texts import _


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
    counts as layout. So compare both with the values of a wrong page (`keju.scoring.floors`).

    Raises:
        UndefinedMetricError: the reference is empty.
    """
    if not reference:
        raise UndefinedMetricError(_("the reference is empty"))
    bag = bag_distance(reference, hypothesis)
    return ErrorParts(bag, distance(reference, hypothesis) - bag, len(reference))

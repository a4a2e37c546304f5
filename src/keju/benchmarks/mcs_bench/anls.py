"""ANLS, average normalised Levenshtein similarity, in its three readings."""

from __future__ import annotations

from keju.metrics.edit import distance
from keju.metrics.ocr import normalised_distance


def anls_script(reference: str, hypothesis: str) -> float:
    """1 - distance / longer length, no threshold, and 1 where both texts are empty.

    What the authors' script computes (`cal_anls`), which returns early for two empty texts.
    """
    if not reference and not hypothesis:
        return 1.0
    return 1 - normalised_distance(reference, hypothesis)


def anls_paper(reference: str, hypothesis: str) -> float:
    """The paper's eqs. 7, 8: max(0, 1 - NLD / len(reference)), NLD normalised already."""
    longer = max(len(reference), len(hypothesis))
    if not reference:
        return float(not hypothesis)
    return max(0.0, 1 - distance(reference, hypothesis) / longer / len(reference))


def anls_threshold(reference: str, hypothesis: str, *, threshold: float = 0.5) -> float:
    """Biten et al. 2019: the script's value where the normalised distance is under `threshold`."""
    longer = max(len(reference), len(hypothesis))
    normalised = distance(reference, hypothesis) / longer if longer else 0.0
    return 1 - normalised if normalised < threshold else 0.0

"""`wrong_page_errors`: permutation floors of the recognition error and the layout error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from keju.extraction import read
from keju.files import sha256_bytes
from keju.items import Response
from keju.metrics import ErrorParts, error_parts
from keju.scoring.preparations import MAX_CELLS
from keju.scoring.scoring_sample import LONGEST
from keju.text import counted_alike

_FEWEST_SHIFTS = 5
"""The number of wrong pages for each response of a large set."""

_COMPARISONS = 1000
"""Comparisons up to which a small set has more shifts. Each takes 0.1 to 0.3 ms."""


class WrongPage(NamedTuple):
    """The errors of responses compared with other pages, pooled over `pairs` of the two."""

    recognition_error: float
    layout_error: float
    pairs: int


def wrong_page_errors(pairs: Iterable[tuple[str, str]]) -> WrongPage | None:
    """Compare each response with the references of other pages, and pool both errors.

    Two pages share characters by chance: in chi-know-po, a page has on average 17 % of the
    characters of another one. So a recognition error near this floor does not show that the model
    read anything. Each response is compared with other pages' references, chosen by cyclic shifts
    of the list of pages: with all others up to 32 pages, then with as many as make 1,000
    comparisons, and with five from 200 pages on. The list is ordered by hashes of the references,
    so that the floor depends neither on the order of the items nor on their names. A page with the
    same text is skipped.

    Args:
        pairs: of the transcription items of one task, the reference and the transcription of one
            model (`compared_text`).

    Returns:
        None where no two pages differ.
    """
    pairs = sorted((pair for pair in pairs if pair[0]), key=_place)
    texts = counted_alike([text for pair in pairs for text in pair])
    references, hypotheses = texts[::2], texts[1::2]
    total = ErrorParts(0, 0, 0)
    compared = 0
    for shift in _shifts(len(references)):
        for index, hypothesis in enumerate(hypotheses):
            other = references[(index + shift) % len(references)]
            if other and other != references[index] and len(other) * len(hypothesis) <= MAX_CELLS:
                parts = error_parts(other, hypothesis)
                total = ErrorParts(*(a + b for a, b in zip(total, parts, strict=True)))
                compared += 1
    return WrongPage(total.recognition_error, total.layout_error, compared) if compared else None


def compared_text(response: Response) -> str:
    """The transcription in a response; empty for failures, and if it is too long to be scored."""
    return read("transcription", response.text).value if is_compared(response) else ""


def is_compared(response: Response) -> bool:
    """Whether a response is scored; others count as empty."""
    return response.status not in {"failed", "filtered"} and len(response.text) <= LONGEST


def _place(pair: tuple[str, str]) -> tuple[str, str]:
    """The place of a page among all, which is independent of what is near it in its book."""
    reference, transcription = pair
    return sha256_bytes(reference.encode()), transcription


def _shifts(count: int) -> list[int]:
    """Shifts of a list of that length, spread evenly. Each moves every item."""
    number = max(0, min(count - 1, max(_FEWEST_SHIFTS, _COMPARISONS // max(1, count))))
    return [1 + step * (count - 1) // number for step in range(number)]

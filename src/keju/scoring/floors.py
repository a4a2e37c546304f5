"""Permutation floors of recognition and layout error: what a wrong page's text gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from keju.items import Item, Response
from keju.metrics import ErrorParts, error_parts
from keju.scoring.passages import transcription_of
from keju.scoring.preparations import MAX_CELLS
from keju.scoring.scoring_sample import LONGEST
from keju.text import counted_alike

_MOST_SHIFTS = 5
"""Wrong pages for each response; they bound the time, about 0.1 ms each."""


class WrongPage(NamedTuple):
    """Errors against the texts of other pages, pooled over `pairs` of a response and a page."""

    recognition_error: float
    layout_error: float
    pairs: int


def wrong_page_errors(answers: Sequence[tuple[Item, Response]]) -> WrongPage | None:
    """Both errors of the same responses when each is compared with other pages' references.

    Characters are shared by chance: a page of chi-know-po has 17 % of the characters of another
    one on average. So a recognition error near this floor does not show that anything was read.
    Each response is compared with up to five other pages' references, taken by shifting the list of
    items; a page with the same text is skipped. Failures, and responses too long to be scored,
    count as empty.

    Args:
        answers: the transcription items of one task with the responses of one model.

    Returns:
        None where no two pages differ.
    """
    known = [(item.answer or item.answer_simplified, _read(response)) for item, response in answers]
    known = [pair for pair in known if pair[0]]
    texts = counted_alike([text for pair in known for text in pair])
    truths, read = texts[::2], texts[1::2]
    total = ErrorParts(0, 0, 0)
    pairs = 0
    for shift in _shifts(len(truths)):
        for place, said in enumerate(read):
            other = truths[(place + shift) % len(truths)]
            if other and other != truths[place] and len(other) * len(said) <= MAX_CELLS:
                found = error_parts(other, said)
                total = ErrorParts(*(a + b for a, b in zip(total, found, strict=True)))
                pairs += 1
    return WrongPage(total.recognition_error, total.layout_error, pairs) if pairs else None


def _read(response: Response) -> str:
    """The transcription, nothing where it is not scored."""
    unread = response.status in {"failed", "filtered"} or len(response.text) > LONGEST
    return "" if unread else transcription_of(response.text).answer or ""


def _shifts(count: int) -> list[int]:
    """Up to five shifts of a list, spread evenly, none of which leaves an item in its place."""
    if count - 1 <= _MOST_SHIFTS:
        return list(range(1, count))
    return [1 + step * (count - 1) // _MOST_SHIFTS for step in range(_MOST_SHIFTS)]

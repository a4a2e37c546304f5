"""Text that is not on the page: floors of transcription errors, invented text of blank pages.

Invented text is our reading. A blank page has no character to divide by, so no rate of `official`
or `strict` is defined on it. It is in no pooled CER either, where invented characters would count
against the length of other pages. Instead the characters of the transcription are counted, as OCR
scoring counts them. A refusal and a short statement that the page is blank are not invented text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from keju.extraction import body_of, read
from keju.files import sha256_bytes
from keju.items import Response
from keju.metrics import ErrorParts, error_parts
from keju.scoring.preparations import MAX_CELLS
from keju.scoring.scoring_sample import LONGEST
from keju.scoring.verdicts import is_refusal
from keju.text import counted, counted_alike

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
    read anything. The other pages are chosen by cyclic shifts of the list of pages: all up to 32
    pages, then as many as make 1,000 comparisons, and five from 200 pages on. The list is ordered
    by hashes of the references, so that the floor depends neither on the order of the items nor on
    their names. A page with the same text is skipped.

    Args:
        pairs: of the transcription items of one task, the reference and the transcription of one
            model (`compared_text`).

    Returns:
        None where no two pages differ.
    """
    pairs = sorted(
        (pair for pair in pairs if pair[0]),
        key=lambda pair: (sha256_bytes(pair[0].encode()), pair[1]),
    )
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


def _shifts(count: int) -> list[int]:
    """Shifts of a list of that length, spread evenly. Each moves every item."""
    number = max(0, min(count - 1, max(_FEWEST_SHIFTS, _COMPARISONS // max(1, count))))
    return [1 + step * (count - 1) // number for step in range(number)]


_LONGEST_STATEMENT = 120
"""Characters of a response that may be a statement."""

FEWEST_BLANK = 10
"""Blank pages; of fewer no rate is given."""

_SAYS_BLANK = re.compile(
    r"空白|(?:没有|沒有|并无|並無|未见|未見|不含|无|無)(?:任何|可见的?|可見的?|可读的?|可讀的?)?"
    r"(?:文字|字符|文本|內容|内容)"
    r"|\bblank\b|\bempty page\b"
    r"|\bno (?:visible |readable |legible |discernible )?(?:text|characters?|writing)\b"
    r"|(?:does not|doesn't) (?:contain|have|show) any (?:text|characters?|writing)",
    re.IGNORECASE,
)


class InventedText(NamedTuple):
    """The text that one model invented on the blank pages of a task.

    Attributes:
        pages: blank pages with an answer; failures are not counted.
        with_text: pages with one invented character or more.
        characters: invented characters, all pages together.
        most: invented characters of the page with the most.
        where: that page's item; empty where nothing was invented.
    """

    pages: int
    with_text: int
    characters: int
    most: int
    where: str

    @property
    def enough(self) -> bool:
        """Whether there are enough pages for a rate."""
        return self.pages >= FEWEST_BLANK

    @property
    def per_page(self) -> float:
        """Invented characters of a blank page, mean over pages."""
        return self.characters / self.pages


def count_invented_characters(response: Response, *, engine: bool = False) -> int | None:
    """The counted characters of a response to a blank page; None without an answer.

    An OCR engine makes no statements, so whatever an `engine` returns is invented.
    """
    if response.status in ("failed", "filtered"):
        return None
    core = body_of(response.text).strip()
    says_blank = len(core) <= _LONGEST_STATEMENT and _SAYS_BLANK.search(core)
    if not engine and (says_blank or is_refusal(core)):
        return 0
    return len(counted(read("transcription", response.text).value))


def measure_invented_text(
    answers: Iterable[tuple[str, Response]], *, engine: bool = False
) -> InventedText | None:
    """Measure the text that one model invents in responses to blank pages, by item.

    Returns:
        None where no response is an answer.
    """
    counts = [
        (count, name)
        for name, response in answers
        if (count := count_invented_characters(response, engine=engine)) is not None
    ]
    if not counts:
        return None
    most, where = max(counts, key=lambda row: row[0])
    return InventedText(
        pages=len(counts),
        with_text=sum(count > 0 for count, _ in counts),
        characters=sum(count for count, _ in counts),
        most=most,
        where=where if most else "",
    )

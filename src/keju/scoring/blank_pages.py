"""Text that models invent on blank pages: how many characters, and on how many of the pages.

Our reading. A blank page has no character to divide by, so no rate of `official` or `strict` is
defined on it. It is in no pooled CER either, where invented characters would count against the
length of other pages. Instead the characters of the transcription are counted, as OCR scoring
counts them. A refusal and a short statement that the page is blank are not invented text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from keju.extraction import body_of, read
from keju.items import Response
from keju.scoring.verdicts import is_refusal
from keju.text import counted

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
    body = body_of(response.text)
    if not engine and _says_blank(body):
        return 0
    return len(counted(read("transcription", response.text).value))


def _says_blank(body: str) -> bool:
    """Whether a response declines, or says that the page is blank."""
    core = body.strip()
    return is_refusal(core) or (
        len(core) <= _LONGEST_STATEMENT and _SAYS_BLANK.search(core) is not None
    )


def measure_invented_text(
    answers: Iterable[tuple[str, Response]], *, engine: bool = False
) -> InventedText | None:
    """Measure the text that one model invents in responses to blank pages, by item.

    Returns:
        None where no response is an answer.
    """
    counts: Sequence[tuple[int, str]] = [
        (count, name)
        for name, response in answers
        if (count := count_invented_characters(response, engine=engine)) is not None
    ]
    if not counts:
        return None
    most, where = max(counts, key=lambda each: each[0])
    return InventedText(
        pages=len(counts),
        with_text=sum(count > 0 for count, _ in counts),
        characters=sum(count for count, _ in counts),
        most=most,
        where=where if most else "",
    )

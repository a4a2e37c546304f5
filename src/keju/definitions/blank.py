"""Blank pages: transcription items that are declared to show no text."""

from __future__ import annotations

import re

from msgspec.structs import replace

from keju.items import Item

MARK = "blank"
"""The metadata key of a blank page; its value is ``yes``."""

REASON = "blank page: no character to divide by, so invented text is counted apart"
"""The reason why responses to a blank page have no score: rates are per character of the reference.
"""

_BLANK_TEXT = re.compile(
    r"[\[［【〔(（]?\s*(?:blank(?: page)?|空白[頁页]?)\s*[\]］】〕)）]?", re.IGNORECASE
)


def says_blank(text: str) -> bool:
    """Whether a reference declares a blank page: its whole text is ``blank`` or ``空白``.

    ``blank page``, ``空白頁`` and ``空白页`` are also accepted, and brackets around the words.
    Other statements, such as ``no text``, may be the placeholder of a page that has text.
    """
    return _BLANK_TEXT.fullmatch(text.strip()) is not None


def mark_blank(item: Item) -> Item:
    """The item as a blank page: marked, and without a text."""
    metadata = item.metadata | {MARK: "yes"}
    return replace(item, answer="", transcription=None, lines=(), metadata=metadata)


def is_blank(item: Item) -> bool:
    """Whether an item is a blank page: declared so by its metadata (`MARK`), and without a text.

    An item without text that is not marked lacks its reference.
    """
    texts = (item.answer, item.answer_simplified, item.transcription or "")
    return item.metadata.get(MARK) == "yes" and not any(text.strip() for text in texts)


def counted_status(item: Item, status: str) -> str:
    """The status of a response for counting: an empty text is the right answer to a blank page."""
    return "answered" if status == "empty" and is_blank(item) else status

"""Blank pages: transcription items that are declared to show no text."""

from __future__ import annotations

from msgspec.structs import replace

from keju.items import Item

MARK = "blank"
"""The metadata key of a blank page; its value is ``yes``."""

REASON = "blank page: no character to divide by, so invented text is counted apart"
"""The reason why responses to a blank page have no score: rates are per character of the reference.
"""


def as_blank(item: Item) -> Item:
    """The item as a blank page: marked, and without a text."""
    metadata = item.metadata | {MARK: "yes"}
    return replace(item, answer="", transcription=None, lines=(), metadata=metadata)


def is_blank(item: Item) -> bool:
    """Whether an item is a blank page: declared so by its metadata (`MARK`), and without a text.

    An item without text that is not marked lacks its reference.
    """
    texts = (item.answer, item.answer_simplified, item.transcription or "")
    return item.metadata.get(MARK) == "yes" and not any(text.strip() for text in texts)


def status_for(item: Item, status: str) -> str:
    """The status of a response for counting: an empty text is the right answer to a blank page."""
    return "answered" if status == "empty" and is_blank(item) else status

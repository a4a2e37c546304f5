"""References: whether an item has a true answer to score responses against, and if not, why."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from keju.definitions.prompts import query_of
from keju.definitions.registry import task
from keju.items import Item
from keju.texts import _

NO_REFERENCE = "no reference"
"""Why responses to an item without a reference are unscored."""

NO_BOXES = "[]"
"""The answer of an item that asks for boxes and whose image has none: an empty list."""

BLANK = "blank"
"""The metadata key of a blank page; its value is ``yes``."""

BLANK_PAGE = _("blank page: no character to divide by, so invented text is counted apart")
"""The reason why responses to a blank page have no score: rates are per character of the reference.
"""

DECIPHERED = "deciphered"
"""The metadata key of an undeciphered character; its value is ``no``."""

UNDECIPHERED = "undeciphered: no reference"
"""The reason why responses to such an item have no score: there is no reading to compare with."""

_BLANK_TEXT = re.compile(
    r"[\[［【〔(（]?\s*(?:blank(?: page)?|空白[頁页]?)\s*[\]］】〕)）]?", re.IGNORECASE
)


def has_reference(item: Item) -> bool:
    """Whether an item has a reference, by the form of answer that its query asks for.

    The reference of an item of a pair task is the set of relevant candidates; in the reference
    split it is the label. Boxes are the reference of an item that asks for boxes, or for their
    number. An empty list is a reference too: `NO_BOXES` for boxes, 0 for a number. For all other
    forms a text without any character is not a reference.
    """
    text = (item.answer or item.answer_simplified).strip()
    if task(item.task).of_pairs:
        return bool(text if item.split == "reference" else item.relevant)
    match query_of(item).form:
        case "boxes":
            return bool(item.boxes) or text == NO_BOXES
        case "number":
            return bool(text or item.boxes)
    return bool(text)


def missing_reference(item: Item) -> str:
    """Why responses to an item are unscored; empty where the item has a reference."""
    if has_reference(item):
        return ""
    if is_blank(item):
        return BLANK_PAGE
    return UNDECIPHERED if is_undeciphered(item) else NO_REFERENCE


def says_blank(text: str) -> bool:
    """Whether a reference declares a blank page: ``blank``, ``空白頁`` …, perhaps in brackets.

    Other statements, such as ``no text``, may be the placeholder of a page that has text.
    """
    return _BLANK_TEXT.fullmatch(text.strip()) is not None


def mark_blank(item: Item) -> Item:
    """The item as a blank page: marked, and without a text."""
    metadata = item.metadata | {BLANK: "yes"}
    return replace(item, answer="", transcription=None, lines=(), metadata=metadata)


def is_blank(item: Item) -> bool:
    """Whether an item is a blank page: its metadata declare it (`BLANK`), and it has no text."""
    texts = (item.answer, item.answer_simplified, item.transcription or "")
    return item.metadata.get(BLANK) == "yes" and not any(text.strip() for text in texts)


def counted_status(item: Item, status: str) -> str:
    """The status of a response for counting: an empty text is the right answer to a blank page."""
    return "answered" if status == "empty" and is_blank(item) else status


def is_undeciphered(item: Item) -> bool:
    """Whether an item asks about a character of which no reading is established (`DECIPHERED`).

    The readers of released benchmarks write the mark if a description is empty.
    """
    return not item.answer.strip() and item.metadata.get(DECIPHERED) == "no"


def without_official(items: Iterable[Item]) -> str:
    """Why `official` has no value on any of these items; empty where it has one on some."""
    queries = {(item.task, item.query): query_of(item) for item in items}
    if not queries or any(query.official or not query.strict for query in queries.values()):
        return ""
    tasks = ", ".join(dict.fromkeys(task for task, _ in queries))
    return (
        f"{tasks} has no official protocol, because no paper defines how it is scored. "
        "Use --protocol strict"
    )

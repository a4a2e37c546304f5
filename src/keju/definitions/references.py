"""References: whether an item has a true answer to score responses against."""

from __future__ import annotations

from keju.definitions.blank import REASON as BLANK_PAGE
from keju.definitions.blank import is_blank
from keju.definitions.prompts import query_of
from keju.definitions.registry import task
from keju.definitions.undeciphered import REASON, is_undeciphered
from keju.items import Item

NO_REFERENCE = "no reference"
"""Why responses to an item without a reference are unscored."""

NO_BOXES = "[]"
"""The answer of an item that asks for boxes and whose image has none: an empty list."""


def has_reference(item: Item) -> bool:
    """Whether an item has a reference, by the form of answer that its query asks for.

    The reference of an item of a pair task is the set of relevant candidates; in the reference
    split it is the label. Boxes are the reference of an item that asks for boxes, or for their
    number. An empty list is a reference too: `NO_BOXES` for boxes, 0 for a number. For all other
    forms a text without any character is not a reference.

    Raises:
        DataError: the item's query is not in the catalogue.
        UsageError: the item's task is not in the catalogue.
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
    return REASON if is_undeciphered(item) else NO_REFERENCE

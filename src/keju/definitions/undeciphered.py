"""Undeciphered characters: items that have no reference to score."""

from __future__ import annotations

from keju.items import Item

MARK = "deciphered"
"""The metadata key of an undeciphered character; its value is ``no``."""

REASON = "undeciphered: no reference"
"""The reason why responses to such an item have no score: the reading itself is the outcome."""


def is_undeciphered(item: Item) -> bool:
    """Whether an item asks about a character of which no reading is established.

    It is marked so by its metadata (`MARK`), which the readers write where a description is empty;
    an unmarked item without an answer is an error in the dataset.
    """
    return not item.answer.strip() and item.metadata.get(MARK) == "no"

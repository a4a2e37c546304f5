"""`is_undeciphered`: whether an item asks about a character without an established reading."""

from __future__ import annotations

from keju.items import Item

MARK = "deciphered"
"""The metadata key of an undeciphered character; its value is ``no``."""

REASON = "undeciphered: no reference"
"""The reason why responses to such an item have no score: there is no reading to compare with."""


def is_undeciphered(item: Item) -> bool:
    """Whether an item asks about a character of which no reading is established.

    Such an item is marked in its metadata (`MARK`). The readers of released benchmarks write the
    mark if a description is empty. An item that has neither an answer nor the mark is an error in
    the dataset.
    """
    return not item.answer.strip() and item.metadata.get(MARK) == "no"

"""The row format of VLMEvalKit: its columns for an item. Shared by reader and writer.

The columns are VLMEvalKit's own (its development guide); ``id`` and ``keju`` are ours, and it
ignores unknown ones. ``keju`` is the item as JSON without its images, so that reading a row
restores the same item.
"""

from __future__ import annotations

from string import ascii_uppercase

import msgspec

from keju.definitions import options_in, options_of, prompt_of, query_of, task
from keju.errors import DataError
from keju.items import Item

OURS = ("id", "keju")
HEADS = ("index", "id", "image", "question", "answer", "category", "l2-category", "split", "keju")
"""The columns beside the options ``A``, ``B`` …"""

_LABELS = "AＡ"
_OPENING = "(（[【"


def build_row(item: Item) -> dict[str, str]:
    """The columns of an item, except its index and images.

    For multiple choice, ``question`` is the stem and each option has its column, since VLMEvalKit
    joins them in its own wording; else it is the whole prompt.

    Raises:
        DataError: the prompt cannot be made from the item.
    """
    options = options_of(item)
    cells = {
        "id": item.id,
        "question": stem_of(prompt_of(item), options) if options else prompt_of(item),
        "answer": format_answer(item),
        "category": item.task if not item.query else f"{item.task} {item.query}",
        "l2-category": task(item.task).domain,
        "split": item.split,
        "keju": msgspec.json.encode(msgspec.structs.replace(item, images=())).decode(),
    }
    return cells | dict(zip(ascii_uppercase, options, strict=False))


def format_answer(item: Item) -> str:
    """The answer as text: boxes in the format of the prompt."""
    if query_of(item).form != "boxes":
        return item.answer
    return ", ".join(f"[{box.x0:g}, {box.y0:g}, {box.x1:g}, {box.y1:g}]" for box in item.boxes)


def stem_of(prompt: str, options: tuple[str, ...]) -> str:
    """A prompt up to its options, which all occur in the rest."""
    for place in range(len(prompt) - 1, -1, -1):
        if prompt[place] in _LABELS and options_in(prompt[place:]) == options:
            return prompt[:place].strip().rstrip(_OPENING).rstrip()
    return prompt


def parse_item(cell: str, place: str) -> Item:
    """The item in a cell ``keju``.

    Raises:
        DataError: it contains none.
    """
    try:
        return msgspec.json.decode(cell, type=Item)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DataError(
            "the cell in the column keju is not an item: {}",
            error,
            item=place,
            hint="Remove the column keju",
        ) from None

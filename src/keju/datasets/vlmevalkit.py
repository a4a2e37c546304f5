"""The row form of VLMEvalKit: what its columns say of an item. Shared by reader and writer.

The columns are VLMEvalKit's own (its development guide); ``id`` and ``keju`` are ours, and it
passes over what it does not know. ``keju`` is the item as JSON without its images, so that reading
a row gives the same item again.
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


def cells_of(item: Item) -> dict[str, str]:
    """What the columns say of an item, its index and images aside.

    Of multiple choice, ``question`` is the stem and each option has its column, since VLMEvalKit
    puts them together in its own words; else it is the whole prompt.

    Raises:
        DataError: the prompt cannot be made of the item.
    """
    options = options_of(item)
    cells = {
        "id": item.id,
        "question": stem_of(prompt_of(item), options) if options else prompt_of(item),
        "answer": answer_of(item),
        "category": item.task if not item.query else f"{item.task} {item.query}",
        "l2-category": task(item.task).domain,
        "split": item.split,
        "keju": msgspec.json.encode(msgspec.structs.replace(item, images=())).decode(),
    }
    return cells | dict(zip(ascii_uppercase, options, strict=False))


def answer_of(item: Item) -> str:
    """The answer as text: boxes as the prompt asks for them."""
    if query_of(item).form != "boxes":
        return item.answer
    return ", ".join(f"[{box.x0:g}, {box.y0:g}, {box.x1:g}, {box.y1:g}]" for box in item.boxes)


def stem_of(prompt: str, options: tuple[str, ...]) -> str:
    """A prompt up to its options, which are all found again in the rest."""
    for place in range(len(prompt) - 1, -1, -1):
        if prompt[place] in _LABELS and options_in(prompt[place:]) == options:
            return prompt[:place].strip().rstrip(_OPENING).rstrip()
    return prompt


def item_in(cell: str, place: str) -> Item:
    """The item that a cell ``keju`` holds.

    Raises:
        DataError: it holds none.
    """
    try:
        return msgspec.json.decode(cell, type=Item)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DataError(
            f"the cell keju holds no item: {error}", item=place, mend="Take out the column keju"
        ) from None

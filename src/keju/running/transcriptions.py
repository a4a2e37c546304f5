"""`transcription_filler`: transcriptions for items that have none of their own.

A definition says so with ``transcription_from``: where a release has no transcriptions for some of
its tasks, the references of another task about the same images (by SHA-256) are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from keju.definitions import task
from keju.items import Item

_Place = tuple[str, tuple[str, ...]]
"""A task and the hashes of an item's images."""


def transcription_filler(
    selected: Iterable[Item], everything: Iterable[Item]
) -> Callable[[Item], Item]:
    """The function that gives an item without a transcription that of another task.

    An item with several images gets the texts of all of them, one after the other. Where there are
    two different references of one image, neither is used; drafts have none.

    Args:
        selected: the selected items.
        everything: all items of the dataset, including those that are not selected; read only if a
            selected item has no transcription.
    """
    sources, images = set[str](), set[str]()
    for item in selected:
        if _lacks(item):
            sources.add(_source(item))
            images.update(_hashes(item))
    texts: dict[_Place, set[str]] = {}
    for item in everything if sources else ():
        text = "" if item.draft or item.task not in sources else item.answer or item.transcription
        if text and text.strip() and images.issuperset(_hashes(item)):
            texts.setdefault((item.task, _hashes(item)), set()).add(text)
    unique = {place: choices.pop() for place, choices in texts.items() if len(choices) == 1}

    def fill(item: Item) -> Item:
        if not unique or not _lacks(item):
            return item
        source, hashes = _source(item), _hashes(item)
        parts = [unique.get((source, (image,)), "") for image in hashes]
        text = unique.get((source, hashes)) or ("\n".join(parts) if all(parts) else "")
        return replace(item, transcription=text) if text else item

    return fill


def _source(item: Item) -> str:
    return task(item.task).transcription_from


def _lacks(item: Item) -> bool:
    return bool(_source(item)) and not (item.transcription or "").strip()


def _hashes(item: Item) -> tuple[str, ...]:
    return tuple(ref.sha256 for ref in item.images)

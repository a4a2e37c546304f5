"""Transcriptions for items that have none of their own: T1's reference of the same images.

MCS-Bench 4.4 (Setting 3) sends the accurate OCR result with T2 to T6. Released T2 and T4 to T6 have
no transcription; T1 has a transcription of the same images as its reference. Matching images by
SHA-256 is our reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from keju.items import Item

SOURCE_TASK = "T1"
SHARING_TASKS = frozenset({"T2", "T3", "T4", "T5", "T6"})
"""The tasks of MCS-Bench 4.4."""


def reference_text(item: Item) -> str | None:
    """The transcription that is the reference of a T1 item; None for a draft and any other item."""
    if item.task != SOURCE_TASK or item.draft:
        return None
    return item.answer or item.transcription


def with_transcriptions(chosen: Sequence[Item], everything: Iterable[Item]) -> list[Item]:
    """The chosen items, where those of T2 to T6 without a transcription have T1's.

    An item with several images gets the texts of all of them, one after the other. Where T1 has two
    different references of one image, neither is used.

    Args:
        chosen: the selected items.
        everything: all items of the dataset, including those that are not selected.
    """
    lacking = [item for item in chosen if _lacks(item)]
    if not lacking:
        return list(chosen)
    wanted = {ref.sha256 for item in lacking for ref in item.images}
    texts: dict[tuple[str, ...], set[str]] = {}
    for item in everything:
        text = reference_text(item)
        if text and text.strip() and wanted.issuperset(ref.sha256 for ref in item.images):
            texts.setdefault(tuple(ref.sha256 for ref in item.images), set()).add(text)
    known = {images: found.pop() for images, found in texts.items() if len(found) == 1}
    return [
        replace(item, transcription=text) if _lacks(item) and (text := _text(item, known)) else item
        for item in chosen
    ]


def _lacks(item: Item) -> bool:
    return item.task in SHARING_TASKS and not (item.transcription or "").strip()


def _text(item: Item, known: Mapping[tuple[str, ...], str]) -> str | None:
    images = tuple(ref.sha256 for ref in item.images)
    if images in known:
        return known[images]
    parts = [known.get((image,)) for image in images]
    return "\n".join(part for part in parts if part) if parts and all(parts) else None

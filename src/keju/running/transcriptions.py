"""Transcriptions for items that have none of their own: another task's references.

A definition says so with ``transcription_from``: where a release has no transcriptions for some of
its tasks, the references of another task about the same images (by SHA-256) are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from keju.definitions import benchmark, task
from keju.items import Item

_Place = tuple[str, tuple[str, ...]]
"""A task and the hashes of an item's images."""


def reference_text(item: Item) -> str | None:
    """The transcription that is an item's reference, where items of other tasks may take it.

    None for a draft and for an item of any other task.
    """
    if item.draft or not _lends(item):
        return None
    return item.answer or item.transcription


def with_transcriptions(chosen: Sequence[Item], everything: Iterable[Item]) -> list[Item]:
    """The chosen items, where those without a transcription have that of another task.

    An item with several images gets the texts of all of them, one after the other. Where there are
    two different references of one image, neither is used.

    Args:
        chosen: the selected items.
        everything: all items of the dataset, including those that are not selected.
    """
    fill = transcription_filler(chosen, everything)
    return [fill(item) for item in chosen]


def transcription_filler(
    chosen: Iterable[Item], everything: Iterable[Item]
) -> Callable[[Item], Item]:
    """The function that gives an item the transcription of another task (`with_transcriptions`).

    Args:
        chosen: see `with_transcriptions`.
        everything: see `with_transcriptions`; read only if a chosen item has no transcription.
    """
    sources: set[str] = set()
    wanted: set[str] = set()
    for item in chosen:
        if _lacks(item):
            sources.add(_source(item))
            wanted.update(ref.sha256 for ref in item.images)
    known = _known_texts(sources, wanted, everything) if sources else {}

    def fill(item: Item) -> Item:
        text = _text(item, known) if known and _lacks(item) else None
        return replace(item, transcription=text) if text else item

    return fill


def _known_texts(
    sources: set[str], wanted: set[str], everything: Iterable[Item]
) -> dict[_Place, str]:
    texts: dict[_Place, set[str]] = {}
    for item in everything:
        text = reference_text(item) if item.task in sources else None
        if text and text.strip() and wanted.issuperset(ref.sha256 for ref in item.images):
            texts.setdefault((item.task, _hashes(item)), set()).add(text)
    return {place: found.pop() for place, found in texts.items() if len(found) == 1}


def _source(item: Item) -> str:
    return task(item.task).transcription_from


def _lends(item: Item) -> bool:
    own = benchmark(task(item.task).benchmark)
    return any(each.transcription_from == item.task for each in own.tasks)


def _lacks(item: Item) -> bool:
    return bool(_source(item)) and not (item.transcription or "").strip()


def _hashes(item: Item) -> tuple[str, ...]:
    return tuple(ref.sha256 for ref in item.images)


def _text(item: Item, known: Mapping[_Place, str]) -> str | None:
    source, images = _source(item), _hashes(item)
    if (source, images) in known:
        return known[source, images]
    parts = [known.get((source, (image,))) for image in images]
    return "\n".join(part for part in parts if part) if parts and all(parts) else None

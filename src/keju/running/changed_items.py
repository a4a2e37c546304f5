"""`ChangedItems`: changes of a dataset since a run, and which stored responses remain valid.

An answer depends on the request alone, never on the reference, so that a corrected reference only
needs another `score`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from keju.datasets.readers.base import join_names
from keju.datasets.store import Dataset
from keju.definitions import query_of
from keju.items import TRUE_READING, Item
from keju.running.cache_key import request_key
from keju.running.examples import has_examples
from keju.running.requests import requests_for
from keju.running.selecting import RequestVariant, Selection, skip_reason
from keju.running.store import ResponseStore
from keju.runs import RunFolder
from keju.runs.record_list import RecordList
from keju.texts import _, n_

_NAMED = 3


class ChangedItems(NamedTuple):
    """The ids of items that differ between a run and its dataset.

    `references` make the same requests as before, with another reference; `described` differ in
    their descriptions alone; `changed_requests` make other requests, such as with another image.
    """

    references: list[str]
    described: list[str]
    changed_requests: list[str]
    new: list[str]
    gone: list[str]
    pages: bool

    @property
    def stale(self) -> list[str]:
        """The items whose stored responses are outdated."""
        return [*self.changed_requests, *self.gone]

    def lines(self) -> Iterator[str]:
        """The changes and their consequences, a line each."""
        if ids := self.references:
            yield n_(
                "{n:,} reference changed ({}): the scores are computed again, and no request is "
                "sent again because of this",
                "{n:,} references changed ({}): the scores are computed again, and no request is "
                "sent again because of this",
                len(ids),
                _names(ids),
            )
        if ids := self.described:
            yield _(
                "{} with changed descriptions, not run again: {}", self._count(ids), _names(ids)
            )
        if ids := self.changed_requests:
            yield _(
                "{} with another image or question, run again: {}", self._count(ids), _names(ids)
            )
        if ids := self.new:
            yield _("{} new, run now: {}", self._count(ids), _names(ids))
        if ids := self.gone:
            yield _(
                "{} no longer in the dataset, whose responses are removed: {}",
                self._count(ids),
                _names(ids),
            )

    def _count(self, ids: Sequence[str]) -> str:
        if self.pages:
            return n_("{n:,} page", "{n:,} pages", len(ids))
        return n_("{n:,} item", "{n:,} items", len(ids))


def changed_items(
    run: RunFolder, dataset: Dataset, chosen: Collection[str], variants: Sequence[RequestVariant]
) -> ChangedItems:
    """Compare the items of a run with the chosen ones of its dataset as it is now.

    Raises:
        DataError: items.parquet is damaged, or is not the file that the run stored.
    """
    chosen = set(chosen)
    stored = RecordList(Item, run.iter_items())
    places = {item.id: place for place, item in enumerate(stored)}
    found = ChangedItems([], [], [], [], [], pages=True)
    pages = True
    for item in dataset:
        if item.id not in chosen:
            continue
        pages = pages and _is_page(item)
        place = places.pop(item.id, None)
        if place is None:
            found.new.append(item.id)
            continue
        was = stored[place]
        if _asks(was, variants) != _asks(item, variants):
            found.changed_requests.append(item.id)
        elif _described(was, item) != item:
            found.references.append(item.id)
        elif was != item:
            found.described.append(item.id)
    found.gone.extend(places)
    return found._replace(pages=pages)


def resume_obstacle(selection: Selection, found: ChangedItems, *, drop_changed: bool) -> str:
    """Why a run cannot resume with the dataset as it is now; empty if it can.

    With `drop_changed`, items may have changed or be gone.
    """
    if TRUE_READING.intersection(selection.settings):
        return _("its references are part of the prompts (--setting gold-ocr, gold-text)")
    if has_examples(selection.wordings):
        return _("its items are part of the prompts (--examples)")
    if selection.pairs is not None:
        return _("--pairs was computed on it")
    return "" if drop_changed else _changed_or_gone(found)


def _changed_or_gone(found: ChangedItems) -> str:
    if ids := found.changed_requests:
        return n_(
            "{n:,} item of the run changed in image or question: {}",
            "{n:,} items of the run changed in image or question: {}",
            len(ids),
            _names(ids),
        )
    if ids := found.gone:
        return n_(
            "{n:,} item of the run is not selected now: {}",
            "{n:,} items of the run are not selected now: {}",
            len(ids),
            _names(ids),
        )
    return ""


def _names(ids: Sequence[str]) -> str:
    return join_names(ids, _NAMED)


def drop_stale(found: ChangedItems, store: ResponseStore) -> None:
    """Remove the responses of all models to items that changed or are gone."""
    stale = set(found.stale)
    folder = store.folder
    for model in folder.manifest().models if stale else ():
        kept = [each for each in folder.responses(model) if each.item not in stale]
        store.replace(model, kept)


def _asks(item: Item, variants: Sequence[RequestVariant]) -> list[str]:
    """The requests of an item, as hashes; of readings before them only the images count."""
    return [
        skip_reason(item, variant) or request_key(request, {})
        for variant in variants
        for request in requests_for(item, variant)
    ]


def _described(was: Item, item: Item) -> Item:
    """An item as it was, with the descriptions that it has now."""
    return replace(was, group=item.group, metadata=item.metadata, provenance=item.provenance)


def _is_page(item: Item) -> bool:
    return query_of(item).form == "transcription"

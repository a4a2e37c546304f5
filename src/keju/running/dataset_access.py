"""`attach_dataset`: give models the data of a dataset that they may use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from keju.datasets.page_names import find_named_pages
from keju.datasets.store import Dataset
from keju.definitions import query_of
from keju.errors import DataError
from keju.items import Item, get_group
from keju.models import ItemImages, ModelOptions
from keju.running.dataset_items import view_items
from keju.running.request_images import LazyImages
from keju.runs.record_list import RecordList


def attach_dataset(dataset: Dataset, items: Sequence[Item], options: ModelOptions) -> ModelOptions:
    """The model options, with the data that baselines may use.

    These are the labelled items of the reference split, and only the images of the test split.

    Args:
        dataset: where the images are stored.
        items: all its items, including those that are not selected.
        options: the user's options.
    """
    return replace(
        options,
        reference=tuple(item for item in items if item.split == "reference"),
        item_images=view_items(items, _places_of_images(items), _images_of),
        images_of=partial(LazyImages, dataset),
        pages_of=lambda: find_named_pages(
            RecordList(Item, (item for item in map(_without_text, dataset) if item.images))
        ),
    )


def _places_of_images(items: Sequence[Item]) -> Iterator[int]:
    """The indices of the items of the test split with images."""
    for place, item in enumerate(items):
        if item.split == "test" and item.images:
            yield place


def _without_text(item: Item) -> Item:
    """The item with what determines the names of its pages; without images if it is not a page.

    The selected items no longer have metadata (`item_to_send`).
    """
    try:
        is_page = query_of(item).form == "transcription"
    except DataError:
        is_page = False  # Not a selected item.
    return Item(
        id=item.id,
        benchmark=item.benchmark,
        task=item.task,
        query=item.query,
        images=item.images if is_page else (),
        metadata=item.metadata if is_page else {},
    )


def _images_of(item: Item) -> ItemImages:
    return ItemImages(
        item=item.id,
        benchmark=item.benchmark,
        task=item.task,
        group=get_group(item),
        images=item.images,
    )

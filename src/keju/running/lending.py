"""What a dataset lends to the models that are asked about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from keju.datasets.page_names import named_pages
from keju.datasets.store import Dataset
from keju.definitions import prompt_of, query_of
from keju.errors import DataError
from keju.items import Item
from keju.models import ModelOptions, Shown
from keju.models.base import ItemPrompt
from keju.running.request_images import Images


def lend(dataset: Dataset, items: Sequence[Item], options: ModelOptions) -> ModelOptions:
    """The options, with what baselines may know of a dataset.

    That is the labelled items of the reference split, and of the test split the images alone.

    Args:
        dataset: where the images lie.
        items: all its items, those that are not asked included.
        options: what the user set.
    """
    return replace(
        options,
        reference=tuple(item for item in items if item.split == "reference"),
        shown=tuple(_shown(item) for item in items if item.split == "test" and item.images),
        images_of=partial(Images, dataset),
        prompts_of=lambda: [_prompts(item) for item in items],
        pages_of=lambda: named_pages(each for each in dataset.items(_without_text) if each.images),
    )


def _without_text(item: Item) -> Item:
    """What the names of an item's pages are made of; without images if it asks for something else.

    The items that are asked have no metadata any more (`to_ask`).
    """
    try:
        is_page = query_of(item).form == "transcription"
    except DataError:
        is_page = False  # The item is not asked.
    return Item(
        id=item.id,
        benchmark=item.benchmark,
        task=item.task,
        query=item.query,
        images=item.images if is_page else (),
        metadata=item.metadata if is_page else {},
    )


def _prompts(item: Item) -> ItemPrompt:
    try:
        prompt = prompt_of(item)
    except DataError:
        prompt = ""  # The item is not asked; its place among the others counts.
    texts = dict.fromkeys(text for text in (prompt, item.question) if text.strip())
    return ItemPrompt(
        id=item.id, task=item.task, query=item.query, split=item.split, texts=tuple(texts)
    )


def _shown(item: Item) -> Shown:
    return Shown(
        item=item.id,
        benchmark=item.benchmark,
        task=item.task,
        group=item.group or item.images[0].sha256,
        images=item.images,
    )

"""Ranking items about one image and its candidates: retrieval, classification, rejoining."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from keju.definitions import task
from keju.items import ImageRef, Item


def make_item_per_query(pattern: Item, queries: Sequence[str] = ()) -> Iterator[Item]:
    """Make an item for each query of the pattern's task, or for the given ones.

    The id of an item ends with its query.
    """
    for query in queries or tuple(query.name for query in task(pattern.task).queries):
        yield structs.replace(pattern, id=f"{pattern.id}-{query.casefold()}", query=query)


def make_ranking_items(
    name: str,
    task_id: str,
    images: tuple[ImageRef, Sequence[ImageRef]],
    relevant: Sequence[int],
    group: str,
    metadata: Mapping[str, str],
) -> Iterator[Item]:
    """Make the items of all queries of a task about one image and its candidates.

    `images` are the query image and its candidates; `relevant` the right ones, counted from 1.
    """
    query, gallery = images
    pattern = Item(
        id=f"{name}-{task_id}",
        benchmark=task(task_id).benchmark,
        task=task_id,
        images=(query, *gallery),
        relevant=tuple(relevant),
        group=group,
        metadata=dict(metadata),
    )
    yield from make_item_per_query(pattern)

"""Ranking items about one image and its candidates: retrieval, classification, rejoining."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from keju.definitions import task
from keju.items import ImageRef, Item


def make_ranking_items(
    name: str,
    task_id: str,
    images: tuple[ImageRef, Sequence[ImageRef]],
    relevant: Sequence[int],
    group: str,
    metadata: Mapping[str, str],
) -> Iterator[Item]:
    """Make the items of all queries of a task about one image and its candidates.

    `images` are the query image and its candidates; `relevant` the right ones, counted from 1. The
    id of an item ends with its query.
    """
    shown, gallery = images
    kind = task(task_id)
    for query in kind.queries:
        yield Item(
            id=f"{name}-{task_id}-{query.name.casefold()}",
            benchmark=kind.benchmark,
            task=task_id,
            query=query.name,
            images=(shown, *gallery),
            relevant=tuple(relevant),
            group=group,
            metadata=dict(metadata),
        )

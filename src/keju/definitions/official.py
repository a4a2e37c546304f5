"""Tasks without an official protocol, because no paper defines them."""

from __future__ import annotations

from collections.abc import Iterable

from keju.definitions.prompts import query_of
from keju.items import Item


def without_official(items: Iterable[Item]) -> str:
    """Why `official` has no value on any of these items; empty where it has one on some."""
    queries = {(item.task, item.query): query_of(item) for item in items}
    if not queries or any(query.official or not query.strict for query in queries.values()):
        return ""
    tasks = ", ".join(dict.fromkeys(task for task, _ in queries))
    return (
        f"{tasks} has no official protocol, because no paper defines how it is scored. "
        "Use --protocol strict"
    )

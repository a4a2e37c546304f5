"""Items and responses, made quickly."""

from __future__ import annotations

import pytest

from keju.definitions import task
from keju.items import Item, Response


@pytest.fixture
def make():
    """An item and its response: ``make(task, answer, text, status=…, **item fields)``."""

    def pair(task_id, answer, text, *, status=None, name="i1", model="m", **fields):
        benchmark = task(task_id).benchmark
        item = Item(id=name, benchmark=benchmark, task=task_id, answer=answer, **fields)
        response = Response(
            key=f"{model}/{task_id}/{name}",
            item=name,
            model=model,
            benchmark=benchmark,
            task=task_id,
            query=item.query,
            status=status or ("answered" if text.strip() else "empty"),
            text=text,
        )
        return item, response

    return pair

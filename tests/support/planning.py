"""The plan of a run, and its requests, made from a dataset at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keju.datasets.store import Dataset
from keju.items import Item, Request
from keju.models import Model
from keju.running import Plan, Policy, Selection, plan_run
from keju.running.prices import Prices
from keju.running.requests import requests_for
from keju.running.selection import select, skip_reason
from keju.runs import RunFolder


def estimate(
    dataset: Dataset,
    models: Sequence[str | Model],
    selection: Selection,
    *,
    folder: RunFolder | None = None,
    prices: Prices | None = None,
    per_minute: float | None = None,
) -> Plan:
    """The plan of a run, as `keju run --plan` makes it."""
    return plan_run(
        dataset.path, models, folder.path if folder else dataset.path.parent / "no-run",
        selection=selection, policy=Policy(prices=prices, per_minute=per_minute),
    )  # fmt: skip


def requests(
    dataset: Dataset, selection: Selection | None = None
) -> Iterator[tuple[Item, Request]]:
    """The selected items, each with its requests, by prompt variant within an item."""
    selection = selection or Selection()
    for item in select(dataset.items(), selection, dataset.path):
        for variant in selection.variants:
            if not skip_reason(item, variant):
                for request in requests_for(item, variant):
                    yield item, request

"""What will be asked: which items, as which requests, and what that costs. Asks nobody."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import field

from keju.datasets.store import Dataset
from keju.items import Record, Request
from keju.models import Model
from keju.running.requests import requests_for
from keju.running.selecting import Selection, refusal, select

_FRAMING = len('{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,"}},')


class PlanRow(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What one model will be asked of one task.

    `calls` are requests over all rounds, `image_bytes` the bytes of the images as stored and
    `wire_bytes` what is sent, images in base64; 0 where nothing leaves this machine. `declined`
    maps reasons to counts.
    """

    model: str
    task: str
    calls: int = 0
    images: int = 0
    image_bytes: int = 0
    wire_bytes: int = 0
    declined: dict[str, int] = field(default_factory=dict)


class Plan(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What a run would ask, one row for each model and task."""

    items: int
    rows: tuple[PlanRow, ...]

    @property
    def calls(self) -> int:
        """Requests over all models and tasks."""
        return sum(row.calls for row in self.rows)

    @property
    def wire_bytes(self) -> int:
        """Bytes that leave this machine."""
        return sum(row.wire_bytes for row in self.rows)


def estimate(dataset: Dataset, models: Sequence[Model], selection: Selection) -> Plan:
    """Count what a run would ask of each model.

    Raises:
        UsageError: see `select`.
        DataError: see `select` and `request_for`.
    """
    items = select(dataset.items(), selection, dataset.path)
    counts: dict[tuple[str, str], _Count] = {}
    for item in items:
        why = refusal(item, selection.setting)
        for request in requests_for(item, selection):
            for model in models:
                count = counts.setdefault((model.name, item.task), _Count())
                count.add(request, why or model.declines(request), selection.rounds, model)
    order = {model.name: place for place, model in enumerate(models)}
    places = sorted(counts, key=lambda place: order[place[0]])
    return Plan(items=len(items), rows=tuple(counts[place].row(*place) for place in places))


class _Count:
    def __init__(self) -> None:
        self.calls = self.images = self.image_bytes = self.wire_bytes = 0
        self.declined: dict[str, int] = {}

    def add(self, request: Request, declined: str, rounds: int, model: Model) -> None:
        if declined:
            self.declined[declined] = self.declined.get(declined, 0) + rounds
            return
        self.calls += rounds
        self.images += rounds * len(request.images)
        self.image_bytes += rounds * sum(ref.size for ref in request.images)
        if "endpoint" in model.identity:
            self.wire_bytes += rounds * wire_size(request)

    def row(self, model: str, task_id: str) -> PlanRow:
        return PlanRow(
            model=model,
            task=task_id,
            calls=self.calls,
            images=self.images,
            image_bytes=self.image_bytes,
            wire_bytes=self.wire_bytes,
            declined=self.declined,
        )


def wire_size(request: Request) -> int:
    """Bytes that a request takes on the wire, near enough: base64 is 4 bytes for each 3."""
    images = sum((ref.size + 2) // 3 * 4 + _FRAMING for ref in request.images)
    return images + len(request.prompt.encode())

"""`read_responses`: the responses of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import force_setattr

from keju.files import read_jsonl
from keju.items import Response

_REPEATED = (
    "model", "benchmark", "task", "query", "setting", "script", "wording", "status",
    "finish_reason", "usage", "uncounted", "box_convention", "served_model", "fingerprint",
)  # fmt: skip
"""The fields of a response whose values many share."""

_MOST_SHARED = 10_000


def read_responses(path: Path) -> Iterator[Response]:
    """The responses of a file as stored.

    Values that many responses share, such as the model, are in memory once.

    Raises:
        DataError: a line is damaged.
    """
    shared: dict[object, object] = {}
    for response in read_jsonl(path, Response, appended=True):
        if len(shared) > _MOST_SHARED:
            shared.clear()
        for name in _REPEATED:
            value = getattr(response, name)
            force_setattr(response, name, shared.setdefault(value, value))
        yield response

"""`diagnose`: ask the server of a stopped model which models and addresses it has."""

from __future__ import annotations

from keju.models import capabilities_of
from keju.running.request_runner import ModelQueue

_KINDS = frozenset({"bad-request", "bad-response", "connection"})


async def diagnose(queue: ModelQueue) -> None:
    """If the queue stopped before any answer, add the models of its server to the hint."""
    failure = queue.halted_by
    if failure is None or failure.kind not in _KINDS or queue.answered:
        return
    if not failure.message.startswith("HTTP ") and failure.kind == "connection":
        return
    if diagnosis := capabilities_of(queue.model).diagnosis:
        queue.diagnosis = await diagnosis()

"""Diagnosis of a stopped model: ask its server which models and addresses are available."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from keju.running.request_runner import ModelQueue

_KINDS = frozenset({"bad-request", "bad-response", "connection"})


@runtime_checkable
class _Diagnosable(Protocol):
    async def diagnosis(self) -> str:
        """What the server reports about its models and its address; empty if nothing."""


async def diagnose(queue: ModelQueue) -> None:
    """Add the server's models to the hint of a queue that was stopped before any answer."""
    failure = queue.halted_by
    if failure is None or failure.kind not in _KINDS or queue.answered:
        return
    if not failure.message.startswith("HTTP ") and failure.kind == "connection":
        return
    if isinstance(queue.model, _Diagnosable):
        queue.diagnosis = await queue.model.diagnosis()

"""Ask the server of a model that was stopped what would have been right."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from keju.running.ask import Lane

_KINDS = frozenset({"bad-request", "bad-response", "connection"})


@runtime_checkable
class _Diagnosable(Protocol):
    async def diagnosis(self) -> str:
        """What the server says about its models and its address; empty where it says nothing."""


async def diagnose(lane: Lane) -> None:
    """Complete the hint of a lane that was stopped before any answer with the server's models."""
    failure = lane.halted_by
    if failure is None or failure.kind not in _KINDS or lane.answered:
        return
    if not failure.message.startswith("HTTP ") and failure.kind == "connection":
        return
    if isinstance(lane.model, _Diagnosable):
        lane.diagnosis = await lane.model.diagnosis()

"""`Step`: the declaration of a build step, for recipes and commands.

A step reads a finished dataset and writes another. It never changes its input, and it lists what it
drops or joins in a table beside the items, so that nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from keju.settings import Settings

if TYPE_CHECKING:
    from keju.building.step_context import StepContext


__all__ = ["Settings", "Step"]

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """A kind of step.

    Attributes:
        name: its name in recipes (``do = "…"``), commands (``keju build …``), seeds, fingerprints,
            provenance and directories.
        summary: one sentence for ``--help``.
        settings: the type of its settings.
        run: the function: reads ``context.dataset``, writes with ``context.keep``,
            ``context.writer`` and ``context.table``.
        version: raised whenever the same settings would give other items, so that builds made
            before do not count as finished.
        asks_models: whether it sends data to models, so that its command has the option
            ``--send-restricted-data``.
    """

    name: str
    summary: str
    settings: type[S]
    run: Callable[[StepContext, S], None]
    version: int = 1
    asks_models: bool = False

"""`Step` and `Settings`: the declaration of a build step, for recipes and commands.

A step reads a finished dataset and writes another. It never changes its input, and it lists what it
drops or joins in a table beside the items, so that nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from keju.building.step_context import StepContext


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a step; each field is a key of a recipe's table and an option of a command.

    Fields are declared ``Annotated[int, Meta(description="…", ge=1)]`` with a default wherever one
    is sensible; the description is the option's help.
    """


S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """A kind of step.

    Attributes:
        name: its name in recipes (``do = "…"``) and commands (``keju build …``).
        summary: one sentence for ``--help``.
        settings: the type of its settings.
        run: the function: reads ``context.given``, writes with ``context.keep``, ``context.writer``
            and ``context.table``.
        version: raised whenever the same settings would give other items, so that builds made
            before do not count as finished.
    """

    name: str
    summary: str
    settings: type[S]
    run: Callable[[StepContext, S], None]
    version: int = 1

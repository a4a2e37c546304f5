"""`with_groups`: commands whose options are declared in groups, as dataclasses."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """A command as Typer reads it: each parameter that is a group becomes the options of the group.

    A group is a dataclass whose fields are annotated as options. The command is called with one
    object for each group.
    """
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    groups = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }
    defaults = inspect.signature(command).parameters
    declared: list[tuple[str, Any, Any]] = []
    for name, kind in hints.items():
        if name in groups:
            of_group = get_type_hints(kind, include_extras=True)
            declared += [(each.name, of_group[each.name], each.default) for each in fields(kind)]
        else:
            declared.append((name, kind, defaults[name].default))

    @wraps(command)
    def called(**given: Any) -> None:  # noqa: ANN401 - options are of any type
        made = {
            name: kind(**{each.name: given.pop(each.name) for each in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **made)

    called.__annotations__ = {name: kind for name, kind, _ in declared}
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default
            )
            for name, kind, default in declared
        ]
    )
    return called

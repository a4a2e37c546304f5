"""`guard_function`: convert unexpected exceptions of a plug-in's function to one-line errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from keju.errors import KejuError, describe_exception, shortened
from keju.registry.plugins import Plugin, PluginError
from keju.texts import _

P = ParamSpec("P")
R = TypeVar("R")

_LONGEST = 300
"""Maximum characters of an exception's text, which may quote a whole document."""

DEBUG = "KEJU_DEBUG"
"""The environment variable with which the command line prints the traceback of every error."""


def is_debugging() -> bool:
    """Return whether the user wants tracebacks."""
    return os.environ.get(DEBUG, "") not in {"", "0"}


@contextmanager
def guard_call(plugin: Plugin, function: str) -> Iterator[None]:
    """Raise a `PluginError` in place of an unexpected exception.

    Errors of keju itself, which have a text for the user, and system errors pass unchanged.
    """
    try:
        yield
    except (KejuError, MemoryError, BrokenPipeError):
        raise
    except (Exception, SystemExit) as error:
        hint = _("Set {}=1 to see the traceback", DEBUG)
        reason = shortened(describe_exception(error), _LONGEST).rstrip(".")
        raise PluginError("plug-in {}: {} raised {}. {}", plugin, function, reason, hint) from error


def guard_function(
    function: Callable[P, R],
    plugin: Plugin,
    what: str,
    *,
    then: Callable[[Any], Any] | None = None,
) -> Callable[P, R]:
    """Wrap a plug-in's function so that it raises `PluginError` for an unexpected exception.

    Args:
        function: as the plug-in declares it.
        plugin: who declares it.
        what: what the function belongs to, e.g. ``step 'keep-short'``.
        then: a function that is applied to the returned value, e.g. `check_notes`; its exceptions
            count as the function's.
    """
    name = getattr(function, "__name__", type(function).__name__)

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        with guard_call(plugin, f"{name} ({what})"):
            result = function(*arguments, **options)
            return result if then is None else then(result)

    return call


def check_notes(returned: object) -> list[str]:
    """Check that a plug-in's function returned or yielded notes for the user, and list them.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(returned, str) or not isinstance(returned, Iterable):
        raise TypeError(f"it returned {type(returned).__name__}, not a list of notes")
    notes = list(returned)
    for note in notes:
        if not isinstance(note, str):
            raise TypeError(f"a note is {type(note).__name__}, not str")
    return notes

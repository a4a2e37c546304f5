"""`guarded`: convert unexpected exceptions of a plug-in's function to one-line errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from keju.errors import KejuError, shortened
from keju.messages import message
from keju.registry.plugins import Plugin, PluginError, reason_of

P = ParamSpec("P")
R = TypeVar("R")

_LONGEST = 300
"""Maximum characters of an exception's text, which may quote a whole document."""

DEBUG = "KEJU_DEBUG"
"""The environment variable with which the command line prints the traceback of every error."""


def debugging() -> bool:
    """Whether the user wants tracebacks."""
    return os.environ.get(DEBUG, "") not in {"", "0"}


def failure(plugin: Plugin, function: str, error: BaseException) -> PluginError:
    """The error about an unexpected exception of a plug-in.

    Args:
        plugin: the plug-in.
        function: the name of its function and what it belongs to.
        error: the exception.
    """
    hint = message("registry.set-debug", debug=DEBUG)
    reason = shortened(reason_of(error), _LONGEST).rstrip(".")
    return PluginError(
        message(
            "registry.plugin-raised", plugin=plugin, function=function, reason=reason, hint=hint
        )
    )


@contextmanager
def guarding(plugin: Plugin, function: str) -> Iterator[None]:
    """Raise a `PluginError` in place of an unexpected exception.

    Errors of keju itself, which have a text for the user, and system errors pass unchanged.

    Args:
        plugin: whose code is executed.
        function: its name and what it belongs to.
    """
    try:
        yield
    except (KejuError, MemoryError, BrokenPipeError):
        raise
    except (Exception, SystemExit) as error:
        raise failure(plugin, function, error) from error


def guarded(
    function: Callable[P, R],
    plugin: Plugin,
    what: str,
    *,
    then: Callable[[Any], Any] | None = None,
) -> Callable[P, R]:
    """A function of a plug-in that raises a `PluginError` in place of an unexpected exception.

    Args:
        function: as the plug-in declares it.
        plugin: who declares it.
        what: what the function belongs to, e.g. ``step 'keep-short'``.
        then: a function that is applied to the returned value, e.g. `notes_in`; its exceptions
            count as the function's.
    """
    name = getattr(function, "__name__", type(function).__name__)

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        with guarding(plugin, f"{name} ({what})"):
            found = function(*given, **named)
            return found if then is None else then(found)

    return call


def notes_in(found: object) -> list[str]:
    """The notes for the user that a plug-in's function returns or yields.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise TypeError(f"it returned {type(found).__name__}, not a list of notes")
    notes = list(found)
    if wrong := [each for each in notes if not isinstance(each, str)]:
        raise TypeError(f"a note is {type(wrong[0]).__name__}, not str")
    return notes

"""Declarations in the directories of `keju.benchmarks`, found by name like those of packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import ModuleType

_PACKAGE = "keju.benchmarks"


def shipped_folders() -> tuple[Traversable, ...]:
    """The directories of the bundled benchmarks, in the order of lists."""
    return tuple(files(module) for module in _modules())


def provided(group: str) -> dict[str, str]:
    """The declarations of those directories in a group of entry points.

    Args:
        group: e.g. ``keju.readers``.

    Returns:
        ``module:ATTRIBUTE`` by name, in the order of the directories; for metrics only the module,
        whose import declares them.
    """
    return {
        name: target
        for module in _modules()
        for name, target in module.PROVIDES.get(group, {}).items()
    }


@cache
def _modules() -> tuple[ModuleType, ...]:
    names = import_module(_PACKAGE).folders()
    return tuple(import_module(f"{_PACKAGE}.{name}") for name in names)

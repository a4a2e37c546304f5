"""Declarations in the directories of `keju.benchmarks`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import ModuleType

_PACKAGE = "keju.benchmarks"


def list_shipped_folders() -> tuple[Traversable, ...]:
    """List the directories of the bundled benchmarks, in the order of lists."""
    return tuple(files(module) for module in _import_modules())


def list_provided(group: str) -> dict[str, str]:
    """List the declarations of the bundled benchmarks in a group.

    Args:
        group: e.g. ``readers``.

    Returns:
        ``module:ATTRIBUTE`` by name, in the order of the directories; for metrics only the module,
        whose import declares them.
    """
    return {
        name: target
        for module in _import_modules()
        for name, target in module.PROVIDES.get(group, {}).items()
    }


@cache
def _import_modules() -> tuple[ModuleType, ...]:
    names = import_module(_PACKAGE).folders()
    return tuple(import_module(f"{_PACKAGE}.{name}") for name in names)

"""The published benchmarks that keju ships, one folder each.

A folder has all that only its benchmark needs, and is the only place that knows its name:
``benchmark.toml`` is its definition, ``PROVIDES`` in ``__init__.py`` names the readers, writers
and metrics that it declares, by entry-point group and name as an installed package would, each as
``module:ATTRIBUTE`` (metrics are declared by the import of a module), and ``POSITION`` is its
position in lists.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


@cache
def folders() -> tuple[ModuleType, ...]:
    """The folders as modules, in the order in which lists show the benchmarks (`POSITION`)."""
    names = (module.name for module in iter_modules(__path__) if module.ispkg)
    modules = (import_module(f"{__name__}.{name}") for name in names)
    return tuple(sorted(modules, key=lambda module: (module.POSITION, module.__name__)))

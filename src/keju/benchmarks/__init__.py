"""The published benchmarks that keju ships, one folder each.

A folder has all that only its benchmark needs, and is the only place that knows its name:
``benchmark.toml`` is its definition, ``PROVIDES`` in ``__init__.py`` names the readers, writers
and metrics that it declares, by entry-point group and name as an installed package would, each as
``module:ATTRIBUTE`` (metrics are declared by the import of a module), and ``POSITION`` is its
position in lists.
"""

from importlib import import_module
from pkgutil import iter_modules


def folders() -> list[str]:
    """The names of the folders, in the order in which lists show the benchmarks (`POSITION`)."""
    names = [each.name for each in iter_modules(__path__) if each.ispkg]
    return sorted(names, key=lambda name: (import_module(f"{__name__}.{name}").POSITION, name))

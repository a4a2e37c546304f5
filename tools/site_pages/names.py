"""The reference of the Python interface: an entry for every public name, from its docstring."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import keju
import keju.plugins
from keju.api.text_metrics import MetricScore, TextMetric

_HEAD = """# Python reference

Every public name, from its docstring. [keju in Python](api.md) explains them by examples,
[plug-ins](plugins.md) what a plug-in is. Everything that is not on this page may change between
versions.

"""
_METRICS = """Every metric of texts that scoring has, by its name in tables. Each entry lists the
protocols, forms of answer and benchmarks that have the metric; the arguments choose one of them.
"""


def page() -> str:
    """The whole page."""
    metrics = [*map(_metric, metric_names()), *map(_class, (TextMetric, MetricScore))]
    return _HEAD + "\n".join(
        (
            _section("keju", keju.__doc__, _entries(keju)),
            _section("keju.metrics", _METRICS, metrics),
            _section("keju.plugins", keju.plugins.__doc__, _entries(keju.plugins)),
        )
    )


def public_names(module: ModuleType) -> list[str]:
    """The names of a module that get an entry, in alphabetical order."""
    found = [name for name in module.__all__ if not name.startswith("_")]
    return sorted(
        (name for name in found if not isinstance(getattr(module, name), ModuleType)),
        key=str.lower,
    )


def metric_names() -> list[str]:
    """The metrics of `keju.metrics`; its functions are not public."""
    return sorted(set(dir(keju.metrics)) - set(keju.metrics.__all__), key=str.lower)


def _section(name: str, summary: str | None, entries: list[str]) -> str:
    body = "\n".join(entries)
    return f"## {name}\n\n```{{eval-rst}}\n{inspect.cleandoc(summary or '')}\n\n{body}```\n"


def _entries(module: ModuleType) -> list[str]:
    return [_entry(module, name) for name in public_names(module)]


def _entry(module: ModuleType, name: str) -> str:
    value: Any = getattr(module, name)
    full = f"{module.__name__}.{name}"
    if module is keju.plugins and getattr(keju, name, None) is value:
        return f".. py:data:: {full}\n\n   The same as :py:obj:`keju.{name}`.\n"
    if inspect.isclass(value):
        return f".. autoclass:: {full}\n   :members:\n"
    if inspect.isroutine(value):
        return f".. autofunction:: {full}\n"
    return f".. autodata:: {full}\n   :no-value:\n"


def _metric(name: str) -> str:
    made = getattr(keju.metrics, name)
    arguments = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in inspect.signature(made).parameters.values()
    ]
    declared = "\n".join(f"   * ``{each}``" for each in made.__doc__.split("; "))
    return f".. py:function:: keju.metrics.{name}{inspect.Signature(arguments)}\n\n{declared}\n"


def _class(value: type) -> str:
    return f".. autoclass:: {value.__module__}.{value.__name__}\n   :members:\n"

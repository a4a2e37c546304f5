"""The forms of ``[[source]]`` in a recipe: the material of a build."""

from __future__ import annotations

from typing import Any

from keju.building.sources.base import SourceForm, SourceSettings
from keju.datasets.readers import FORMATS
from keju.registry import PluginError, Registry

__all__ = ["SOURCES", "SourceForm", "SourceSettings", "get_source_form", "list_source_names"]


SOURCES: Registry[SourceForm[Any]] = Registry(
    "source",
    "sources",
    {
        "images": "keju.building.sources.images:SOURCE",
        "iiif": "keju.building.sources.iiif:SOURCE",
        "dataset": "keju.building.sources.ready:DATASET",
    },
)
"""The forms that are only sources of recipes; every format of ``data import`` is a form too."""


def list_source_names() -> list[str]:
    """List every name that ``form = "…"`` can have."""
    return list(dict.fromkeys([*SOURCES, *FORMATS]))


def get_source_form(name: str, *, place: str) -> SourceForm[Any]:
    """Return the form of that name; its module is imported on demand.

    Raises:
        UsageError: no form has the name; the message suggests similar names.
        PluginError: a plug-in cannot be imported, or a source and a format have the same name.
    """
    if name in SOURCES and name in FORMATS:
        source, form = SOURCES.plugin_of(name) or "keju", FORMATS.plugin_of(name) or "keju"
        raise PluginError("{!r} is a source of {} and a format of {}", name, source, form)
    if name in SOURCES:
        return SOURCES[name]
    if name not in FORMATS:
        raise SOURCES.make_unknown_error(name, place=place, known=list_source_names(), word="form")
    from keju.building.sources.ready import format_source  # noqa: PLC0415 - only where used

    return format_source(name)

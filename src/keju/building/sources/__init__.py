"""The forms of ``[[source]]`` in a recipe: the material of a build."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from keju.building import synthetic
from keju.building.sources.base import SourceForm, SourceSettings
from keju.datasets.readers import FORMATS
from keju.messages import message
from keju.registry import Plugin, PluginError, Registry, guarded, notes_in

__all__ = ["SOURCES", "SourceForm", "SourceSettings", "source_form", "source_names"]


def _form(name: str, found: object) -> SourceForm[Any]:
    if not isinstance(found, SourceForm) or found.name != name:
        raise TypeError(f"expected a SourceForm named {name!r}")
    return found


def _guarded(found: SourceForm[Any], plugin: Plugin) -> SourceForm[Any]:
    what = f"source {found.name!r}"
    return replace(
        found,
        make=guarded(found.make, plugin, what, then=notes_in),
        check=guarded(found.check, plugin, what),
        reads=guarded(found.reads, plugin, what, then=tuple),
    )


SOURCES: Registry[SourceForm[Any]] = Registry(
    "source",
    "keju.sources",
    {
        "images": "keju.building.sources.images:SOURCE",
        "rows": "keju.building.sources.rows:SOURCE",
        "web": "keju.building.sources.web:SOURCE",
        "iiif": "keju.building.sources.iiif:SOURCE",
        "dataset": "keju.building.sources.ready:DATASET",
    },
    _form,
    guard=_guarded,
    elsewhere=synthetic.SOURCES,
)
"""The forms that are only sources of recipes; every format of ``data import`` is a form too."""


def source_names() -> list[str]:
    """Every name that ``form = "…"`` can have."""
    return list(dict.fromkeys([*SOURCES, *FORMATS]))


def source_form(name: str, *, place: str) -> SourceForm[Any]:
    """The form of that name; its module is imported on demand.

    Raises:
        UsageError: there is none; the message suggests similar names.
        PluginError: keju-synthetic is not installed, a plug-in cannot be imported, or a source and
            a format have the same name.
    """
    if name in SOURCES and name in FORMATS:
        source, form = SOURCES.plugin(name) or "keju", FORMATS.plugin(name) or "keju"
        raise PluginError(
            message("building.source-and-format", name=name, source=source, format=form)
        )
    if name in SOURCES:
        return SOURCES[name]
    if name not in FORMATS:
        raise SOURCES.unknown(name, place=place, known=source_names(), kind="form")
    from keju.building.sources.ready import format_source  # noqa: PLC0415 - only where used

    return format_source(name)

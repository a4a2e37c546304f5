"""Where a build's material comes from: the forms of ``[[source]]``, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from keju.building.settings import unlike
from keju.building.sources.base import SourceForm, SourceSettings
from keju.datasets.readers import FORMATS
from keju.errors import UsageError

__all__ = ["SOURCES", "SourceForm", "SourceSettings", "source_form"]

_OWN = {
    "images": "images:SOURCE",
    "rows": "rows:SOURCE",
    "web": "web:SOURCE",
    "iiif": "iiif:SOURCE",
    "synth": "ready:SYNTH",
    "dataset": "ready:DATASET",
}

SOURCES: Mapping[str, str] = _OWN | {
    name: f"a format of data import: {reader.what}" for name, reader in FORMATS.items()
}
"""Every form by the name that recipes use."""


def source_form(name: str, *, place: str) -> SourceForm[Any]:
    """The form of that name, its module imported only now.

    Raises:
        UsageError: there is none; it says which may be meant.
    """
    if name not in SOURCES:
        raise UsageError(f"{place}: {unlike(name, SOURCES, 'form')}")
    if name in _OWN:
        module, _, attribute = _OWN[name].partition(":")
        found: SourceForm[Any] = getattr(import_module(f"{__name__}.{module}"), attribute)
        return found
    from keju.building.sources.ready import format_source  # noqa: PLC0415 - only where used

    return format_source(name)

"""Reports: tables for the terminal and files, figures, and the HTML report."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keju.reporting.csv_export import write_csv
    from keju.reporting.latex import write_latex
    from keju.reporting.page import PICTURE_BYTES, Report, check_report_place, write_report
    from keju.reporting.same_models import SameAs, read_same_as

_HOMES = {
    "PICTURE_BYTES": "page", "Report": "page", "SameAs": "same_models",
    "check_report_place": "page", "read_same_as": "same_models", "write_csv": "csv_export",
    "write_latex": "latex", "write_report": "page",
}  # fmt: skip

__all__ = [
    "PICTURE_BYTES",
    "Report",
    "SameAs",
    "check_report_place",
    "read_same_as",
    "write_csv",
    "write_latex",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Import on demand: a command that prints one table does not need the report."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

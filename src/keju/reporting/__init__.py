"""Reports of scored runs: HTML pages, CSV and LaTeX files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keju.reporting.csv_export import write_csv
    from keju.reporting.latex import write_latex
    from keju.reporting.page import PICTURE_BYTES, Report, check_report_place, write_report

_HOMES = {
    "PICTURE_BYTES": "page", "Report": "page",
    "check_report_place": "page", "write_csv": "csv_export",
    "write_latex": "latex", "write_report": "page",
}  # fmt: skip

__all__ = [
    "PICTURE_BYTES",
    "Report",
    "check_report_place",
    "write_csv",
    "write_latex",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Import on demand: a command that prints one table does not need the report."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

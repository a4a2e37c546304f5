"""Tables and the HTML report."""

from keju.reporting.latex import write_latex
from keju.reporting.page import PICTURE_BYTES, Report, write_report
from keju.reporting.spreadsheets import write_csv

__all__ = ["PICTURE_BYTES", "Report", "write_csv", "write_latex", "write_report"]

"""Tables and the HTML report."""

from keju.reporting.page import PICTURE_BYTES, write_report
from keju.reporting.spreadsheets import write_csv

__all__ = ["PICTURE_BYTES", "write_csv", "write_report"]

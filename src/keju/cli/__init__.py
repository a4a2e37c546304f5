"""The ``keju`` command line.

Exit status: 0 success; 1 finished with failures, which are named; 2 wrong use, or unreadable input.
"""

from keju.cli import looking, benchmarks, ocr_reporting, making, building  # noqa: I001 - the order in --help
from keju.cli import reviewing, releasing, asking, results, figures, exporting, judging
from keju.cli import serving, auditing, bundling, citing, history, weights
from keju.cli.app import app, main

__all__ = [
    "app", "asking", "auditing", "benchmarks", "building", "bundling", "citing", "exporting",
    "figures", "history", "judging", "looking", "main", "making", "ocr_reporting", "releasing",
    "results", "reviewing", "serving", "weights",
]  # fmt: skip

"""The ``keju`` command: parse, call, print.

Exit status: 0 done; 1 finished with failures, which are named; 2 wrong use, or input that can't
be read.
"""

from keju.cli import looking, making, scaffolding, building, choosing, reviewing, releasing  # noqa: I001 - the order in --help
from keju.cli import asking, results, figures, exporting, judging, serving, auditing
from keju.cli.app import app, main

__all__ = [
    "app", "asking", "auditing", "building", "choosing", "exporting", "figures", "judging",
    "looking", "main", "making", "releasing", "results", "reviewing", "scaffolding", "serving",
]  # fmt: skip

"""Format ``responses-csv`` of ``keju export``: the responses of a run as one table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import keju
from keju.plugins import ResponseFile, UsageError

COLUMNS = ["model", "task", "item", "round", "text", "error"]


@keju.export("responses-csv", summary="Write the responses as one CSV table.", out="CSV file.")
def export_csv(run: Path, out: Path) -> Iterable[ResponseFile]:
    """Write a row for each response; a failed one has an error and no text.

    Raises:
        UsageError: the file exists.
    """
    if out.exists():
        raise UsageError("-o {}: the file exists", out, hint="Choose another -o")
    responses = keju.open_run(run).responses()
    responses.select(COLUMNS).write_csv(out)
    return [ResponseFile(out, responses.height, responses["error"].count())]

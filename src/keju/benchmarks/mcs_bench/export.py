"""``keju export mcs-bench``: a run as the authors' files of responses."""

from __future__ import annotations

from pathlib import Path

from keju.exports import ResponseFile, RunExport


def _write(run: Path, out: Path) -> list[ResponseFile]:
    # Imported late: scoring and the requests of runs are not needed to list the commands.
    from keju.benchmarks.mcs_bench.responses import export_responses  # noqa: PLC0415

    return export_responses(run, out)


EXPORT = RunExport(
    "mcs-bench",
    "Write the responses as the MCS-Bench authors' RESPONSES.json, each as it was returned.\n\n"
    "`keju score FILE` and the authors' script read the files. A failure has no Response.",
    "Run directory with tasks of MCS-Bench.",
    "File, for a run with one model, prompt variant and round. Else a new or empty directory, "
    "which gets a file for each.",
    _write,
)

"""Command lines run one after the other in one process, in a language: what each of them prints.

``python -m tests.support.printed_lines FOLDER`` reads a JSON list of command lines, runs them in
FOLDER and writes a JSON list of their exit status and output.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support import ROOT, module_command

LOCALE = ("KEJU_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


class Printed(NamedTuple):
    """Exit status of a command, and its standard output and standard error together."""

    status: int
    text: str


def printed(folder: Path, lines: Sequence[Sequence[str]], language: str) -> list[Printed]:
    """Run command lines in a folder, and return what each prints."""
    kept = {name: value for name, value in os.environ.items() if name not in LOCALE}
    done = subprocess.run(
        [*module_command("printed_lines"), folder],
        input=json.dumps(list(lines)),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**kept, "KEJU_LANG": language, "COLUMNS": "1000", "HOME": str(folder)},
        cwd=ROOT,
        check=True,
        timeout=900,
    )
    return [Printed(*each) for each in json.loads(done.stdout)]


def _run(line: list[str]) -> Printed:
    from keju.cli import main

    sys.argv = ["keju", *line]
    status, written = 0, io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
    return Printed(status, written.getvalue().decode())


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    json.dump([_run(each) for each in json.load(sys.stdin)], sys.stdout)

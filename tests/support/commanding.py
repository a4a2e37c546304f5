"""Runs the command line as a user does: in a process of its own."""

from __future__ import annotations

import subprocess
import sys


def keju(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The finished command, with its status and what it printed."""
    return subprocess.run(
        [sys.executable, "-m", "keju", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )

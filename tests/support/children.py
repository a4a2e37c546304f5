"""Processes that tests start: each ends with its test, also when the test itself is killed."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def started(command: Sequence[object], **options: Any) -> subprocess.Popen[Any]:
    """Start a process that the system kills when this one has ended, in whatever way.

    Only Linux can do that; elsewhere a killed test leaves its children behind. Ctrl-C interrupts
    the process, also where this one ignores it.

    Args:
        command: as of `subprocess.Popen`; parts may be paths or numbers.
        options: of `subprocess.Popen`.
    """
    parent = os.getpid()

    def bind() -> None:
        # A shell script lets what it starts with & ignore Ctrl-C, and children inherit that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if _LIBC is None:
            return
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the child was bound to it
            os._exit(1)

    return subprocess.Popen([str(part) for part in command], preexec_fn=bind, **options)  # noqa: PLW1509

"""The command line in a fork of a process that has imported keju, with limits."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

from tests.support.mutation import MEMORY, SECONDS

WALL = 2 * SECONDS
"""Seconds after which a command is killed. `SECONDS` are of the processor: machines are shared."""

_RESERVED = 1 << 30
"""Address space that allocators reserve and do not use; what is used is measured besides."""


class Ended(NamedTuple):
    """A finished command: its exit status, processor and clock seconds, memory and output."""

    status: int
    processor: float
    seconds: float
    peak: int
    out: str
    err: str


def forked(command: tuple[str, ...], place: Path, cwd: Path | None = None) -> Ended:
    """Run a command in a fork of this process, in which keju is imported already."""
    out, err = place.parent / "stdout", place.parent / "stderr"
    out.touch()
    err.touch()
    child = os.fork()
    if child == 0:
        _command(command, place, cwd or place / "cwd", out, err)
    began = time.monotonic()
    while time.monotonic() - began < WALL:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.005)
    else:
        os.kill(child, 9)
        _, status, used = os.wait4(child, 0)
    seconds = time.monotonic() - began
    return Ended(
        os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, seconds,
        used.ru_maxrss << 10, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace"),
    )  # fmt: skip


def _command(command: tuple[str, ...], place: Path, cwd: Path, out: Path, err: Path) -> None:
    """The child: limits, its own home, then the command line; it never returns."""
    code = 70
    try:
        os.dup2(os.open(out, os.O_WRONLY | os.O_TRUNC), 1)
        os.dup2(os.open(err, os.O_WRONLY | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(HOME=str(place / "home"), TMPDIR=str(place / "tmp"), COLUMNS="200")
        tempfile.tempdir = None
        os.chdir(cwd)
        now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY + _RESERVED,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        from keju.cli import main

        sys.argv = ["keju", *command]
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:  # noqa: BLE001 - as Python itself does
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)

"""Runs the command line as a user does: in a process of its own.

To start Python and import keju takes longer than most commands. Each command is therefore a fork
of a process that has imported keju (`command_server`), which each process of the tests starts once.
Where the environment differs in what Python or a package reads at its start, or the system has no
forks, the command is ``python -m keju``.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO

from tests.support import children, processor_time

SERVER = Path(__file__).with_name("command_server.py")
_AT_THE_START = ("PYTHON", "LC_", "LANG", "TERM", "FORCE_COLOR", "NO_COLOR")
_OF_EACH = "PYTHONIOENCODING"


def _at_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are read when a process starts, except those that each fork reads."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_AT_THE_START) and name != _OF_EACH
    }


_STARTED = _at_the_start(os.environ)


def keju(
    *arguments: object,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    fork: bool = True,
) -> subprocess.CompletedProcess[str]:
    """The finished command, with its status and what it printed.

    Args:
        arguments: of ``keju``.
        cwd: the working directory, by default that of this process.
        env: all environment variables, by default those of this process.
        fork: whether the command may be a fork; Ray's must not.
    """
    words = [str(argument) for argument in arguments]
    environment = dict(os.environ if env is None else env)
    if fork and hasattr(os, "fork") and _at_the_start(environment) == _STARTED:
        return _server().run(words, cwd or Path.cwd(), environment)
    return subprocess.run(
        [sys.executable, "-m", "keju", *words],
        capture_output=True, encoding="utf-8", errors="replace", check=False, cwd=cwd,
        env=environment,
    )  # fmt: skip


class _Server:
    """The server of this process, and the exchange with it."""

    def __init__(self) -> None:
        self._process = children.started(
            [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={"PATH": os.environ.get("PATH", ""), "HOME": str(Path.home()), **_STARTED},
        )  # fmt: skip
        atexit.register(self._stop)

    def run(
        self, words: list[str], cwd: Path, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps([words, str(cwd), environment, folder]), file=self._in, flush=True)
            status, seconds = json.loads(self._out.readline())
            processor_time.add(seconds)
            out, err = (
                Path(folder, name).read_text("utf-8", "replace") for name in ("stdout", "stderr")
            )
        return subprocess.CompletedProcess(["keju", *words], status, out, err)

    @property
    def _in(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _out(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _stop(self) -> None:
        self._in.close()
        self._process.wait()


_server = cache(_Server)

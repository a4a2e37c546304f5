"""A process that has imported keju and runs each command in a fork of itself.

It reads a request a line, ``[arguments, directory, environment, folder]``, as JSON. The output of
the command is in the folder, in ``stdout`` and ``stderr``. The reply is ``[status, seconds]``: the
exit status, negative for a signal, and the processor seconds of the command.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import NoReturn

IMPORTED = (
    "keju.cli", "keju.scoring", "keju.running", "keju.reporting", "keju.analysis", "keju.judging",
    "keju.bundles", "keju.building", "keju.datasets.readers", "keju.site", "keju.published",
    "keju.figures",
)  # fmt: skip
"""What most commands import. Encoders and engines are imported by the commands that use them."""


def serve() -> None:
    """Answer requests until the input ends."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in sys.stdin:
        arguments, directory, environment, folder = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(arguments, directory, environment, Path(folder))
        _, status, used = os.wait4(child, 0)
        reply = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]
        print(json.dumps(reply), file=replies, flush=True)


def _run(
    arguments: list[str], directory: str, environment: dict[str, str], folder: Path
) -> NoReturn:
    """The fork: the command line as ``python -m keju``; it never returns."""
    code = 1
    try:
        for name, number in (("stdout", 1), ("stderr", 2)):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(directory)
        sys.argv = ["keju", *arguments]
        if (width := environment.get("COLUMNS", "")).isdigit():
            console = sys.modules["keju.cli.app"]
            console.out.width = console.err.width = int(width)
        encoding = environment.get("PYTHONIOENCODING", "utf-8")
        for name, number in (("stdout", 1), ("stderr", 2)):
            setattr(sys, name, os.fdopen(number, "w", encoding=encoding, closefd=False))
        sys.modules["keju.cli"].main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:  # noqa: BLE001 - as Python itself does
        traceback.print_exc()
    finally:
        _run_exit_functions()
        os._exit(code)


def _run_exit_functions() -> None:
    """What Python does at the end of a process: threads, exit functions, the rest of the output."""
    for end in (threading._shutdown, atexit._run_exitfuncs, sys.stdout.flush, sys.stderr.flush):
        with contextlib.suppress(Exception):
            end()


if __name__ == "__main__":
    del sys.path[0]  # this folder
    serve()

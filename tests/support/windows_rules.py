"""Rules of Windows, applied to a process on Linux: missing functions, names, and open files.

``python -m tests.support.windows_rules ARGUMENT…`` is ``keju ARGUMENT…`` under these rules; with
``-c CODE`` it runs Python code. What breaks a rule raises the error of Windows, also below a
``with suppress(OSError)``: the process then ends with status 97 and the violations on standard
error. `FOLDER_LENGTH` is the assumed length of the directory in which users work. `KEJU_TEST_FIRST`
names packages of others, with commas, that are imported before the functions are removed.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

STATUS = 97
MOST_CHARACTERS = 259
FOLDER_LENGTH = 60

_MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog", "readline")
_OS = (
    "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_SYNC", "chown", "fchmod", "fchown",
    "fork", "forkpty", "geteuid", "getgid", "getloadavg", "getpgid", "getuid", "killpg", "lchown",
    "mkfifo", "mknod", "nice", "posix_fadvise", "posix_fallocate", "posix_spawn", "pread",
    "preadv", "pwrite", "pwritev", "sched_getaffinity", "sched_setaffinity", "setsid",
    "statvfs", "sync", "sysconf", "uname", "wait4",
)  # fmt: skip
_OTHERS = (
    "asyncio.unix_events", "multiprocessing.popen_spawn_posix",
    "multiprocessing.resource_tracker", "shutil", "subprocess", "tempfile", "aiohttp", "filelock",
    "numpy", "polars", "pyarrow.parquet", "scipy.stats",
)  # fmt: skip
"""Modules that use these functions on Linux and have their own code for Windows."""

_SIGNALS = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "setitimer")
_NOT_IN_NAMES = frozenset('<>:"|?*\\') | {chr(code) for code in range(32)}
_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"
}


class Rules:
    """What has been broken, in one directory and below it.

    Args:
        root: the directory in which keju is expected to write.
        links: whether symbolic links and hard links may be made.
    """

    def __init__(self, root: Path, *, links: bool = False) -> None:
        self.root = str(root.resolve())
        self.links = links
        self.broken: list[str] = []

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Check an event of `sys.addaudithook`."""
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            path, _, flags = arguments
            if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                self._check_name(path)
        elif event == "os.mkdir":
            self._check_name(arguments[0])
        elif event in {"os.remove", "os.rmdir"}:
            self._check_closed(event, arguments[0])
        elif event == "os.rename":
            self._check_closed(event, arguments[0])
            self._check_closed(event, arguments[1])
            self._check_name(arguments[1])
        elif event in {"os.symlink", "os.link"} and not self.links:
            raise OSError(errno.EPERM, "A required privilege is not held by the client")

    def _below(self, path: Any) -> str | None:
        whole = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - a link itself, not its target
        return whole if whole.startswith(f"{self.root}/") else None

    def _break(self, what: str, path: str) -> None:
        self.broken.append(f"{what}: {path}")
        raise OSError(errno.EACCES, what, path)

    def _check_name(self, path: Any) -> None:
        if (whole := self._below(path)) is None:
            return
        inner = whole.removeprefix(self.root)
        if FOLDER_LENGTH + len(inner.encode("utf-16-le")) // 2 > MOST_CHARACTERS:
            self._break("the path is too long", whole)
        for part in inner.split("/"):
            if set(part) & _NOT_IN_NAMES or (part and part[-1] in ". "):
                self._break("the name is not valid", whole)
            if part.partition(".")[0].rstrip(" ").casefold() in _DEVICES:
                self._break("the name is reserved", whole)
            if len(part.encode()) > 255:
                self._break("the name is too long", whole)
        folder, name = os.path.split(whole)
        if os.path.isdir(folder):  # noqa: PTH112
            for other in os.listdir(folder):  # noqa: PTH208
                if other != name and other.casefold() == name.casefold():
                    self._break(f"the name is that of {other}", whole)

    def _check_closed(self, event: str, path: Any) -> None:
        if (whole := self._below(path)) is None:
            return
        for used in _open_files():
            if used == whole or used.startswith(f"{whole}/"):
                self._break(f"{event} of an open file", used)


def _open_files() -> set[str]:
    """The files that this process has open or mapped."""
    found = set()
    for each in os.listdir("/proc/self/fd"):  # noqa: PTH208
        try:
            found.add(os.readlink(f"/proc/self/fd/{each}"))  # noqa: PTH115
        except OSError:
            continue
    with open("/proc/self/maps", encoding="utf-8") as lines:  # noqa: PTH123
        found |= {line.split(maxsplit=5)[5].strip() for line in lines if line.count("/") > 1}
    return found


def remove_functions() -> None:
    """Remove the modules and functions that Python does not have on Windows."""
    first = os.environ.get("KEJU_TEST_FIRST", "").split(",")
    for name in filter(None, [*_OTHERS, *first]):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in _MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in _OS:
        if hasattr(os, name):
            delattr(os, name)
    for name in _SIGNALS:
        delattr(signal, name)

    def refuse(*_: object) -> None:
        raise NotImplementedError

    loops: Any = importlib.import_module("asyncio.unix_events")
    loops._UnixSelectorEventLoop.add_signal_handler = refuse


def install(root: Path, *, links: bool = False) -> Rules:
    """Apply the rules below `root` until the process ends."""
    remove_functions()
    rules = Rules(root, links=links)

    def end() -> None:
        if rules.broken:
            sys.stderr.write("".join(f"{line}\n" for line in rules.broken))
            sys.stderr.flush()
            os._exit(STATUS)

    atexit.register(end)
    sys.addaudithook(rules.audit)
    return rules


def main() -> None:
    """Run keju, or code, under the rules in the working directory."""
    install(Path.cwd(), links=os.environ.get("KEJU_TEST_LINKS") == "1")
    if sys.argv[1:2] == ["-c"]:
        exec(sys.argv[2], {"__name__": "__main__"})
        return
    from keju.cli import main as keju

    keju()


if __name__ == "__main__":
    main()

"""`EXPORTS`: the forms of other programs in which ``keju export`` writes a run's responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from keju.registry import Plugin, Registry, guarded, provided


class ResponseFile(NamedTuple):
    """A file that was written, the responses in it, and how many of them are failures."""

    file: Path
    responses: int
    failures: int


WriteRun = Callable[[Path, Path], Iterable[ResponseFile]]
"""Writes a run into a file or directory; returns what was written."""


class RunExport(NamedTuple):
    """A form in which a run's responses can be written.

    `what` is the help of its command, `run` and `out` are those of its two arguments.
    """

    name: str
    what: str
    run: str
    out: str
    write: WriteRun


def _export(name: str, found: object) -> RunExport:
    if not isinstance(found, RunExport) or found.name != name:
        raise TypeError(f"expected a RunExport named {name!r}")
    return found


def _files(found: Iterable[object]) -> list[ResponseFile]:
    files = []
    for each in found:
        if not isinstance(each, ResponseFile):
            raise TypeError(f"it returned {type(each).__name__}, not ResponseFile")
        files.append(each)
    return files


def _guarded(found: RunExport, plugin: Plugin) -> RunExport:
    return found._replace(write=guarded(found.write, plugin, f"export {found.name!r}", then=_files))


EXPORTS: Registry[RunExport] = Registry(
    "form of runs", "keju.exports", lambda: provided("keju.exports"), _export, guard=_guarded
)
"""What a run can be exported as, by the command's name, beside keju's own forms of pages."""

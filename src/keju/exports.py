"""`EXPORTS`: the formats of other programs to which ``keju export`` converts a run's responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from keju.registry import Registry, list_provided


class ResponseFile(NamedTuple):
    """A file that was written, with its numbers of responses and of failures."""

    file: Path
    responses: int
    failures: int


WriteRun = Callable[..., Iterable[ResponseFile]]
"""Writes a run (a path) to a file or directory (a path); returns the written files."""


class RunExport(NamedTuple):
    """A format to which a run's responses can be exported.

    `what` is the help of its command, `run` and `out` are those of its two arguments, `images` that
    of the option ``--images``; without that text the command does not have the option. `next_step`
    is the command that is printed last, in which ``{}`` is the output.
    """

    name: str
    what: str
    run: str
    out: str
    write: WriteRun
    images: str = ""
    next_step: str = ""


EXPORTS: Registry[RunExport] = Registry(
    "form of runs",
    "exports",
    list_provided("exports"),
    elsewhere={"inspect": "keju-inspect: pip install keju-inspect"},
)
"""The export formats of a run by command name, in addition to keju's own formats of pages."""

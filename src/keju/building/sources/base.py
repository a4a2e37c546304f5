"""`SourceForm`: the declaration of a form of ``[[source]]`` in a recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, NamedTuple, TypeVar

from msgspec import Meta

from keju.building.engine import Engine
from keju.building.step import Settings
from keju.datasets.store import DatasetWriter
from keju.errors import KejuError
from keju.registry import PluginError, list_returned

NameKey = Annotated[
    str, Meta(description="Prefix that distinguishes its item ids from those of another source.")
]


class SourceSettings(Settings, frozen=True):
    """The settings of every source: the licence and the origin of its material.

    `name` distinguishes its items from those of another source that have the same ids.
    """

    licence: Annotated[
        str, Meta(min_length=1, description="Licence under which the material may be used.")
    ]
    source: Annotated[str, Meta(min_length=1, description="Where the material is from.")]
    name: NameKey = ""


S = TypeVar("S", bound=Settings)


class Site(NamedTuple):
    """The directories of a source.

    `out` is the dataset's directory, `fetched` a permanent one for downloads.
    """

    out: Path
    fetched: Path
    engine: Engine


Make = Callable[[S, Site], Iterable[str]]
"""A function that writes the dataset of a source and returns notes for the user, one line each."""


@dataclass(frozen=True, slots=True)
class SourceForm(Generic[S]):
    """A form of source.

    Attributes:
        name: its name in recipes, ``form = "…"``.
        summary: one sentence.
        settings: the type of its settings.
        make: writes a dataset from it.
        check: checks settings before anything is done.
        reads: the files that it reads in addition to the paths of its settings, such as the images
            of a table.
        version: raised whenever the same source would give other items.
    """

    name: str
    summary: str
    settings: type[S]
    make: Make[S]
    version: int = 1
    check: Callable[[S], object] = lambda _: None
    reads: Callable[[S], Iterable[Path]] = lambda _: ()

    def stat_extra_files(self, settings: S) -> list[tuple[str, int, int]]:
        """Return name, size and time of each file that it reads besides the paths of its settings.

        The time is in nanoseconds. A file that does not exist has the size -1.
        """
        try:
            paths = list_returned(self.reads, self.reads(settings), Path)
            return [_stat_file(path) for path in paths]
        except PluginError:
            raise
        except KejuError:
            return []  # its errors are reported when it is read


def _stat_file(path: Path) -> tuple[str, int, int]:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return path.name, -1, 0
    return path.name, found.st_size, found.st_mtime_ns


@contextmanager
def writing(out: Path, form: str, *, licence: str, source: str) -> Iterator[DatasetWriter]:
    """Open the writer of a source's dataset; it is closed if no error occurs."""
    with DatasetWriter(out, name=form, version="1", licence=licence, source=source) as writer:
        writer.declare(format=form)
        yield writer

"""What a source of a build is: one declaration, from which a recipe's ``[[source]]`` is read."""

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
from keju.registry import PluginError


class SourceSettings(Settings, frozen=True):
    """What every source is told: under which licence its material may be used, and whence it is.

    `name` tells its items from those of an earlier source that have the same ids.
    """

    licence: Annotated[str, Meta(min_length=1, description="Under which it may be used.")]
    source: Annotated[str, Meta(min_length=1, description="Where it is from.")]
    name: Annotated[str, Meta(description="Tells its ids from an earlier source's.")] = ""


S = TypeVar("S", bound=Settings)


class Site(NamedTuple):
    """Where a source becomes a dataset.

    `out` is the dataset's folder, `fetched` one that lasts, for what came over the network.
    """

    out: Path
    fetched: Path
    engine: Engine


Make = Callable[[S, Site], Iterable[str]]
"""Makes a dataset of a source; gives back notes for the user, a line each."""


@dataclass(frozen=True, slots=True)
class SourceForm(Generic[S]):
    """A form of source.

    Attributes:
        name: how recipes spell it, ``form = "…"``.
        summary: one sentence.
        settings: what it can be told.
        make: makes a dataset of it.
        check: refuses settings that cannot be right, before anything is done.
        reads: the files that it reads beside the paths of its settings, as pictures beside a table.
        version: raised whenever the same source would give other items.
    """

    name: str
    summary: str
    settings: type[S]
    make: Make[S]
    version: int = 1
    check: Callable[[S], None] = lambda _: None
    reads: Callable[[S], Iterable[Path]] = lambda _: ()

    def beside(self, settings: S) -> list[tuple[str, int, int]]:
        """Name, size and time of every file that it reads beside the paths of its settings."""
        try:
            return [_facts(path) for path in self.reads(settings)]
        except PluginError:
            raise
        except KejuError:
            return []  # what is wrong with it is told when it is read


def _facts(path: Path) -> tuple[str, int, int]:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return path.name, -1, 0
    return path.name, found.st_size, found.st_mtime_ns


@contextmanager
def writing(out: Path, form: str, *, licence: str, source: str) -> Iterator[DatasetWriter]:
    """A writer of a source's dataset, closed when all went well."""
    with DatasetWriter(out, name=form, version="1", licence=licence, source=source) as writer:
        writer.declare(format=form)
        yield writer

"""The sources of OBI-Bench as data, and functions that its readers share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.benchmarks.obi_bench.readers.releases import release_of
from keju.datasets.readers.base import check_name, image_files, join_names, plain_name
from keju.datasets.readers.listing import is_litter
from keju.datasets.store import DatasetWriter
from keju.definitions import Task, task
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, shipped_toml
from keju.items import Item, Record
from keju.texts import _

BENCHMARK = "OBI-Bench"


class Source(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One source of images, with the numbers that OBI-Bench prints of it; 0 where it prints none.

    A class has `references` images that queries are held against (retrieval: that are relevant)
    and `queries`. `distractors` are images of other classes, `subsets` counts by kind of
    character, `variants` the images of one radical; `describes` answers What where nothing else
    does.
    """

    name: str
    task: str
    type: str = ""
    images: int = 0
    spellings: tuple[str, ...] = ()
    classes: int = 0
    references: int = 0
    queries: int = 0
    distractors: int = 0
    subsets: dict[str, int] = msgspec.field(default_factory=dict)
    variants: int = 0
    describes: str = ""

    @property
    def about(self) -> dict[str, str]:
        """The metadata of the source in every item."""
        return {"source": self.name} | ({"type": self.type} if self.type else {})


class Tier(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tier of characters that are found more often than `above` times."""

    name: str
    above: int


class Found(NamedTuple):
    """A source, the folder that contains its files, and what was given to import."""

    source: Source
    folder: Path
    src: Path


class _Sources(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sweep: tuple[int, ...]
    sources: dict[str, dict[str, object]]
    own: dict[str, dict[str, int]]
    tiers: tuple[Tier, ...]


@cache
def _table() -> _Sources:
    return shipped_toml("keju.benchmarks.obi_bench.readers", "sources.toml", _Sources)


@cache
def sources(of: str = "") -> tuple[Source, ...]:
    """The sources of a task, or all eleven, in the order of the table."""
    every = [
        msgspec.convert({"name": name} | about, Source) for name, about in _table().sources.items()
    ]
    return tuple(source for source in every if not of or source.task == of)


def sweep() -> tuple[int, ...]:
    """The numbers of classes of the classification sweep."""
    return _table().sweep


def tier_of(frequency: int) -> str:
    """The tier of a character that is found so often; empty below the lowest."""
    return next((tier.name for tier in _table().tiers if frequency > tier.above), "")


def sources_in(src: Path, task_id: str, name: str = "") -> list[Found]:
    """The sources of a task whose files are in a folder.

    The source called `name`, if that is given; else those that the folders in `src` are named
    after, where those of other tasks are skipped; else the one that `src` itself is named after;
    else a source of the user's own, without printed numbers. Several folders of one source are read
    together.

    Raises:
        UsageError: what is named is a source of another task.
        DataError: no folder; folders of sources beside others; a source whose name is not UTF-8.
    """
    if not src.is_dir():
        raise DataError("expected a folder", file=src, hint="See: keju data detect SRC")
    folders = [path for path in sorted(src.iterdir()) if path.is_dir() and not is_litter(path.name)]
    known = {path: source for path in folders if (source := source_called(path.name))}
    name = name or ("" if known else src.resolve().name)
    if name:
        check_name(name, src, "Rename the folder, or name the source: --option source=NAME")
        return [Found(source_named(name, task_id), src, src)]
    names = {source.name for source in known.values()}
    if len(folders) > 1 and len(names) == 1:
        beside = release_of(min(names)).beside
        if all(path in known or path.name in beside for path in folders):
            folder = next(iter(known)) if len(known) == 1 else src
            return [Found(source_named(min(names), task_id), folder, src)]
    if strange := [path.name for path in folders if path not in known]:
        raise DataError(
            "expected folders called after sources; found also {}",
            join_names(strange),
            file=src,
            hint=_(
                "Move it to another folder, or name one source for all: --option source={}",
                strange[0],
            ),
        )
    order = sources(task_id)
    found = [Found(source, path, src) for path, source in known.items() if source in order]
    if not found:
        raise DataError(
            "no source of {} in it, but {}",
            task_id,
            join_names(path.name for path in folders),
            file=src,
            hint=_("Sources of {}: {}", task_id, ", ".join(each.name for each in order)),
        )
    return sorted(found, key=lambda each: order.index(each.source))


def source_named(name: str, task_id: str) -> Source:
    """The source of a task that is called so, or one of the user's own.

    Raises:
        UsageError: it is a source of another task.
    """
    source = source_called(name)
    if source and source.task != task_id:
        known = ", ".join(each.name for each in sources(task_id))
        raise UsageError(
            "{} is a source of {}. Sources of {}: {}", source.name, source.task, task_id, known
        )
    return source or _own(name, task_id)


def source_called(name: str) -> Source | None:
    """The source with this name in one of its spellings, or None."""
    for source in sources():
        if plain_name(name) in map(plain_name, (source.name, *source.spellings)):
            return source
    return None


def _own(name: str, task_id: str) -> Source:
    numbers = _table().own.get(task_id, {})
    return msgspec.convert({"name": name, "task": task_id} | numbers, Source)


def draw_order(names: Iterable[str], *key: str) -> list[str]:
    """Names in an order drawn by hash, so that the first N are a part of the first N + 1.

    The same key gives the same order, whatever else there is to draw from.
    """
    salt = "\0".join(key)
    return sorted(names, key=lambda name: sha256_bytes(f"{salt}\0{name}".encode()))


def pictures_in(found: Found) -> list[Path]:
    """The images of a source.

    Raises:
        DataError: there are none, or the name of one or of its folder is not UTF-8.
    """
    pictures = list(image_files(found.folder))
    if not pictures:
        raise DataError(
            "the folder has no images of {}",
            found.source.name,
            file=found.folder,
            hint="See the layouts: keju data formats obi-recognition",
        )
    for path in pictures:
        for part in path.relative_to(found.folder).parts:
            check_name(part, path)
    return pictures


def image_id(found: Found, path: Path) -> str:
    """The name of an image in ids: the source's name and its path in the source."""
    return f"{found.source.name}/{path.relative_to(found.folder).as_posix()}"


def items_of_queries(pattern: Item, *queries: str) -> Iterator[Item]:
    """One item for each query of the item's task, or for those named; the query ends the id."""
    declared: Task = task(pattern.task)
    for query in queries or tuple(query.name for query in declared.queries):
        yield msgspec.structs.replace(pattern, id=f"{pattern.id}#{query}", query=query)


def record_sources(writer: DatasetWriter, found: list[Found], **facts: object) -> None:
    """Write into dataset.json which sources were read, and how they were drawn from."""
    names = ", ".join(each.source.name for each in found)
    writer.declare(sources=names, **{key: str(value) for key, value in facts.items()})


def note_unlike_print(found: Found, images: int, what: str = "images") -> Iterator[str]:
    """A note where a source has another number of images than the paper prints."""
    printed = found.source.images
    if printed and images != printed:
        yield f"{found.source.name}: {images} {what}; the paper has {printed}"

"""OBI-Bench's eleven sources, as data of ``obi-TASK.toml``, and the images in their folders.

Images are of classes by their paths alone; no image is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.readers.base import (
    Detection,
    Reader,
    check_name,
    image_files,
    is_litter,
    join_names,
    plain_name,
)
from keju.datasets.readers.images import image_below
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import cell_text, map_fields
from keju.datasets.readers.tables import all_rows, find_table
from keju.datasets.store import DatasetWriter
from keju.definitions import task
from keju.errors import DataError, KejuError, UsageError, error_text
from keju.files import shipped_toml
from keju.items import Item, Record
from keju.settings import Settings
from keju.texts import _, n_

BENCHMARK = "OBI-Bench"
TASKS = ("recognition", "rejoining", "classification", "retrieval", "deciphering")

DESCRIPTIONS = "descriptions"

_COLUMNS = ("image", "description", "character", "subset", "frequency")


class SourceSettings(Settings, frozen=True, kw_only=True):
    """The option that all formats share."""

    source: Annotated[
        str,
        Meta(
            description="the source, where its folder is not called so; any other folder is one of "
            "its own"
        ),
    ] = ""


T = TypeVar("T", bound=SourceSettings)

ReadSources = Callable[[Sequence["Source"], DatasetWriter, T], Iterator[str]]
"""Adds the items of the sources in a folder; yields notes for the user."""


class Rule(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A regular expression of paths, whose groups are the class and metadata.

    With `skip` an image is not used; a note counts those of each text, which may name a group.
    """

    path: str
    skip: str = ""


class Draw(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of a draw: 0 classes are all, 0 distractors as many as the other images.

    A class has `references` that queries are compared with (retrieval: that are relevant) and
    `queries`; `distractors` are images of other classes.
    """

    classes: int = 0
    references: int = 0
    queries: int = 0
    distractors: int = 0


class Source(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One source of images, with the numbers that OBI-Bench prints of it; 0 where it prints none.

    `subsets` counts images by kind of character, `variants` those of one radical; `describes`
    answers What where nothing else does. `folder` contains the files of a source that is read, and
    `src` is the path that was imported.
    """

    name: str = ""
    task: str = ""
    type: str = ""
    images: int = 0
    spellings: tuple[str, ...] = ()
    paths: tuple[Rule, ...] = ()
    gallery: Draw = Draw()
    subsets: dict[str, int] = msgspec.field(default_factory=dict)
    variants: int = 1
    describes: str = ""
    eras: dict[str, str] = msgspec.field(default_factory=dict)
    origins: dict[str, str] = msgspec.field(default_factory=dict)
    characters: dict[str, str] = msgspec.field(default_factory=dict)
    folder: Path = Path()
    src: Path = Path()

    @property
    def about(self) -> dict[str, str]:
        """The metadata of the source in every item."""
        return {"source": self.name} | ({"type": self.type} if self.type else {})

    def name_of(self, path: Path) -> str:
        """The path of a file from the folder on."""
        return path.relative_to(self.folder).as_posix()

    def match(self, path: str) -> tuple[str, dict[str, str]]:
        """Why a path is skipped (empty if not) and its groups, by the first rule that fits it.

        Without groups where none fits it.
        """
        for rule in self.paths:
            if match := re.fullmatch(rule.path, path):
                groups = {key: text for key, text in match.groupdict().items() if text}
                return rule.skip.format_map(groups), groups
        return "", {}


class Preset(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sources of one task as data. The files explain their keys."""

    task: str
    what: str = ""
    layout: str = ""
    sources: dict[str, Source]
    paths: tuple[Rule, ...] = ()
    gallery: Draw = Draw()
    columns: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    pairs: str = ""
    line: str = ""
    tiers: dict[str, int] = msgspec.field(default_factory=dict)


@cache
def preset(task_id: str) -> Preset:
    """The preset of a task."""
    package = "keju.benchmarks.obi_bench.readers"
    shipped = shipped_toml(package, f"obi-{task_id}.toml", Preset)
    sources = {
        name: replace(source, name=name, task=task_id, paths=source.paths or shipped.paths)
        for name, source in shipped.sources.items()
    }
    return replace(shipped, sources=sources)


def sources(*tasks: str) -> tuple[Source, ...]:
    """The sources of tasks, or all eleven, in the order of the presets."""
    return tuple(source for name in tasks or TASKS for source in preset(name).sources.values())


def sources_in(src: Path, task_id: str, name: str = "") -> list[Source]:
    """The sources of a task whose files are in a folder.

    The source called `name`, if that is given; else those that the folders in `src` are named
    after, where those of other tasks are skipped; else the one that `src` itself is named after;
    else a source of the user's own, without printed numbers.

    Raises:
        UsageError: `name` is a source of another task.
        DataError: no folder; folders of sources beside others; a source whose name is not UTF-8.
    """
    if not src.is_dir():
        raise DataError("expected a folder", file=src, hint="See: keju data detect SRC")
    shipped = preset(task_id)
    names = ", ".join(shipped.sources)
    folders = [path for path in sorted(src.iterdir()) if path.is_dir() and not is_litter(path.name)]
    source_of_folder = {path: source for path in folders if (source := source_called(path.name))}
    if name or not source_of_folder:
        name = name or src.resolve().name
        check_name(name, src, "Rename the folder, or name the source: --option source=NAME")
        own = Source(name=name, task=task_id, paths=shipped.paths, gallery=shipped.gallery)
        source = source_called(name) or own
        if source.task != task_id:
            raise UsageError(
                "{} is a source of {}. Sources of {}: {}", source.name, source.task, task_id, names
            )
        return [replace(source, folder=src, src=src)]
    located = [
        replace(source, folder=path, src=src)
        for source in shipped.sources.values()
        for path, named_source in source_of_folder.items()
        if named_source == source
    ]
    # OBC beside EVOBC repeats some of its images.
    strange = [
        path.name
        for path in folders
        if path not in source_of_folder
        and not any(source.match(f"{path.name}/-")[0] for source in located)
    ]
    if strange or not located:
        raise DataError(
            "expected folders called after sources of {} ({}); found also {}",
            task_id,
            names,
            join_names(strange or [path.name for path in folders]),
            file=src,
            hint="Move the others elsewhere, or name one source for all: --option source=NAME",
        )
    return located


def source_called(name: str) -> Source | None:
    """The source with this name in one of its spellings, or None."""
    for source in sources():
        if plain_name(name) in map(plain_name, (source.name, *source.spellings)):
            return source
    return None


def images_in(source: Source) -> dict[str, Path]:
    """The images of a source by their paths in it.

    Raises:
        DataError: there are none, or the name of one or of its folder is not UTF-8.
    """
    images = {source.name_of(path): path for path in image_files(source.folder)}
    if not images:
        raise DataError(
            "the folder has no images of {}",
            source.name,
            file=source.folder,
            hint=_("See the layout: keju data formats obi-{}", source.task),
        )
    for name, path in images.items():
        for part in () if name.isascii() else name.split("/"):
            check_name(part, path)
    return images


def read_descriptions(source: Source) -> dict[Path, dict[str, str]] | None:
    """The lines of the table ``descriptions`` by their image; None if the source has no such table.

    A line has a text for each column, empty for a missing cell, and its place as ``line``. Images
    are named from the source's folder on, or from the folder ``images`` in it.

    Raises:
        DataError: the source has several tables, a column or an image is missing, a frequency is
            not a whole number, or an image is listed twice.
    """
    file = find_table(source.folder, DESCRIPTIONS)
    if file is None:
        return None
    rows = all_rows(file)
    roles = {column: [column] for column in _COLUMNS}
    fields = map_fields(file, [cells for _place, cells in rows], roles, optional=_COLUMNS[2:])
    folders = (source.folder, source.folder / "images")
    described: dict[Path, dict[str, str]] = {}
    for line, cells in rows:
        texts = dict.fromkeys(_COLUMNS, "")
        for role, key in fields.items():
            texts[role] = cell_text(cells.get(key), key, line).strip()
        image, frequency = texts["image"], texts["frequency"]
        path = image_below(folders, image, file=line.file, item=line.item)
        if path is None:
            hint = _("Put it there, or remove the line")
            raise line.error(_("the image {!r} is missing", image), hint)
        if path in described:
            hint = _("Keep one of the two lines")
            raise line.error(_("{} is in an earlier line too", image), hint)
        if frequency and not (frequency.isascii() and frequency.isdigit()):
            problem = _("the frequency {!r} is not a number", frequency[:20])
            raise line.error(problem, _("Write digits"))
        described[path] = texts | {"line": line.item}
    return described


def add_queries(
    writer: DatasetWriter, pattern: Item, answers: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Add an item for each query with an answer, or for all of the task; the query ends its id."""
    for query in answers or [query.name for query in task(pattern.task).queries]:
        item = replace(pattern, id=f"{pattern.id}#{query}", query=query)
        writer.add(replace(item, answer=answers.get(query, "")))


def note_unlike_print(source: Source, images: int) -> Iterator[str]:
    """A note where a source has another number of images than the paper prints."""
    if source.images and images != source.images:
        # The images of rejoining are fragments.
        noun = _("fragments") if source.task == "rejoining" else _("images")
        yield _("{} {}; the paper has {}", images, noun, source.images)


def by_source(
    read_source: Callable[[Source, DatasetWriter, T], Iterator[str]],
) -> ReadSources[T]:
    """Read one source after the other, each with its name before its notes."""

    def read(sources: Sequence[Source], writer: DatasetWriter, settings: T) -> Iterator[str]:
        for source in sources:
            for note in read_source(source, writer, settings):
                yield _("{}: {}", source.name, note)

    return read


def reader_of(
    task_id: str,
    settings_type: type[T],
    read_sources: ReadSources[T],
    guess: Callable[[Listing], tuple[float, str]],
) -> Reader[T]:
    """The format of a task.

    Args:
        task_id: the task.
        settings_type: the options.
        read_sources: the function that imports.
        guess: of files whose folders are not named after any source: how well they fit, 0 if not,
            and the source that they are of, empty for one of the user's own.
    """
    shipped = preset(task_id)

    def read(src: Path, writer: DatasetWriter, settings: T) -> Iterator[str]:
        located = sources_in(src, task_id, settings.source)
        writer.declare(sources=", ".join(source.name for source in located))
        return read_sources(located, writer, settings)

    def detect(listing: Listing) -> Detection | None:
        own_name = listing.root.resolve().name
        # The tasks of the sources that folders, else the folder itself, are named after.
        tops = {path.parts[0] for path in listing.files if len(path.parts) > 1}
        tasks = {source.task for name in tops if (source := source_called(name))}
        if not tasks and (source := source_called(own_name)):
            tasks = {source.task}
        if not (listing.src.is_dir() and listing.images) or (tasks and task_id not in tasks):
            return None
        fit, name = (1.0, "") if tasks else guess(listing)
        if not fit:
            return None
        # Folders of classes suit two tasks alike.
        fit = min(1.0, fit + 0.1 * (task_id in own_name.casefold()))
        images = n_("{n:,} image", "{n:,} images", len(listing.images))
        what = _("OBI-Bench's {}: {}", task_id, images)
        try:
            sources_in(listing.src, task_id, name or ("" if tasks else own_name))
        except KejuError as error:
            return Detection(fit / 2, what, missing=error_text(error))
        return Detection(fit, what, {"source": name} if name else {})

    return Reader(f"obi-{task_id}", shipped.what, shipped.layout, read, settings_type, detect)

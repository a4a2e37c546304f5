"""OBI-Bench's eleven sources, as data of ``obi-TASK.toml``, and what its five formats share.

Images are of classes by their paths alone; no image is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.import_log import import_log
from keju.datasets.readers.base import (
    Detection,
    Reader,
    check_name,
    image_files,
    is_litter,
    join_names,
    plain_name,
    source_bytes,
)
from keju.datasets.readers.images import image_below
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import Place, cell_text
from keju.datasets.readers.tables import all_rows, find_table
from keju.datasets.store import DatasetWriter
from keju.definitions import task
from keju.errors import DataError, KejuError, UsageError, error_text
from keju.files import shipped_toml
from keju.items import ImageRef, Item, Record
from keju.settings import Settings
from keju.texts import _, n_

TASKS = ("recognition", "rejoining", "classification", "retrieval", "deciphering")

DESCRIPTIONS = "descriptions"

_COLUMNS = ("image", "description", "character", "subset", "frequency")


class SourceSettings(Settings, frozen=True, kw_only=True):
    """The option that all formats share."""

    source: Annotated[str, Meta(description="the source, where its folder is not called so")] = ""


T = TypeVar("T", bound=SourceSettings)


class Source(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One source of images, with the numbers that OBI-Bench prints of it; 0 where it prints none.

    `paths` are regular expressions whose groups are the class and metadata. With a text an image is
    not used; a note counts those of each text, which may name a group.

    A class has `references` that queries are compared with (retrieval: that are relevant) and
    `queries`; `distractors` are images of other classes. 0 `classes` are all, 0 `distractors` as
    many as the other images.

    `subsets` counts images by kind of character, `variants` those of one radical; `describes`
    answers What where nothing else does. `codes` are the meanings of groups of paths, and
    `characters` those of classes or ids. `folder` contains the files of a source that is read, and
    `src` is the path that was imported.
    """

    name: str
    task: str
    type: str = ""
    images: int = 0
    spellings: tuple[str, ...] = ()
    paths: dict[str, str] = msgspec.field(default_factory=dict)
    classes: int = 0
    references: int = 0
    queries: int = 0
    distractors: int = 0
    subsets: dict[str, int] = msgspec.field(default_factory=dict)
    variants: int = 1
    describes: str = ""
    codes: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
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
        """Why a path is skipped (empty if not) and its groups, by the first expression that fits.

        Without groups where none fits it.
        """
        for expression, reason in self.paths.items():
            if match := re.fullmatch(expression, path):
                groups = {key: text for key, text in match.groupdict().items() if text}
                return reason.format_map(groups), groups
        return "", {}


class Preset(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sources of one task as data, and what all share; the files explain the keys."""

    what: str
    layout: str
    sources: dict[str, dict[str, Any]]
    shared: dict[str, Any] = msgspec.field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    pairs: str = ""
    line: str = ""
    tiers: dict[str, int] = msgspec.field(default_factory=dict)


@cache
def preset(task_id: str) -> Preset:
    """The preset of a task."""
    return shipped_toml("keju.benchmarks.obi_bench.readers", f"obi-{task_id}.toml", Preset)


@cache
def sources(*tasks: str) -> tuple[Source, ...]:
    """The sources of tasks, or all eleven, in the order of the presets."""
    return tuple(
        _source(name, task_id) for task_id in tasks or TASKS for name in preset(task_id).sources
    )


def _source(name: str, task_id: str) -> Source:
    """The source of that name, or one of the user's own, without printed numbers."""
    shipped = preset(task_id)
    own = {"name": name, "task": task_id}
    return msgspec.convert(shipped.shared | shipped.sources.get(name, {}) | own, Source)


def source_called(name: str) -> Source | None:
    """The source with this name in one of its spellings, or None."""
    for source in sources():
        if plain_name(name) in map(plain_name, (source.name, *source.spellings)):
            return source
    return None


def _tasks_called(names: Iterable[str]) -> set[str]:
    return {source.task for name in names if (source := source_called(name))}


def sources_in(src: Path, task_id: str, name: str = "") -> list[Source]:
    """The sources of a task whose files are in a folder.

    The source called `name`, if that is given; else those that the folders in `src` are named
    after, where those of other tasks are skipped; else the one that `src` itself is named after;
    else a source of the user's own.

    Raises:
        UsageError: `name` is a source of another task.
        DataError: no folder; folders of sources beside others; a source whose name is not UTF-8.
    """
    if not src.is_dir():
        raise DataError("expected a folder", file=src, hint="See: keju data detect SRC")
    names = ", ".join(preset(task_id).sources)
    folders = [path for path in sorted(src.iterdir()) if path.is_dir() and not is_litter(path.name)]
    if name or not any(source_called(path.name) for path in folders):
        name = name or src.resolve().name
        check_name(name, src, "Rename the folder, or name the source: --option source=NAME")
        source = source_called(name) or _source(name, task_id)
        if source.task != task_id:
            raise UsageError(
                "{} is a source of {}. Sources of {}: {}", source.name, source.task, task_id, names
            )
        return [replace(source, folder=src, src=src)]
    located = [
        replace(source, folder=path, src=src)
        for source in sources(task_id)
        for path in folders
        if source_called(path.name) == source
    ]
    unlike = [path.name for path in folders if not source_called(path.name)]
    # OBC beside EVOBC repeats some of its images.
    strange = [
        name for name in unlike if not any(source.match(f"{name}/-")[0] for source in located)
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


# ---- the files of a source


def images_in(source: Source) -> dict[str, Path]:
    """The images of a source by their paths in it.

    Raises:
        DataError: there are none, or the name of one or of its folder is not UTF-8.
    """
    images = {source.name_of(path): path for path in image_files(source.folder)}
    if not images:
        raise DataError("the folder has no images of {}", source.name, file=source.folder)
    for name, path in images.items():
        for part in () if name.isascii() else name.split("/"):
            check_name(part, path)
    return images


def read_columns(
    file: Path,
    names: Mapping[str, Sequence[str]],
    optional: Collection[str],
    *,
    log_columns: bool = False,
) -> Iterator[tuple[Place, dict[str, str]]]:
    """The lines of a table: the place of each, and its texts by column.

    `names` are those that each column may have, compared as by `plain_name`: the first one that
    exists. `optional` columns may be missing. With `log_columns`, the import reports the
    columns that are used.

    Raises:
        DataError: a column is missing, or the table or a cell is not readable.
    """
    rows = all_rows(file)
    heads = list(dict.fromkeys(head for _place, cells in rows for head in cells))
    plain = {plain_name(head): head for head in reversed(heads)}
    fields: dict[str, str] = {}
    for role, spellings in names.items():
        if fitting := [name for name in map(plain_name, spellings) if name in plain]:
            fields[role] = plain[fitting[0]]
        elif role not in optional:
            problem = _(
                "no field for the {} (expected {}); found the fields {}",
                role,
                " or ".join(spellings),
                ", ".join(heads[:30]),
            )
            raise DataError(problem, file=file, hint=_("Rename it to {}", spellings[0]))
    if log_columns:
        import_log().columns(fields, rows[0].cells)
    for place, cells in rows:
        texts = {role: cell_text(cells.get(key), key, place) for role, key in fields.items()}
        yield place, {role: text.strip() for role, text in texts.items()}


def read_descriptions(source: Source) -> dict[Path, dict[str, str]] | None:
    """The lines of the table ``descriptions`` by their image; None if the source has no such table.

    A line has a text for each column, empty for a missing one, and its place as ``line``. Images
    are named from the source's folder on, or from the folder ``images`` in it.

    Raises:
        DataError: the source has several tables, a column or an image is missing, a frequency is
            not a whole number, or an image is listed twice.
    """
    if (file := find_table(source.folder, DESCRIPTIONS)) is None:
        return None
    folders = (source.folder, source.folder / "images")
    described: dict[Path, dict[str, str]] = {}
    for line, cells in read_columns(file, {name: [name] for name in _COLUMNS}, _COLUMNS[2:]):
        image, frequency = cells["image"], cells.get("frequency", "")
        path = image_below(folders, image, file=file, item=line.item)
        if path is None:
            hint = _("Put it there, or remove the line")
            raise line.error(_("the image {!r} is missing", image), hint)
        if path in described:
            hint = _("Keep one of the two lines")
            raise line.error(_("{} is in an earlier line too", image), hint)
        if frequency and not re.fullmatch("[0-9]{1,9}", frequency):
            problem = _("the frequency {!r} is not a number", frequency[:20])
            raise line.error(problem, _("Write digits"))
        described[path] = dict.fromkeys(_COLUMNS, "") | cells | {"line": line.item}
    return described


# ---- items and notes


def store_image(writer: DatasetWriter, path: Path) -> ImageRef:
    """Add the image of a file."""
    return writer.add_image(source_bytes(path), str(path))


def add_items(
    writer: DatasetWriter,
    source: Source,
    name: str,
    image: ImageRef,
    answers: Mapping[str, str] = MappingProxyType({}),
    **fields: object,
) -> None:
    """Add an item of an image for each query with an answer, or for all of the task.

    The query ends the id. The image is its own group, unless `fields` have another one.
    """
    for query in answers or [query.name for query in task(source.task).queries]:
        item = Item(
            id=f"{source.name}/{name}#{query}",
            benchmark="OBI-Bench",
            task=source.task,
            query=query,
            images=(image,),
            answer=answers.get(query, ""),
            group=image.sha256,
            metadata=source.about | {"file": name},
        )
        writer.add(replace(item, **fields))


def note_unlike_print(source: Source, images: int) -> Iterator[str]:
    """A note where a source has another number of images than the paper prints."""
    if source.images and images != source.images:
        # The images of rejoining are fragments.
        noun = _("fragments") if source.task == "rejoining" else _("images")
        yield _("{} {}; the paper has {}", images, noun, source.images)


# ---- the formats

ReadSources = Callable[[Sequence[Source], DatasetWriter, T], Iterator[str]]
"""Adds the items of the sources in a folder; yields notes for the user."""


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

    Of files whose folders are not named after any source, `guess` returns how well they fit, 0 if
    not, and the source that they are of, empty for one of the user's own.
    """

    def read(src: Path, writer: DatasetWriter, settings: T) -> Iterator[str]:
        located = sources_in(src, task_id, settings.source)
        writer.declare(sources=", ".join(source.name for source in located))
        return read_sources(located, writer, settings)

    def detect(listing: Listing) -> Detection | None:
        own_name = listing.root.resolve().name
        tops = {path.parts[0] for path in listing.files if len(path.parts) > 1}
        # The tasks of the sources that folders, else the folder itself, are named after.
        tasks = _tasks_called(tops) or _tasks_called([own_name])
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
            sources_in(listing.src, task_id, name)
        except KejuError as error:
            return Detection(fit / 2, what, missing=error_text(error))
        return Detection(fit, what, {"source": name} if name else {})

    shipped = preset(task_id)
    return Reader(f"obi-{task_id}", shipped.what, shipped.layout, read, settings_type, detect)

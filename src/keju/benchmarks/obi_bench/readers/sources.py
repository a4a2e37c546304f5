"""OBI-Bench's eleven sources, as data of ``obi-TASK.toml``, and the images in their folders.

Images are of classes by their paths alone; no image is opened here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.readers.base import (
    Detection,
    Reader,
    check_name,
    files_under,
    image_files,
    is_litter,
    join_names,
    kept_inside,
    plain_name,
)
from keju.datasets.readers.images import image_below
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import cell_text, map_fields
from keju.datasets.readers.tables import all_rows, find_table, json_in
from keju.datasets.store import DatasetWriter
from keju.definitions import task
from keju.errors import DataError, KejuError, UsageError, error_text
from keju.files import sha256_bytes, shipped_toml
from keju.items import Item, Record
from keju.settings import Settings
from keju.text import all_han
from keju.texts import _, n_

BENCHMARK = "OBI-Bench"
TASKS = ("recognition", "rejoining", "classification", "retrieval", "deciphering")

Seed = Annotated[str, Meta(description="decides what is drawn (default 0)")]

CHARACTER_TABLES = ("id_to_chinese.json", "key&value.json")
"""Names of files, in small letters, that list the characters of classes; the first one is read."""

DESCRIPTIONS = "descriptions"

_COLUMNS = ("image", "description", "character", "subset", "frequency")
_LONGEST = 4
"""Characters of a folder's name that is itself a character, perhaps with its variants."""


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

ReadSources = Callable[[Sequence["SourceFolder"], DatasetWriter, T], Iterator[str]]
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
    answers What where nothing else does.
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

    @property
    def about(self) -> dict[str, str]:
        """The metadata of the source in every item."""
        return {"source": self.name} | ({"type": self.type} if self.type else {})

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


class SourceFolder(NamedTuple):
    """A source, the folder that contains its files, and the path that was imported."""

    source: Source
    folder: Path
    src: Path

    def name_of(self, path: Path) -> str:
        """The path of a file from the folder on."""
        return path.relative_to(self.folder).as_posix()


def sources_in(src: Path, task_id: str, name: str = "") -> list[SourceFolder]:
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
    names_of_sources = ", ".join(shipped.sources)
    folders = [path for path in sorted(src.iterdir()) if path.is_dir() and not is_litter(path.name)]
    named = [(path, source) for path in folders if (source := source_called(path.name))]
    if name or not named:
        name = name or src.resolve().name
        check_name(name, src, "Rename the folder, or name the source: --option source=NAME")
        source = source_called(name) or Source(
            name=name, task=task_id, paths=shipped.paths, gallery=shipped.gallery
        )
        if source.task != task_id:
            raise UsageError(
                "{} is a source of {}. Sources of {}: {}",
                source.name,
                source.task,
                task_id,
                names_of_sources,
            )
        return [SourceFolder(source, src, src)]
    places = [
        SourceFolder(source, path, src)
        for source in shipped.sources.values()
        for path, other in named
        if other == source
    ]
    # OBC beside EVOBC repeats some of its images.
    strange = [
        path.name
        for path in folders
        if path not in dict(named)
        and not any(place.source.match(f"{path.name}/-")[0] for place in places)
    ]
    if strange or not places:
        raise DataError(
            "expected folders called after sources of {} ({}); found also {}",
            task_id,
            names_of_sources,
            join_names(strange or [path.name for path in folders]),
            file=src,
            hint="Move the others elsewhere, or name one source for all: --option source=NAME",
        )
    return places


def source_called(name: str) -> Source | None:
    """The source with this name in one of its spellings, or None."""
    plain = plain_name(name)
    return next(
        (
            source
            for source in sources()
            if plain in map(plain_name, (source.name, *source.spellings))
        ),
        None,
    )


def draw_order(names: Iterable[str], *key: str) -> list[str]:
    """Names in an order drawn by hash, so that the first N are a part of the first N + 1.

    The same key gives the same order, whatever else there is to draw from.
    """
    salt = "\0".join(key)
    return sorted(names, key=lambda name: sha256_bytes(f"{salt}\0{name}".encode()))


def images_in(place: SourceFolder) -> dict[str, Path]:
    """The images of a source by their paths in it.

    Raises:
        DataError: there are none, or the name of one or of its folder is not UTF-8.
    """
    images = {place.name_of(path): path for path in image_files(place.folder)}
    if not images:
        raise DataError(
            "the folder has no images of {}",
            place.source.name,
            file=place.folder,
            hint=_("See the layout: keju data formats obi-{}", place.source.task),
        )
    for name, path in images.items():
        for part in () if name.isascii() else name.split("/"):
            check_name(part, path)
    return images


class Crop(NamedTuple):
    """An image of a class: its source, its path in it, the part of the path for ids, its class."""

    place: SourceFolder
    name: str
    key: str
    label: str

    @property
    def path(self) -> Path:
        """Its file."""
        return self.place.folder / self.name

    @property
    def id(self) -> str:
        """Its name in ids and notes."""
        return f"{self.place.source.name}/{self.key}"

    @property
    def owner(self) -> str:
        """Its class, after its source."""
        return f"{self.place.source.name}/{self.label}"


class Records(NamedTuple):
    """The images of a source.

    `classes` maps each class to its images. `characters` are those of classes or ids. `notes` are
    for the user.
    """

    place: SourceFolder
    classes: Mapping[str, list[Crop]]
    characters: Mapping[str, str]
    notes: Sequence[str]

    @property
    def crops(self) -> list[Crop]:
        """All images."""
        return list(chain(*self.classes.values()))

    def character_of(self, *keys: str) -> str:
        """The character of the first of these ids or classes that has one; empty if unknown.

        The ids of merged classes are joined by ``_``: each has its character. A class that is
        called after its character needs no table.
        """
        for key in keys:
            if character := self.characters.get(key) or self.characters.get(key.lstrip("0")):
                return character
        for key in keys:
            parts = [self.characters.get(part, "") for part in key.split("_")]
            if joined := "".join(dict.fromkeys(parts)):
                return joined
        return next((key for key in keys if 0 < len(key) <= _LONGEST and all_han(key)), "")

    def about(self, crop: Crop) -> dict[str, str]:
        """Metadata of an image: class and file; character, origin and era as far as known."""
        source = self.place.source
        _reason, groups = source.match(crop.name)
        code = groups.get("origin", "")
        facts = {
            "class": crop.label,
            "file": crop.name,
            "character": self.character_of(groups.get("id", ""), crop.label),
            "origin": source.origins.get(code, code),
            "era": source.eras.get(groups.get("era", "").upper(), ""),
        }
        return source.about | {key: value for key, value in facts.items() if value}


def read_records(place: SourceFolder, *, strict: bool = True) -> Records:
    """The images of a source by class, as the preset's expressions of paths say.

    Args:
        place: the source.
        strict: refuse an image whose path fits no expression; else it is in no class.

    Raises:
        DataError: no images, or none that is used; a name that is not UTF-8, a link that leads out
            of the folder, a table of characters that is not readable.
    """
    classes: dict[str, list[Crop]] = {}
    skipped: Counter[str] = Counter()
    unfit: list[str] = []
    names = sorted(images_in(place))
    for name in names:
        reason, groups = place.source.match(name)
        if reason:
            skipped[reason] += 1
        elif groups:
            crop = Crop(place, name, groups.get("key", name), groups["class"])
            classes.setdefault(crop.label, []).append(crop)
        else:
            unfit.append(name)
    if strict and (unfit or not classes):
        raise DataError(
            "the path of the image is not one of the layout of {}",
            place.source.name,
            file=place.folder / (unfit or names)[0],
            hint=_(
                "Move or remove it, or add what is missing. See: keju data formats obi-{}",
                place.source.task,
            ),
        )
    notes = [
        n_("skipped {n:,} image: {}", "skipped {n:,} images: {}", count, name)
        for name, count in sorted(skipped.items())
    ]
    file = _characters_file(place)
    characters = place.source.characters
    if file:
        content = json_in(file, dict[str, str | int])
        characters = {key: str(value) for key, value in content.items()}
    return Records(place, classes, characters, notes)


def _characters_file(place: SourceFolder) -> Path | None:
    """The table of characters in a source: by its name, then the one least deep."""
    files = [
        path
        for path in files_under(place.folder, {"json"})
        if path.name.casefold() in CHARACTER_TABLES
        and not place.source.match(place.name_of(path))[0]
    ]
    # In the folder that was given, beside the source's own: Key&Value.json beside EVOBC/.
    tables = (path for path in place.src.iterdir() if path.name.casefold() in CHARACTER_TABLES)
    files = files or [kept_inside(path, place.src) for path in tables]

    def order(path: Path) -> tuple[int, int, Path]:
        return CHARACTER_TABLES.index(path.name.casefold()), len(path.parts), path

    return min(files, key=order, default=None)


def read_descriptions(place: SourceFolder) -> dict[Path, dict[str, str]] | None:
    """The lines of the table ``descriptions`` by their image; None if the source has no such table.

    A line has a text for each column, empty for a missing cell, and its place as ``line``. Images
    are named from the source's folder on, or from the folder ``images`` in it.

    Raises:
        DataError: the source has several tables, a column or an image is missing, a frequency is
            not a whole number, or an image is listed twice.
    """
    file = find_table(place.folder, DESCRIPTIONS)
    if file is None:
        return None
    rows = all_rows(file)
    roles = {column: [column] for column in _COLUMNS}
    fields = map_fields(file, [cells for _place, cells in rows], roles, optional=_COLUMNS[2:])
    folders = (place.folder, place.folder / "images")
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
    read_source: Callable[[SourceFolder, DatasetWriter, T], Iterator[str]],
) -> ReadSources[T]:
    """Read one source after the other, each with its name before its notes."""

    def read(places: Sequence[SourceFolder], writer: DatasetWriter, settings: T) -> Iterator[str]:
        for place in places:
            for note in read_source(place, writer, settings):
                yield _("{}: {}", place.source.name, note)

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
        places = sources_in(src, task_id, settings.source)
        writer.declare(sources=", ".join(place.source.name for place in places))
        return read_sources(places, writer, settings)

    def detect(listing: Listing) -> Detection | None:
        tasks = _tasks_named(listing)
        if not (listing.src.is_dir() and listing.images) or (tasks and task_id not in tasks):
            return None
        fit, source = (1.0, "") if tasks else guess(listing)
        if not fit:
            return None
        # Folders of classes suit two tasks alike.
        fit = min(1.0, fit + 0.1 * (task_id in listing.root.resolve().name.casefold()))
        images = n_("{n:,} image", "{n:,} images", len(listing.images))
        what = _("OBI-Bench's {}: {}", task_id, images)
        try:
            sources_in(
                listing.src, task_id, source or ("" if tasks else listing.root.resolve().name)
            )
        except KejuError as error:
            return Detection(fit / 2, what, missing=error_text(error))
        return Detection(fit, what, {"source": source} if source else {})

    return Reader(f"obi-{task_id}", shipped.what, shipped.layout, read, settings_type, detect)


def _tasks_named(listing: Listing) -> set[str]:
    """The tasks of the sources that folders in a listing, else the folder itself, are named after.

    Empty where they are not named after any source.
    """
    tops = {path.parts[0] for path in listing.files if len(path.parts) > 1}
    sources = [*filter(None, map(source_called, tops))]
    own = source_called(listing.root.resolve().name)
    return {source.task for source in sources or filter(None, [own])}

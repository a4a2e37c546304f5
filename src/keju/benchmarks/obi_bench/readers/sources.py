"""The presets of OBI-Bench's tasks, ``obi-TASK.toml``: its eleven sources as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from keju.datasets.readers.base import (
    Detection,
    Read,
    Reader,
    S,
    check_name,
    image_files,
    is_litter,
    join_names,
    plain_name,
)
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import Field
from keju.datasets.store import DatasetWriter
from keju.definitions import task
from keju.errors import DataError, KejuError, UsageError, error_text
from keju.files import sha256_bytes, shipped_toml
from keju.items import Item, Record
from keju.texts import _, join_clauses

BENCHMARK = "OBI-Bench"
TASKS = ("recognition", "rejoining", "classification", "retrieval", "deciphering")

SourceName = Annotated[
    str,
    Meta(
        description="the source, where its folder is not called so; any other folder is one of its "
        "own"
    ),
]
Seed = Annotated[str, Meta(description="decides what is drawn (default 0)")]
Paths = Annotated[
    str,
    Meta(
        description="a regular expression of the images' paths in the source, in place of the "
        "preset's; its group class is the class"
    ),
]


class Rule(Record, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A regular expression of paths, whose groups are the class and metadata.

    With `skip` an image is not used; a note counts those of each text, which may name a group.
    """

    path: str
    skip: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.path)


class Gallery(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of a draw: 0 classes are all, 0 distractors as many as the other images.

    A class has `references` that queries are compared with (retrieval: that are relevant) and
    `queries`; `distractors` are images of other classes.
    """

    classes: int = 0
    references: int = 0
    queries: int = 0
    distractors: int = 0

    @property
    def needed(self) -> int:
        """The images that a class must have."""
        return self.references + self.queries


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
    gallery: Gallery = Gallery()
    subsets: dict[str, int] = msgspec.field(default_factory=dict)
    variants: int = 0
    describes: str = ""
    eras: dict[str, str] = msgspec.field(default_factory=dict)
    origins: dict[str, str] = msgspec.field(default_factory=dict)
    characters: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def about(self) -> dict[str, str]:
        """The metadata of the source in every item."""
        return {"source": self.name} | ({"type": self.type} if self.type else {})

    def skips(self, path: str) -> bool:
        """Whether the preset names a path to be skipped."""
        return any(rule.skip and rule.pattern.fullmatch(path) for rule in self.paths)


class Preset(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sources of one task as data. The files explain their keys."""

    task: str
    what: str = ""
    layout: str = ""
    sources: dict[str, Source]
    paths: tuple[Rule, ...] = ()
    gallery: Gallery = Gallery()
    columns: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    pairs: tuple[str, ...] = ()
    line: str = ""
    tiers: dict[str, int] = msgspec.field(default_factory=dict)

    def fields(self, *required: str) -> dict[str, Field]:
        """The columns of the preset's tables, by role."""
        return {role: Field(names, role in required) for role, names in self.columns.items()}


@cache
def preset(task_id: str) -> Preset:
    """The preset of a task."""
    package = "keju.benchmarks.obi_bench.readers"
    shipped = shipped_toml(package, f"obi-{task_id}.toml", Preset)
    sources = {
        name: msgspec.structs.replace(
            source, name=name, task=task_id, paths=source.paths or shipped.paths
        )
        for name, source in shipped.sources.items()
    }
    return msgspec.structs.replace(shipped, sources=sources)


def sources(task_id: str = "") -> tuple[Source, ...]:
    """The sources of a task, or all eleven, in the order of the presets."""
    tasks = (task_id,) if task_id else TASKS
    return tuple(source for name in tasks for source in preset(name).sources.values())


def tier_of(frequency: int) -> str:
    """The tier of a character that is found so often; empty below the lowest."""
    tiers = preset("deciphering").tiers
    return next((tier for tier, above in tiers.items() if frequency > above), "")


class SourceFolder(NamedTuple):
    """A source, the folder that contains its files, and the path that was imported."""

    source: Source
    folder: Path
    src: Path

    def name_of(self, path: Path) -> str:
        """The path of a file from the folder on."""
        return path.relative_to(self.folder).as_posix()


def sources_in(src: Path, task_id: str, name: str = "", paths: str = "") -> list[SourceFolder]:
    """The sources of a task whose files are in a folder.

    The source called `name`, if that is given; else those that the folders in `src` are named
    after, where those of other tasks are skipped; else the one that `src` itself is named after;
    else a source of the user's own, without printed numbers.

    Args:
        src: the folder.
        task_id: the task.
        name: the source, from the option ``source``.
        paths: the option of the same name, which replaces the preset's expressions.

    Raises:
        UsageError: `name` is a source of another task, or `paths` is not a regular expression.
        DataError: no folder; folders of sources beside others; a source whose name is not UTF-8.
    """
    if not src.is_dir():
        raise DataError("expected a folder", file=src, hint="See: keju data detect SRC")
    folders = [path for path in sorted(src.iterdir()) if path.is_dir() and not is_litter(path.name)]
    known = {path: source for path in folders if (source := source_called(path.name))}
    own = {path: source for path, source in known.items() if source.task == task_id}
    # OBC beside EVOBC repeats some of its images.
    strange = [
        path.name
        for path in folders
        if path not in known and not any(each.skips(f"{path.name}/-") for each in own.values())
    ]
    name = name or ("" if known else src.resolve().name)
    if name:
        check_name(name, src, "Rename the folder, or name the source: --option source=NAME")
        own = {src: _source_named(name, task_id)}
    elif strange:
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
    if not own:
        raise DataError(
            "no source of {} in it, but {}",
            task_id,
            join_names(path.name for path in folders),
            file=src,
            hint=_("Sources of {}: {}", task_id, ", ".join(source.name for source in order)),
        )
    places = [SourceFolder(source, folder, src) for folder, source in own.items()]
    places.sort(key=lambda place: order.index(place.source) if place.source in order else 0)
    if not paths:
        return places
    try:
        groups = re.compile(paths).groupindex
    except re.error as error:
        raise UsageError("option paths={}: not a regular expression: {}", paths, error) from None
    if "class" not in groups:
        raise UsageError("option paths={}: it has no group (?P<class>…)", paths)
    rules = (Rule(path=paths),)
    return [
        place._replace(source=msgspec.structs.replace(place.source, paths=rules))
        for place in places
    ]


def _source_named(name: str, task_id: str) -> Source:
    """The source of a task that is called so, or one of the user's own."""
    source = source_called(name)
    if source and source.task != task_id:
        known = ", ".join(each.name for each in sources(task_id))
        raise UsageError(
            "{} is a source of {}. Sources of {}: {}", source.name, source.task, task_id, known
        )
    shipped = preset(task_id)
    return source or Source(name=name, task=task_id, paths=shipped.paths, gallery=shipped.gallery)


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
        if not name.isascii():
            for part in name.split("/"):
                check_name(part, path)
    return images


def items_of_queries(pattern: Item, *queries: str) -> Iterator[Item]:
    """One item for each query of the item's task, or for those named; the query ends the id."""
    for query in queries or tuple(query.name for query in task(pattern.task).queries):
        yield msgspec.structs.replace(pattern, id=f"{pattern.id}#{query}", query=query)


def record_sources(
    writer: DatasetWriter, places: Sequence[SourceFolder], facts: Mapping[str, object]
) -> None:
    """Write into dataset.json which sources were read, and how they were drawn from."""
    names = ", ".join(place.source.name for place in places)
    writer.declare(sources=names, **{key: str(value) for key, value in facts.items()})


def note_unlike_print(source: Source, images: int) -> Iterator[str]:
    """A note where a source has another number of images than the paper prints."""
    if source.images and images != source.images:
        # The images of rejoining are fragments.
        noun = _("fragments") if source.task == "rejoining" else _("images")
        yield _("{}: {} {}; the paper has {}", source.name, images, noun, source.images)


def reader_of(
    task_id: str,
    settings: type[S],
    read: Read[S],
    describe: Callable[[Listing, SourceFolder], str],
    fit_unnamed: Callable[[Listing], float],
) -> Reader[S]:
    """The format of a task.

    Args:
        task_id: the task.
        settings: the options.
        read: the function that imports.
        describe: a line on what a source has; its error is what is missing.
        fit_unnamed: how well files fit whose folders are not named after any source; 0 if not.
    """
    shipped = preset(task_id)

    def detect(listing: Listing) -> Detection | None:
        has_name = _is_named(listing, task_id)
        if not (listing.src.is_dir() and listing.images) or has_name is False:
            return None
        fit = 1.0 if has_name else fit_unnamed(listing)
        if not fit:
            return None
        try:
            places = sources_in(
                listing.src, task_id, "" if has_name else listing.src.resolve().name
            )
            return Detection(fit, join_clauses(describe(listing, place) for place in places))
        except KejuError as error:
            what = _("OBI-Bench's {}", task_id)
            return Detection(0.6 if has_name else fit / 2, what, missing=error_text(error))

    name = f"obi-{task_id}"
    return Reader(name, shipped.what, shipped.layout, read, settings, detect)


def _is_named(listing: Listing, task_id: str) -> bool | None:
    """Whether folders in a listing, else the folder itself, are named after sources of a task.

    None where they are not named after any source.
    """
    tops = dict.fromkeys(path.parts[0] for path in listing.files if len(path.parts) > 1)
    known = [source for top in tops if (source := source_called(top))]
    own = source_called(listing.root.resolve().name)
    named_sources = known or ([own] if own else [])
    return any(source.task == task_id for source in named_sources) if named_sources else None

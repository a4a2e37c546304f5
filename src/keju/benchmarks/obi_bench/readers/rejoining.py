"""FORMAT ``obi-rejoining``: fragments of bones, and which of them adjoin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from msgspec import Meta

from keju.benchmarks.obi_bench.readers.lists import ItemList, NamedImages
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    SourceFolder,
    SourceName,
    images_in,
    items_of_queries,
    note_unlike_print,
    preset,
    record_sources,
    source_called,
    sources,
    sources_in,
)
from keju.datasets.readers.base import (
    Detection,
    Reader,
    files_under,
    join_names,
    source_bytes,
    source_text,
)
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import Place, map_fields, text_of
from keju.datasets.readers.tables import all_rows
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError, shortened
from keju.items import ImageRef, Item
from keju.settings import Settings
from keju.texts import _, n_

Adjacency = dict[str, set[str]]
"""Of each fragment, by its path under the source, those that adjoin it."""

_TASK = "rejoining"
_TRUTH = {"1": True, "true": True, "0": False, "false": False, "": False}


class RejoiningSettings(Settings, frozen=True, kw_only=True):
    """The options of ``obi-rejoining``."""

    source: SourceName = ""
    adjacency: Annotated[
        Literal["table", "all"],
        Meta(
            description="table: as the tables say; all: the fragments of a bone adjoin one another "
            "(default table)"
        ),
    ] = "table"
    pairs: Annotated[
        str,
        Meta(
            description="the file of pairs in the source, or a regular expression of such files "
            "(default adjacency, else pairs, else names that end in _full.txt)"
        ),
    ] = ""
    items: ItemList = None


def read_rejoining(src: Path, writer: DatasetWriter, settings: RejoiningSettings) -> Iterator[str]:
    """Make items of each fragment against all others; a bone is a group.

    Raises:
        UsageError: the option ``pairs`` is not a regular expression.
        DataError: no fragments, no table, one that names a fragment that is not there, or adjoins a
            fragment to itself or to another bone's.
    """
    places = sources_in(src, _TASK, settings.source)
    record_sources(writer, places, {"adjacency": settings.adjacency})
    for place in places:
        name, images = place.source.name, images_in(place)
        if settings.adjacency == "all":
            joins, notes = joins_by_bone(images, place.folder), list[str]()
        else:
            joins, notes = joins_in(place, images, settings.pairs)
        fragments = list(joins)
        if settings.items:
            finder = NamedImages(place.folder, [images[name] for name in fragments])
            paths = finder.listed(settings.items)
            writer.declare(items=str(len(paths)))
            fragments = [name for name in fragments if images[name] in paths]
        alone = [name for name in fragments if not joins[name].intersection(fragments)]
        if len(alone) == len(fragments):
            raise DataError("no two fragments adjoin", file=place.folder, hint="Name the pairs")
        _add_items(place, writer, joins, fragments)
        yield from (_("{}: {}", name, note) for note in notes)
        if skipped := [image for image in images if image not in joins]:
            yield n_(
                "{}: skipped {n:,} image of whole bones: {}",
                "{}: skipped {n:,} images of whole bones: {}",
                len(skipped),
                name,
                join_names(skipped),
            )
        if alone:
            yield n_(
                "{}: {n:,} fragment adjoins none, so they are only candidates: {}",
                "{}: {n:,} fragments adjoin none, so they are only candidates: {}",
                len(alone),
                name,
                join_names(alone),
            )
        yield from note_unlike_print(place.source, len(joins))


def whole_images(names: Iterable[str]) -> set[str]:
    """The images that show a whole bone; none if all of them seem to."""
    every = set(names)
    images = set(filter(re.compile(preset(_TASK).fragments["whole"]).fullmatch, every))
    return images if len(images) < len(every) else set()


def joins_by_bone(images: Iterable[str], folder: Path) -> Adjacency:
    """All fragments of a bone adjoin one another; a bone is a folder.

    Args:
        images: the images of the source, by their path in it.
        folder: the source, for the error.

    Raises:
        DataError: all are in one folder.
    """
    whole_bones = whole_images(images)
    fragments = [name for name in images if name not in whole_bones]
    bones: dict[str, set[str]] = {}
    for name in fragments:
        bones.setdefault(_folder_of(name), set()).add(name)
    if len(bones) == 1:
        raise DataError(
            "all fragments are in one folder",
            file=folder,
            hint="Put those of each bone into a folder of its own",
        )
    return {name: bones[_folder_of(name)] - {name} for name in fragments}


def joins_in(
    place: SourceFolder, images: Mapping[str, Path], pattern: str = ""
) -> tuple[Adjacency, list[str]]:
    """Which fragments adjoin, as the files of pairs say, and notes for the user.

    An image of a whole bone is a fragment only if a pair names it.

    Args:
        place: the source.
        images: all images, by their path under it.
        pattern: a regular expression of the files' paths, in place of the preset's.

    Raises:
        UsageError: the pattern is not a regular expression.
        DataError: no file, one that names a fragment that is not there, or adjoins a fragment to
            itself or to another bone's.
    """
    finder = NamedImages(place.folder, images.values())
    whole = whole_images(images)
    joins: Adjacency = {name: set() for name in images if name not in whole}
    files, apart = _files_of_pairs(place, pattern), 0
    for file in files:
        for line, cells in _pairs(file):
            names = ((cells[role] or "").strip() for role in ("fragment", "adjoins"))
            fragment, neighbour = (place.name_of(finder.find(name, line)) for name in names)
            if fragment == neighbour:
                raise line.error(_("{} adjoins itself", fragment), hint=_("Remove the pair"))
            if _folder_of(fragment) != _folder_of(neighbour):
                problem = _("{} and {} are in folders of different bones", fragment, neighbour)
                raise line.error(problem, hint=_("Remove the pair"))
            label, no_label = cells.get("label"), cells.get("apart")
            if not _truth("1" if label is None else label, line) or _truth(no_label or "0", line):
                apart += 1
                continue
            joins.setdefault(fragment, set()).add(neighbour)
            joins.setdefault(neighbour, set()).add(fragment)
    notes: list[str] = []
    if files[0].stem.casefold() != "adjacency":
        notes.append(_("pairs read from {}", join_names(map(place.name_of, files))))
    if apart:
        notes.append(
            n_(
                "skipped {n:,} pair declared not to adjoin",
                "skipped {n:,} pairs declared not to adjoin",
                apart,
            )
        )
    return {name: joins[name] for name in images if name in joins}, notes


def _files_of_pairs(place: SourceFolder, pattern: str) -> list[Path]:
    """The files that the first expression of their paths that fits any fits."""
    suffixes = {"csv", "tsv", "jsonl", "json", "parquet", "xlsx", "txt"}
    tables = {place.name_of(path): path for path in files_under(place.folder, suffixes)}
    try:
        for each in (pattern,) if pattern else preset(_TASK).pairs:
            fits = re.compile(each, re.IGNORECASE).fullmatch
            if files := [path for name, path in tables.items() if fits(name)]:
                return files
    except re.error as error:
        raise UsageError("option pairs={}: not a regular expression: {}", pattern, error) from None
    unlike = _(". Not recognised as pairs: {}", join_names(tables)) if tables else ""
    raise DataError(
        "expected adjacency.csv, or another list of pairs; found none{}",
        unlike,
        file=place.folder,
        hint=_(
            "Write it, or name its file: --option pairs=FILE (see keju data formats "
            "obi-rejoining), or declare that the fragments of a bone adjoin one another: "
            "--option adjacency=all"
        ),
    )


def _pairs(file: Path) -> Iterator[tuple[Place, Mapping[str, str | None]]]:
    """The pairs of a table, or of a text by the preset's expression of a line."""
    if file.suffix.casefold() == ".txt":
        for number, line in enumerate(source_text(file).split("\n"), start=1):
            if line.strip() and not line.startswith(("#", "img_source")):
                place = Place(file, f"line {number}")
                match = re.fullmatch(preset(_TASK).fragments["line"], line.strip())
                if not match:
                    raise place.error(
                        _("{!r} is not a pair of names", shortened(line)),
                        _("Write two names a line, or a CSV with the columns fragment and adjoins"),
                    )
                yield place, match.groupdict()
        return
    rows = all_rows(file)
    roles = preset(_TASK).fields("fragment", "adjoins")
    fields = map_fields(file, [cells for _place, cells in rows], roles)
    import_log().columns(fields, rows[0].cells)
    for place, cells in rows:
        yield place, {role: text_of(cells, key, place) for role, key in fields.items()}


def _truth(word: str, place: Place) -> bool:
    plain = word.strip().casefold().removesuffix(".0")
    if plain not in _TRUTH:
        raise place.error(
            _("{!r} does not say whether the two adjoin", word[:40], hint="Write 1 or 0")
        )
    return _TRUTH[plain]


def _folder_of(name: str) -> str:
    """The folder of a fragment; ``.`` for the source's own."""
    return PurePosixPath(name).parent.as_posix()


def _add_items(
    place: SourceFolder, writer: DatasetWriter, joins: Adjacency, fragments: Sequence[str]
) -> None:
    """Add the items of each fragment that another one adjoins, against all others.

    Raises:
        DataError: two fragments are the same image.
    """
    refs: dict[str, ImageRef] = {}
    first: dict[str, str] = {}
    for name in fragments:
        path = place.folder / name
        refs[name] = writer.add_image(source_bytes(path), str(path))
        same = first.setdefault(refs[name].sha256, name)
        if same != name:
            raise DataError("the same image as {}", same, file=path, hint="Keep one of them")
    bones = _bones(joins)
    # Galleries of hundreds share their references, so that a dataset of all pairs stays small.
    for name in fragments:
        others = [other for other in fragments if other != name]
        relevant = tuple(n for n, other in enumerate(others, 1) if other in joins[name])
        if not relevant:
            continue
        pattern = Item(
            id=f"{place.source.name}/{name}",
            benchmark=BENCHMARK,
            task=_TASK,
            images=(refs[name], *(refs[other] for other in others)),
            relevant=relevant,
            group=f"{place.source.name}/{bones[name]}",
            metadata=place.source.about | {"file": name},
        )
        for item in items_of_queries(pattern):
            writer.add(item)


def _bones(joins: Adjacency) -> dict[str, str]:
    """The bone of each fragment: its folder, or the first of those that it hangs together with."""
    bones: dict[str, str] = {}
    for name in joins:
        if (folder := _folder_of(name)) != ".":
            bones[name] = folder
        elif name not in bones:
            waiting = {name}
            while waiting:
                bones[other := waiting.pop()] = name
                waiting |= joins[other] - bones.keys()
    return bones


_MOST_IMAGES = 5_000


def detect_rejoining(listing: Listing) -> Detection | None:
    """Recognise fragments by a list of pairs of them, or by the name of the source's folder."""
    source = source_called(listing.src.resolve().name)
    few = listing.src.is_dir() and listing.complete and 2 <= len(listing.images) <= _MOST_IMAGES
    if not few or (source and source.task != _TASK):
        return None
    images = {path.as_posix(): listing.root / path for path in listing.images}
    count = len(images.keys() - whole_images(images))
    text = n_("{n:,} fragment", "{n:,} fragments", count)
    try:
        joins, _notes = joins_in(SourceFolder(sources(_TASK)[0], listing.src, listing.src), images)
        pairs = n_("{n:,} pair", "{n:,} pairs", sum(map(len, joins.values())) // 2)
        return Detection(0.95, _("{} and {} that adjoin", text, pairs))
    except DataError as error:
        if any(path.stem.casefold() == "adjacency" for path in listing.files):
            return Detection(0.9, text, missing=_("a correction ({})", error))
    if source is None:
        return None
    missing = _("a table of the pairs that adjoin, or --option adjacency=all")
    return Detection(0.7, text, missing=missing)


READER = Reader(
    "obi-rejoining",
    preset(_TASK).what,
    preset(_TASK).layout,
    read_rejoining,
    RejoiningSettings,
    detect_rejoining,
)

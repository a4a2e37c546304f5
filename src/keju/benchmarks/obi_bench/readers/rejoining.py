"""FORMAT ``obi-rejoining``: fragments of bones, and which of them adjoin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    SourceFolder,
    SourceName,
    images_in,
    items_of_queries,
    note_unlike_print,
    preset,
    reader_of,
    record_sources,
    sources_in,
)
from keju.datasets.readers.base import (
    files_under,
    join_names,
    source_bytes,
    source_text,
)
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import Place, map_fields, text_of
from keju.datasets.readers.tables import all_rows
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, shortened
from keju.items import ImageRef, Item
from keju.settings import Settings
from keju.texts import _, n_

Adjacency = dict[str, set[str]]
"""Of each fragment, by its path under the source, those that adjoin it."""

_PRESET = preset("rejoining")
_TRUTH = {"1": True, "true": True, "0": False, "false": False, "": False}


class RejoiningSettings(Settings, frozen=True, kw_only=True):
    """The options of ``obi-rejoining``."""

    source: SourceName = ""


def read_rejoining(src: Path, writer: DatasetWriter, settings: RejoiningSettings) -> Iterator[str]:
    """Make items of each fragment against all others; a bone is a group.

    Raises:
        DataError: no fragments, no file of pairs, one that names a fragment that is not there, or
            adjoins a fragment to itself or to another bone's.
    """
    places = sources_in(src, _PRESET.task, settings.source)
    record_sources(writer, places, {})
    for place in places:
        name, images = place.source.name, images_in(place)
        files = _files_of_pairs(place)
        joins, apart = _joins_in(place, images, files)
        alone = [fragment for fragment, others in joins.items() if not others]
        if len(alone) == len(joins):
            raise DataError("no two fragments adjoin", file=place.folder, hint="Name the pairs")
        _add_items(place, writer, joins)
        if files[0].stem.casefold() != "adjacency":
            names = join_names(map(place.name_of, files))
            yield _("{}: pairs read from {}", name, names)
        if apart:
            yield n_(
                "{}: skipped {n:,} pair declared not to adjoin",
                "{}: skipped {n:,} pairs declared not to adjoin",
                apart,
                name,
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


def _joins_in(
    place: SourceFolder, images: Mapping[str, Path], files: list[Path]
) -> tuple[Adjacency, int]:
    """Which fragments adjoin, as the files of pairs say, and how many pairs they say do not."""
    finder = ImageFinder([place.folder], images.values())
    joins: Adjacency = {name: set() for name in images}
    apart = 0

    def named(name: str, line: Place) -> str:
        path = finder.find(name, line)
        if path is None or not _has_folders(place.name_of(path), name):
            raise line.error(
                _(
                    "the source has no image {!r}",
                    shortened(name),
                    hint="Write the path from the source's folder on, or remove the line",
                )
            )
        return place.name_of(path)

    for file in files:
        for line, cells in _pairs(file):
            fragment, neighbour = (
                named((cells[role] or "").strip(), line) for role in ("fragment", "adjoins")
            )
            if fragment == neighbour:
                raise line.error(_("{} adjoins itself", fragment), hint=_("Remove the pair"))
            if _folder_of(fragment) != _folder_of(neighbour):
                problem = _("{} and {} are in folders of different bones", fragment, neighbour)
                raise line.error(problem, hint=_("Remove the pair"))
            label, no_label = cells.get("label"), cells.get("apart")
            if not _truth("1" if label is None else label, line) or _truth(no_label or "0", line):
                apart += 1
                continue
            joins[fragment].add(neighbour)
            joins[neighbour].add(fragment)
    return joins, apart


def _has_folders(path: str, name: str) -> bool:
    """Whether an image is in the folders that a name gives, as far as both have some."""
    folders = [part for part in re.split(r"[/\\]+", name) if part not in {"", ".", ".."}][:-1]
    pairs = zip(reversed(folders), reversed(path.split("/")[:-1]), strict=False)
    return all(one.casefold() == other.casefold() for one, other in pairs)


def _files_of_pairs(place: SourceFolder) -> list[Path]:
    """The files that the first of the preset's expressions fits that fits any.

    Raises:
        DataError: there is none.
    """
    suffixes = {"csv", "tsv", "jsonl", "json", "parquet", "xlsx", "txt"}
    tables = {place.name_of(path): path for path in files_under(place.folder, suffixes)}
    for pattern in _PRESET.pairs:
        fits = re.compile(pattern, re.IGNORECASE).fullmatch
        if files := [path for name, path in tables.items() if fits(name)]:
            return files
    unlike = _(". Not recognised as pairs: {}", join_names(tables)) if tables else ""
    raise DataError(
        "expected adjacency.csv, a list of pairs; found none{}",
        unlike,
        file=place.folder,
        hint=_("Write it, or rename its file (see keju data formats obi-rejoining)"),
    )


def _pairs(file: Path) -> Iterator[tuple[Place, Mapping[str, str | None]]]:
    """The pairs of a table, or of a text by the preset's expression of a line."""
    if file.suffix.casefold() == ".txt":
        for number, line in enumerate(source_text(file).split("\n"), start=1):
            if line.strip() and not line.startswith(("#", "img_source")):
                place = Place(file, f"line {number}")
                match = re.fullmatch(_PRESET.line, line.strip())
                if not match:
                    raise place.error(
                        _("{!r} is not a pair of names", shortened(line)),
                        _("Write two names a line, or a CSV with the columns fragment and adjoins"),
                    )
                yield place, match.groupdict()
        return
    rows = all_rows(file)
    roles = _PRESET.fields("fragment", "adjoins")
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


def _add_items(place: SourceFolder, writer: DatasetWriter, joins: Adjacency) -> None:
    """Add the items of each fragment that another one adjoins, against all others.

    Raises:
        DataError: two fragments are the same image.
    """
    refs: dict[str, ImageRef] = {}
    first: dict[str, str] = {}
    for name in joins:
        path = place.folder / name
        refs[name] = writer.add_image(source_bytes(path), str(path))
        same = first.setdefault(refs[name].sha256, name)
        if same != name:
            raise DataError("the same image as {}", same, file=path, hint="Keep one of them")
    bones = _bones(joins)
    # Galleries of hundreds share their references, so that a dataset of all pairs stays small.
    for name, neighbours in joins.items():
        others = [other for other in joins if other != name]
        relevant = tuple(n for n, other in enumerate(others, 1) if other in neighbours)
        if not relevant:
            continue
        pattern = Item(
            id=f"{place.source.name}/{name}",
            benchmark=BENCHMARK,
            task=_PRESET.task,
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


def _describe(listing: Listing, place: SourceFolder) -> str:  # noqa: ARG001
    images = images_in(place)
    fragments = n_("{n:,} fragment", "{n:,} fragments", len(images))
    joins, _apart = _joins_in(place, images, _files_of_pairs(place))
    pairs = n_("{n:,} pair", "{n:,} pairs", sum(map(len, joins.values())) // 2)
    return _("{} and {} that adjoin", fragments, pairs)


def _fit_unnamed(listing: Listing) -> float:
    patterns = [re.compile(pattern, re.IGNORECASE) for pattern in _PRESET.pairs]
    fits = (each.fullmatch(path.as_posix()) for each in patterns for path in listing.files)
    return 0.95 if listing.complete and any(fits) else 0.0


READER = reader_of("rejoining", RejoiningSettings, read_rejoining, _describe, _fit_unnamed)

"""FORMAT ``obi-rejoining``: fragments of bones, and which of them adjoin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from keju.benchmarks.obi_bench.readers.fragment_pairs import (
    Adjacency,
    bones_by,
    folder_of,
    joins_in,
    whole_images,
)
from keju.benchmarks.obi_bench.readers.lists import Listed, NamedImages, read_list
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    SourceFolder,
    SourceName,
    images_in,
    items_of_queries,
    note_unlike_print,
    record_sources,
    source_called,
    sources,
    sources_in,
)
from keju.datasets.readers.base import Detection, Reader, join_names, source_bytes
from keju.datasets.readers.listing import Listing
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError, number_of
from keju.items import ImageRef, Item
from keju.settings import Settings
from keju.texts import _

LAYOUT = """\
SRC/                      one source (OBI-rejoin)
  bone001/1.png           its fragments, in a folder for each bone; or all in one folder, named
  bone001/2.png           after their bone: bone001_1.png, bone001_2.png
  bone001/whole.png       if there is one: the whole bone, which is not a fragment
Which fragments adjoin is said by
  adjacency.csv           one line a pair: fragment, adjoins, named from the table's folder on
                          (bone001/1.png or bone001/1); there may be one in each bone's folder
  pairs.csv               if there is no such table; also image1, image2; label 0: they are apart
  pairs.txt               two names a line, then perhaps 1 or 0
or by --option adjacency=all: all fragments of a bone adjoin one another.
A file of another name: --option pairs=FILE; other columns: --option field.fragment=NAME.
Pairs in JSON become a pairs.txt:
  [["a", "b"], …]         jq -r '.[] | join(" ")' pairs.json > pairs.txt
  {"a": ["b", …], …}      jq -r 'to_entries[] | .key + " " + .value[]' pairs.json > pairs.txt
  {"pairs": [{"a", "b"}]} jq -r '.pairs[] | .a + " " + .b' pairs.json > pairs.txt
Each fragment is asked against all others of the source; those that adjoin it are relevant.
This layout is our reading of "200 pieces torn into 483 fragments". The authors offer their test
images on a network drive (README of zijianchen98/OBI-Bench, 2025-03-21); its layout was not
seen."""

_TASK = "rejoining"


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
    bones: Annotated[
        Literal["", "folder", "name"],
        Meta(
            description="folder: a folder for each bone; name: fragments are named after their "
            "bone, as bone001_1.png (default name where all are in one folder, else folder)"
        ),
    ] = ""
    pairs: Annotated[
        str,
        Meta(
            description="the file of pairs in the source, or a regular expression of such files "
            "(default adjacency, else pairs, else names that end in _full.txt)"
        ),
    ] = ""
    field: Annotated[
        dict[str, str],
        Meta(description="the column of the table that has the NAME: fragment, adjoins, label"),
    ] = msgspec.field(default_factory=dict)
    items: Annotated[
        Path | None,
        Meta(
            description="a list of the fragments to import, one name a line: no others are queries "
            "or candidates; or of the pairs to ask, two names a line: query and candidate; also as "
            "a table with the columns query and candidate"
        ),
    ] = None


def read_rejoining(src: Path, writer: DatasetWriter, settings: RejoiningSettings) -> Iterator[str]:
    """Make items of each fragment against all others; a bone is a group.

    Raises:
        UsageError: a list of items is given for several sources, or a name for a column that such a
            table does not have.
        DataError: no fragments, no table, one that names a fragment that is not there, or adjoins a
            fragment to itself or to another bone's.
    """
    listed = read_list(settings.items, 2) if settings.items else []
    places = sources_in(src, _TASK, settings.source)
    if listed and len(places) > 1:
        raise UsageError("option items: give one source, with --option source=NAME")
    facts: dict[str, object] = {"adjacency": settings.adjacency}
    if listed:
        facts["items"] = len(listed)
    record_sources(writer, places, facts)
    for place in places:
        yield from _read_source(place, writer, settings, listed)


def _read_source(
    place: SourceFolder,
    writer: DatasetWriter,
    settings: RejoiningSettings,
    listed: Sequence[Listed],
) -> Iterator[str]:
    name = place.source.name
    images = images_in(place)
    if settings.adjacency == "all":
        whole = whole_images(images)
        fragments = [fragment for fragment in images if fragment not in whole]
        bones = bones_by(settings.bones, fragments, place.folder)
        joins: Adjacency = {fragment: bones[fragment] - {fragment} for fragment in fragments}
    else:
        joins, notes = joins_in(place, images, settings.pairs, settings.field)
        yield from (f"{name}: {note}" for note in notes)
    galleries = _galleries(place, list(joins), listed)
    alone = [query for query in galleries if not joins[query] & set(galleries[query])]
    if len(alone) == len(galleries):
        raise DataError("no two fragments adjoin", file=place.folder, hint="Name the pairs")
    _add(place, writer, {fragment: images[fragment] for fragment in joins}, joins, galleries)
    if skipped := [image for image in images if image not in joins]:
        yield (
            f"{name}: skipped {number_of(len(skipped), 'image')} of whole bones: "
            f"{join_names(skipped)}"
        )
    if alone:
        yield (
            f"{name}: {number_of(len(alone), 'fragment adjoins', 'fragments adjoin')} none, so "
            f"they are only candidates: {join_names(alone)}"
        )
    yield from note_unlike_print(place.source, len(joins), "fragments")


def _galleries(
    place: SourceFolder, fragments: Sequence[str], listed: Sequence[Listed]
) -> dict[str, list[str]]:
    """The candidates of each query, by name: all others, or those that a list gives.

    Raises:
        DataError: the list has single names and pairs, or a name that is not there.
    """
    every = list(fragments)
    if len({len(entry.names) for entry in listed}) > 1:
        raise DataError(
            "single names and pairs in one list",
            file=listed[0].place.file,
            hint="List fragments, one a line, or pairs, two a line",
        )
    images = NamedImages(place.folder, [place.folder / name for name in fragments])
    if listed and len(listed[0].names) == 2:
        galleries: dict[str, list[str]] = {}
        for entry in listed:
            paths = (images.find(name, entry.place) for name in entry.names)
            one, other = map(place.name_of, paths)
            if one == other or other in galleries.get(one, []):
                raise entry.place.error(
                    _("a pair of the same image, or one that is listed twice", hint="Remove it")
                )
            galleries.setdefault(one, []).append(other)
        return galleries
    if listed:
        chosen = {place.name_of(image.path) for image in images.listed(listed)}
        every = [name for name in every if name in chosen]
    return {name: every[:number] + every[number + 1 :] for number, name in enumerate(every)}


def _add(
    place: SourceFolder,
    writer: DatasetWriter,
    fragments: Mapping[str, Path],
    joins: Adjacency,
    galleries: Mapping[str, Sequence[str]],
) -> None:
    shown = dict.fromkeys([*galleries, *(name for names in galleries.values() for name in names)])
    refs = {
        name: writer.add_image(source_bytes(path), str(path))
        for name, path in fragments.items()
        if name in shown
    }
    _must_differ(place, refs)
    groups = _bones(list(fragments), joins)
    # Galleries of hundreds share their references, so that a dataset of all pairs stays small.
    for name, candidates in galleries.items():
        relevant = tuple(n for n, other in enumerate(candidates, 1) if other in joins[name])
        if not relevant:
            continue
        pattern = Item(
            id=place.id_of(fragments[name]),
            benchmark=BENCHMARK,
            task=_TASK,
            images=(refs[name], *(refs[other] for other in candidates)),
            relevant=relevant,
            group=f"{place.source.name}/{groups[name]}",
            metadata=place.source.about | {"file": name},
        )
        for item in items_of_queries(pattern):
            writer.add(item)


def _must_differ(place: SourceFolder, refs: Mapping[str, ImageRef]) -> None:
    first: dict[str, str] = {}
    for name, ref in refs.items():
        if ref.sha256 in first:
            raise DataError(
                "the same image as {}",
                first[ref.sha256],
                file=place.folder / name,
                hint="Keep one of them",
            )
        first[ref.sha256] = name


def _bones(names: Sequence[str], joins: Adjacency) -> dict[str, str]:
    """The bone of each fragment: its folder, or the first of those that it hangs together with."""
    bones: dict[str, str] = {}
    for name in names:
        folder = folder_of(name)
        if folder != ".":
            bones[name] = folder
        elif name not in bones:
            waiting = {name}
            while waiting:
                bones[other := waiting.pop()] = name
                waiting |= joins[other] - bones.keys()
    return bones


_MOST_IMAGES = 5_000
_MOST_BYTES = 1 << 24
_MOST_PARTS = 12
"""Fragments of one bone; a folder of more is a class of characters rather than a bone."""


def detect_rejoining(listing: Listing) -> Detection | None:
    """Recognise fragments by a list of pairs of them, or by the name of the source's folder."""
    if not listing.src.is_dir() or not 2 <= len(listing.images) <= _MOST_IMAGES:
        return None
    source = source_called(listing.src.resolve().name)
    if source and source.task != _TASK:
        return None
    images = {path.as_posix(): listing.root / path for path in listing.images}
    fragments = images.keys() - whole_images(images)
    text = number_of(len(fragments), "fragment")
    tables = map(listing.path, listing.ending("csv", "tsv", "jsonl", "txt"))
    size = sum(path.stat().st_size for path in tables if path)
    found = _detect_pairs(listing, images, text) if size <= _MOST_BYTES else None
    if found or source is None:
        return found
    try:
        bones = bones_by("", sorted(fragments), listing.root)
    except DataError:
        bones = {}
    if 1 < max(map(len, bones.values()), default=0) <= _MOST_PARTS:
        options = {"adjacency": "all"}
        return Detection(0.9, f"{text}, taken to adjoin within each bone", options)
    return Detection(0.7, text, missing="a table of the pairs that adjoin")


def _detect_pairs(listing: Listing, images: Mapping[str, Path], text: str) -> Detection | None:
    if not listing.complete:
        return None
    place = SourceFolder(sources(_TASK)[0], listing.root, listing.root)
    try:
        joins, _notes = joins_in(place, images)
    except DataError as error:
        if any(path.stem.casefold() == "adjacency" for path in listing.files):
            return Detection(0.9, text, missing=f"a correction ({error})")
        return None
    pairs = number_of(sum(map(len, joins.values())) // 2, "pair")
    return Detection(0.95, f"{text} and {pairs} that adjoin")


READER = Reader(
    "obi-rejoining",
    "OBI-Bench's rejoining: one folder of fragments per bone",
    LAYOUT,
    read_rejoining,
    RejoiningSettings,
    detect_rejoining,
)

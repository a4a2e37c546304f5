"""FORMAT ``obi-rejoining``: fragments of bones, and which of them adjoin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from keju.benchmarks.obi_bench.readers.fragment_groups import bones_by, folder_of, whole_images
from keju.benchmarks.obi_bench.readers.fragment_joins import Adjacency, joins_in
from keju.benchmarks.obi_bench.readers.item_list import Listed, read_item_list, resolve
from keju.benchmarks.obi_bench.readers.rejoining_detection import detect_rejoining
from keju.benchmarks.obi_bench.readers.settings import RejoiningSettings
from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Found,
    image_id,
    items_of_queries,
    note_unlike_print,
    pictures_in,
    record_sources,
    sources_in,
)
from keju.datasets.readers.base import Reader, join_names, source_bytes
from keju.datasets.readers.image_names import ImageNames
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError, number_of
from keju.items import ImageRef, Item
from keju.texts import _

LAYOUT = """\
SRC/                      one source (OBI-rejoin)
  bone001/1.png           its fragments, in a folder for each bone; or all in one folder, named
  bone001/2.png           after their bone: bone001_1.png, bone001_2.png
  bone001/whole.png       if there is one: the whole bone, which is not a fragment
Which fragments adjoin is said by
  adjacency.csv           one line a pair: fragment, adjoins, named from the table's folder on
                          (bone001/1.png or bone001/1); there may be one in each bone's folder
  pairs.csv               a table of another name, where its columns are named as such columns are
                          (image1, image2; img_source, img_target; …); label 0: they do not adjoin
  pairs.txt               two names a line, then perhaps 1 or 0
  pairs.json              [["bone001/1", "bone001/2"], …], or a list of objects; or, where each
                          fragment must name all that it adjoins, {"bone001/1": ["bone001/2"], …}
or by --option adjacency=all: all fragments of a bone adjoin one another.
Each fragment is asked against all others of the source; those that adjoin it are relevant.
This layout is our reading of "200 pieces torn into 483 fragments". The authors offer their test
images on a network drive (README of zijianchen98/OBI-Bench, 2025-03-21); its layout was not
seen."""

_TASK = "rejoining"


def read_rejoining(src: Path, writer: DatasetWriter, settings: RejoiningSettings) -> Iterator[str]:
    """Make items of each fragment against all others; a bone is a group.

    Raises:
        UsageError: a list of items is given for several sources, or a name for a column that such a
            table does not have.
        DataError: no fragments, no table, one that names a fragment that is not there, adjoins a
            fragment to itself or to another bone's, or adjoins two one way only.
    """
    lines = read_item_list(settings.items) if settings.items else []
    found = sources_in(src, _TASK, settings.source)
    if lines and len(found) > 1:
        raise UsageError("option items: give one source, with --option source=NAME")
    declared = {"items": len(lines)} if lines else {}
    record_sources(writer, found, adjacency=settings.adjacency, **declared)
    for each in found:
        yield from _read_source(each, writer, settings, lines)


def _read_source(
    found: Found, writer: DatasetWriter, settings: RejoiningSettings, lines: Sequence[Listed]
) -> Iterator[str]:
    images = {path.relative_to(found.folder).as_posix(): path for path in pictures_in(found)}
    whole = whole_images(images)
    fragments = {name: path for name, path in images.items() if name not in whole}
    if settings.adjacency == "all":
        bones = bones_by(settings.bones, fragments, found.folder)
        joins: Adjacency = {name: bones[name] - {name} for name in fragments}
    else:
        joins, notes = joins_in(found.folder, images, fragments, settings.field)
        yield from (f"{found.source.name}: {note}" for note in notes)
        fragments = {name: images[name] for name in joins}
    galleries = _galleries(found, fragments, lines)
    alone = [name for name in galleries if not joins[name] & set(galleries[name])]
    if len(alone) == len(galleries):
        raise DataError("no two fragments adjoin", file=found.folder, hint="Name the pairs")
    _add(found, writer, fragments, joins, galleries)
    if skipped := [name for name in images if name not in fragments]:
        yield (
            f"{found.source.name}: skipped {number_of(len(skipped), 'image')} of whole "
            f"bones: {join_names(skipped)}"
        )
    if alone:
        yield (
            f"{found.source.name}: "
            f"{number_of(len(alone), 'fragment adjoins', 'fragments adjoin')} none, so "
            "they are only "
            f"candidates: {join_names(alone)}"
        )
    yield from note_unlike_print(found, len(fragments), "fragments")


def _galleries(
    found: Found, fragments: Mapping[str, Path], lines: Sequence[Listed]
) -> dict[str, list[str]]:
    """The candidates of each query, by name: all others, or those that a list gives.

    Raises:
        DataError: the list has single names and pairs, or a name that is not there.
    """
    every = list(fragments)
    if lines and len({len(line.names) for line in lines}) > 1:
        raise DataError(
            "single names and pairs in one list",
            file=lines[0].place.file,
            hint="List fragments, one a line, or pairs, two a line",
        )
    index = ImageNames(found.folder, fragments.values())
    if lines and len(lines[0].names) == 2:
        return _listed_pairs(found, lines, index)
    if lines:
        chosen = {path.relative_to(found.folder).as_posix() for path in resolve(lines, index)}
        every = [name for name in every if name in chosen]
    return {name: every[:place] + every[place + 1 :] for place, name in enumerate(every)}


def _listed_pairs(found: Found, lines: Sequence[Listed], index: ImageNames) -> dict[str, list[str]]:
    galleries: dict[str, list[str]] = {}
    for place, names, *__ in lines:
        one, other = (
            path.relative_to(found.folder).as_posix()
            for name in names
            for path in resolve([Listed(place, (name,))], index)
        )
        if one == other or other in galleries.get(one, []):
            raise place.error(
                _("a pair of the same image, or one that is listed twice", hint="Remove it")
            )
        galleries.setdefault(one, []).append(other)
    return galleries


def _add(
    found: Found,
    writer: DatasetWriter,
    fragments: Mapping[str, Path],
    joins: Adjacency,
    galleries: Mapping[str, Sequence[str]],
) -> None:
    shown = dict.fromkeys([*galleries, *(name for of in galleries.values() for name in of)])
    refs = {
        name: writer.add_image(source_bytes(path), str(path))
        for name, path in fragments.items()
        if name in shown
    }
    _must_differ(found, refs)
    groups = _bones(list(fragments), joins)
    # Galleries of hundreds share their references, so that a dataset of all pairs stays small.
    for name, candidates in galleries.items():
        relevant = tuple(n for n, other in enumerate(candidates, 1) if other in joins[name])
        if not relevant:
            continue
        pattern = Item(
            id=image_id(found, fragments[name]),
            benchmark=BENCHMARK,
            task=_TASK,
            images=(refs[name], *(refs[other] for other in candidates)),
            relevant=relevant,
            group=f"{found.source.name}/{groups[name]}",
            metadata=found.source.about | {"file": name},
        )
        for item in items_of_queries(pattern):
            writer.add(item)


def _must_differ(found: Found, refs: Mapping[str, ImageRef]) -> None:
    first: dict[str, str] = {}
    for name, ref in refs.items():
        if ref.sha256 in first:
            raise DataError(
                "the same image as {}",
                first[ref.sha256],
                file=found.folder / name,
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


READER = Reader(
    "obi-rejoining",
    "OBI-Bench's rejoining: one folder of fragments per bone",
    LAYOUT,
    read_rejoining,
    RejoiningSettings,
    detect_rejoining,
)

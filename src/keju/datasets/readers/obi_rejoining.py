"""FORMAT ``obi-rejoining``: fragments in a folder a bone, and which of them adjoin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from keju.datasets.readers._obi import (
    BENCHMARK,
    SOURCE_OPTION,
    Found,
    asked,
    declare,
    inside_name,
    pictures_in,
    sources_in,
    unlike_print,
)
from keju.datasets.readers.base import (
    Options,
    Reader,
    files_under,
    listed,
    source_bytes,
)
from keju.datasets.readers.records import Field, Place, map_fields, text_of
from keju.datasets.readers.tables import read_table
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError, shortened
from keju.files import read_json
from keju.items import ImageRef, Item

LAYOUT = """\
SRC/                      one source (OBI-rejoin), a folder a bone
  bone001/1.png           its fragments
  bone001/2.png
  adjacency.csv           one line a pair that adjoins: fragment, adjoins, named from the table's
                          folder on (bone001/1.png or bone001/1); it may lie in each bone's folder
                          instead; also .tsv, or .json: {"bone001/1": ["bone001/2"], …}, where each
                          fragment must name all that it adjoins
Each fragment is held against all others of the source; those that adjoin it are relevant.
This layout is our reading of "200 pieces torn into 483 fragments". The authors offer their test
images on a network drive (README of zijianchen98/OBI-Bench, 2025-03-21); its layout was not
seen."""

OPTIONS = {
    "source": SOURCE_OPTION,
    "adjacency": "table: as the tables say; all: the fragments of a folder adjoin one another "
    "(default table)",
    "field.NAME": "the column of the table that holds the NAME: fragment, adjoins",
}

FIELDS = {
    "fragment": Field(("fragment", "fragment_a", "fragment1", "a", "image1", "left")),
    "adjoins": Field(("adjoins", "fragment_b", "fragment2", "b", "image2", "right")),
}

_TASK = "rejoining"

Adjacency = dict[str, set[str]]
"""Of each fragment, by its path under the source, those that adjoin it."""


def read_rejoining(src: Path, writer: DatasetWriter, options: Options) -> Iterator[str]:
    """Make items of each fragment against all others; a bone is a group.

    Raises:
        UsageError: an option is none of those above.
        DataError: no fragments, no table, one that names a fragment that is not there, adjoins a
            fragment to itself or to another bone's, or adjoins two one way only.
    """
    rule = options.get("adjacency", "table")
    if rule not in {"table", "all"}:
        raise UsageError(f"option adjacency={rule}: say table or all")
    found = sources_in(src, _TASK, options)
    declare(writer, found, adjacency=rule)
    for each in found:
        fragments = {path.relative_to(each.folder).as_posix(): path for path in pictures_in(each)}
        joins = _folders(fragments) if rule == "all" else _tables(each, fragments, options)
        alone = [name for name in fragments if not joins[name]]
        if len(alone) == len(fragments):
            raise DataError("no two fragments adjoin", file=each.folder, mend="Name the pairs")
        _add(each, writer, fragments, joins)
        if alone:
            yield (
                f"{each.source.name}: {len(alone)} fragments adjoin none, so they are only "
                f"candidates: {listed(alone)}"
            )
        yield from unlike_print(each, len(fragments), "fragments")


READER = Reader(
    "obi-rejoining",
    "OBI-Bench's rejoining: fragments in a folder a bone",
    LAYOUT,
    read_rejoining,
    OPTIONS,
)


def _add(
    found: Found, writer: DatasetWriter, fragments: Mapping[str, Path], joins: Adjacency
) -> None:
    names = list(fragments)
    refs = [writer.add_image(source_bytes(path), str(path)) for path in fragments.values()]
    _must_differ(found, names, refs)
    groups = _bones(names, joins)
    for place, name in enumerate(names):
        if not joins[name]:
            continue
        # The gallery is all but the fragment itself, so those after it stand one place earlier.
        candidates = names[:place] + names[place + 1 :]
        pattern = Item(
            id=inside_name(found, fragments[name]),
            benchmark=BENCHMARK,
            task=_TASK,
            images=(refs[place], *refs[:place], *refs[place + 1 :]),
            relevant=tuple(n for n, other in enumerate(candidates, 1) if other in joins[name]),
            group=f"{found.source.name}/{groups[name]}",
            metadata=found.source.about | {"file": name},
        )
        for item in asked(pattern):
            writer.add(item)


def _must_differ(found: Found, names: list[str], refs: list[ImageRef]) -> None:
    first: dict[str, str] = {}
    for name, ref in zip(names, refs, strict=True):
        if ref.sha256 in first:
            raise DataError(
                f"the same image as {first[ref.sha256]}",
                file=found.folder / name,
                mend="Keep one of them",
            )
        first[ref.sha256] = name


def _bones(names: list[str], joins: Adjacency) -> dict[str, str]:
    """The bone of each fragment: its folder, or the first of those that it hangs together with."""
    bones: dict[str, str] = {}
    for name in names:
        folder = PurePosixPath(name).parent.as_posix()
        if folder != ".":
            bones[name] = folder
        elif name not in bones:
            waiting = {name}
            while waiting:
                bones[other := waiting.pop()] = name
                waiting |= joins[other] - bones.keys()
    return bones


def _folders(fragments: Mapping[str, Path]) -> Adjacency:
    bones: dict[str, set[str]] = {}
    for name in fragments:
        bones.setdefault(PurePosixPath(name).parent.as_posix(), set()).add(name)
    return {name: bones[PurePosixPath(name).parent.as_posix()] - {name} for name in fragments}


def _tables(found: Found, fragments: Mapping[str, Path], options: Options) -> Adjacency:
    files = [
        path
        for path in files_under(found.folder, {"csv", "tsv", "json"})
        if path.stem.casefold() == "adjacency"
    ]
    if not files:
        raise DataError(
            "expected adjacency.csv; found none",
            file=found.folder,
            mend="Write it, or say that the fragments of a folder adjoin: --option adjacency=all",
        )
    known = {name: name for name in fragments}
    known |= {PurePosixPath(name).with_suffix("").as_posix(): name for name in fragments}
    joins: Adjacency = {name: set() for name in fragments}
    for file in files:
        base = file.parent.relative_to(found.folder)
        mutual = file.suffix == ".json"
        for place, one, other in _mapped(file) if mutual else _pairs(file, options):
            a, b = (_fragment(known, base, name, place) for name in (one, other))
            _check_pair(a, b, place)
            joins[a].add(b)
            if not mutual:
                joins[b].add(a)
        _check_mutual(joins, file)
    return joins


def _pairs(file: Path, options: Options) -> Iterator[tuple[Place, str, str]]:
    rows = read_table(file)
    fields = map_fields(file, [cells for _, cells in rows], FIELDS, options)
    for place, cells in rows:
        yield (
            place,
            text_of(cells, fields["fragment"], place),
            text_of(cells, fields["adjoins"], place),
        )


def _mapped(file: Path) -> Iterator[tuple[Place, str, str]]:
    for name, others in read_json(file, dict[str, list[str]]).items():
        for other in others:
            yield Place(file, shortened(name)), name, other


def _fragment(known: Mapping[str, str], base: Path, name: str, place: Place) -> str:
    plain = PurePosixPath(name.strip().replace("\\", "/"))
    found = known.get((base / plain).as_posix())
    if found is None:
        raise DataError(
            f"no fragment {shortened(name)!r}",
            file=place.file,
            item=place.item,
            mend="Name it by its path from the table's folder on, or put its picture there",
        )
    return found


def _check_pair(one: str, other: str, place: Place) -> None:
    wrong = ""
    if one == other:
        wrong = f"{one} adjoins itself"
    elif PurePosixPath(one).parent != PurePosixPath(other).parent:
        wrong = f"{one} and {other} lie in folders of different bones"
    if wrong:
        raise DataError(wrong, file=place.file, item=place.item, mend="Take the pair out")


def _check_mutual(joins: Adjacency, file: Path) -> None:
    for one, others in joins.items():
        for other in sorted(others):
            if one not in joins[other]:
                raise DataError(
                    f"it adjoins {other}, but {other} does not adjoin it",
                    file=file,
                    item=one,
                    mend="Name the pair both ways, or not at all",
                )

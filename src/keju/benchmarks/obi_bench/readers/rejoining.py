"""FORMAT ``obi-rejoining``: fragments of bones, and which of them adjoin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from keju.benchmarks.obi_bench.readers.sources import (
    BENCHMARK,
    Source,
    SourceSettings,
    add_queries,
    by_source,
    images_in,
    note_unlike_print,
    preset,
    reader_of,
)
from keju.datasets.import_log import import_log
from keju.datasets.readers.base import files_under, join_names, source_bytes, source_text
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import Place, cell_text, map_fields
from keju.datasets.readers.tables import all_rows
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, shortened
from keju.items import ImageRef, Item
from keju.texts import _, n_

Adjacency = dict[str, set[str]]
"""Of each fragment, by its path under the source, those that adjoin it."""

_PRESET = preset("rejoining")
_PAIRS = re.compile(_PRESET.pairs, re.IGNORECASE)
_LABELS = {"1": True, "true": True, "0": False, "false": False, "": False}


def read_rejoining(
    source: Source, writer: DatasetWriter, _settings: SourceSettings
) -> Iterator[str]:
    """Make items of each fragment against all others; a bone is a group.

    Raises:
        DataError: no fragments, no file of pairs, one that names a fragment that is not there, or
            adjoins a fragment to itself or to another bone's.
    """
    images = images_in(source)
    suffixes = {"csv", "tsv", "jsonl", "json", "parquet", "xlsx", "txt"}
    candidates = list(files_under(source.folder, suffixes))
    files = [path for path in candidates if _PAIRS.fullmatch(path.name)]
    if not files:
        unlike = _(". Not recognised as pairs: {}", join_names(map(source.name_of, candidates)))
        raise DataError(
            "expected adjacency.csv, a list of pairs; found none{}",
            unlike if candidates else "",
            file=source.folder,
            hint=_("Write it, or rename its file (see keju data formats obi-rejoining)"),
        )
    joins, apart = _joins_in(source, images, files)
    alone = [fragment for fragment, others in joins.items() if not others]
    if len(alone) == len(joins):
        raise DataError("no two fragments adjoin", file=source.folder, hint="Name the pairs")
    _add_items(source, writer, joins)
    if files[0].stem.casefold() != "adjacency":
        yield _("pairs read from {}", join_names(map(source.name_of, files)))
    if apart:
        yield n_(
            "skipped {n:,} pair declared not to adjoin",
            "skipped {n:,} pairs declared not to adjoin",
            apart,
        )
    if alone:
        yield n_(
            "{n:,} fragment adjoins none, so they are only candidates: {}",
            "{n:,} fragments adjoin none, so they are only candidates: {}",
            len(alone),
            join_names(alone),
        )
    yield from note_unlike_print(source, len(joins))


def _joins_in(
    source: Source, images: Mapping[str, Path], files: list[Path]
) -> tuple[Adjacency, int]:
    """Which fragments adjoin, as the files of pairs say, and how many pairs they say do not."""
    finder = ImageFinder([source.folder], images.values())
    joins: Adjacency = {name: set() for name in images}
    apart = 0
    for file in files:
        for line, *names, adjoin in _pairs(file):
            fragment, neighbour = (_fragment(source, finder, name, line) for name in names)
            if fragment == neighbour:
                raise line.error(_("{} adjoins itself", fragment), hint=_("Remove the pair"))
            if fragment.rpartition("/")[0] != neighbour.rpartition("/")[0]:
                problem = _("{} and {} are in folders of different bones", fragment, neighbour)
                raise line.error(problem, hint=_("Remove the pair"))
            if adjoin:
                joins[fragment].add(neighbour)
                joins[neighbour].add(fragment)
            else:
                apart += 1
    return joins, apart


def _fragment(source: Source, finder: ImageFinder, name: str, line: Place) -> str:
    """The path of the fragment that a pair names, which is in the folders that the name gives."""
    path = finder.find(name, line)
    fragment = source.name_of(path) if path else ""
    folders = [part for part in re.split(r"[/\\]+", name) if part not in {"", ".", ".."}][:-1]
    ends = zip(reversed(folders), reversed(fragment.split("/")[:-1]), strict=False)
    if not fragment or any(one.casefold() != other.casefold() for one, other in ends):
        raise line.error(
            _(
                "the source has no image {!r}",
                shortened(name),
                hint="Write the path from the source's folder on, or remove the line",
            )
        )
    return fragment


def _pairs(file: Path) -> Iterator[tuple[Place, str, str, bool]]:
    """The pairs of a table, or of a text by the preset's expression of a line: two names each.

    The last value is whether the two adjoin.
    """
    if file.suffix.casefold() == ".txt":
        for number, text in enumerate(source_text(file).split("\n"), start=1):
            if text.strip() and not text.startswith(("#", "img_source")):
                line = Place(file, f"line {number}")
                match = re.fullmatch(_PRESET.line, text.strip())
                if not match:
                    raise line.error(
                        _("{!r} is not a pair of names", shortened(text)),
                        _("Write two names a line, or a CSV with the columns fragment and adjoins"),
                    )
                adjoin = match["label"] != "0" and match["apart"] != "1"
                yield line, match["fragment"], match["adjoins"], adjoin
        return
    rows = all_rows(file)
    records = [cells for _place, cells in rows]
    fields = map_fields(file, records, _PRESET.columns, optional={"label"})
    import_log().columns(fields, rows[0].cells)
    for line, cells in rows:
        texts = {role: cell_text(cells.get(key), key, line).strip() for role, key in fields.items()}
        label = texts.get("label", "1").casefold().removesuffix(".0")
        if label not in _LABELS:
            raise line.error(
                _("{!r} does not say whether the two adjoin", label[:40], hint="Write 1 or 0")
            )
        yield line, texts["fragment"], texts["adjoins"], _LABELS[label]


def _add_items(source: Source, writer: DatasetWriter, joins: Adjacency) -> None:
    """Add the items of each fragment that another one adjoins, against all others.

    Raises:
        DataError: two fragments are the same image.
    """
    refs: dict[str, ImageRef] = {}
    first: dict[str, str] = {}
    for name in joins:
        path = source.folder / name
        refs[name] = writer.add_image(source_bytes(path), str(path))
        same = first.setdefault(refs[name].sha256, name)
        if same != name:
            raise DataError("the same image as {}", same, file=path, hint="Keep one of them")
    bones = _bones(joins)
    # Galleries of hundreds share their references, so that a dataset of all pairs stays small.
    for name, neighbours in joins.items():
        others = [other for other in joins if other != name]
        relevant = tuple(n for n, other in enumerate(others, 1) if other in neighbours)
        if relevant:
            pattern = Item(
                id=f"{source.name}/{name}",
                benchmark=BENCHMARK,
                task=_PRESET.task,
                images=(refs[name], *(refs[other] for other in others)),
                relevant=relevant,
                group=f"{source.name}/{bones[name]}",
                metadata=source.about | {"file": name},
            )
            add_queries(writer, pattern)


def _bones(joins: Adjacency) -> dict[str, str]:
    """The bone of each fragment: its folder, or the first of those that it hangs together with."""
    bones: dict[str, str] = {}
    for name in joins:
        if folder := name.rpartition("/")[0]:
            bones[name] = folder
        elif name not in bones:
            waiting = {name}
            while waiting:
                bones[other := waiting.pop()] = name
                waiting |= joins[other] - bones.keys()
    return bones


def _guess(listing: Listing) -> tuple[float, str]:
    return (0.95 if any(_PAIRS.fullmatch(path.name) for path in listing.files) else 0.0), ""


READER = reader_of("rejoining", SourceSettings, by_source(read_rejoining), _guess)

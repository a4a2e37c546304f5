"""FORMAT ``obi-rejoining``: fragments of bones, and which of them adjoin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from keju.benchmarks.obi_bench.readers.sources import (
    Source,
    SourceSettings,
    add_items,
    by_source,
    images_in,
    note_unlike_print,
    preset,
    read_columns,
    reader_of,
    store_image,
)
from keju.datasets.readers.base import files_under, join_names, source_text
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import Place
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, shortened
from keju.items import ImageRef
from keju.texts import _, n_

_PRESET = preset("rejoining")
_PAIRS = re.compile(_PRESET.pairs, re.IGNORECASE)
_LABELS = {"1": True, "true": True, "0": False, "false": False, "": False}


def read_rejoining(
    source: Source, writer: DatasetWriter, _settings: SourceSettings
) -> Iterator[str]:
    """Make items of each fragment against all others; a bone is a group.

    Raises:
        DataError: no fragments, two of the same image, no file of pairs, one that names a fragment
            that is not there, or adjoins a fragment to itself or to another bone's.
    """
    images = images_in(source)
    suffixes = {"csv", "tsv", "jsonl", "json", "parquet", "xlsx", "txt"}
    tables = list(files_under(source.folder, suffixes))
    files = [path for path in tables if _PAIRS.fullmatch(path.name)]
    if not files:
        unlike = _(". Not recognised as pairs: {}", join_names(map(source.name_of, tables)))
        raise DataError(
            "expected adjacency.csv, a list of pairs; found none{}",
            unlike if tables else "",
            file=source.folder,
            hint=_("Write it, or rename its file (see keju data formats obi-rejoining)"),
        )
    finder = ImageFinder([source.folder], images.values())
    neighbours: dict[str, set[str]] = {name: set() for name in images}
    apart = 0
    for file in files:
        for line, *pair, adjoin in _pairs(file):
            left, right = (_fragment(source, finder, name, line) for name in pair)
            if left == right or left.rpartition("/")[0] != right.rpartition("/")[0]:
                problem = _("{} and {} are one fragment, or in folders of two bones", left, right)
                raise line.error(problem, hint=_("Remove the pair"))
            if adjoin:
                neighbours[left].add(right)
                neighbours[right].add(left)
            else:
                apart += 1
    bones = _bones(source, neighbours)
    refs: dict[str, ImageRef] = {}
    first: dict[str, str] = {}
    for name, path in images.items():
        refs[name] = store_image(writer, path)
        if (twin := first.setdefault(refs[name].sha256, name)) != name:
            raise DataError("the same image as {}", twin, file=path, hint="Keep one of them")
    for name in filter(neighbours.get, images):
        # Galleries of hundreds share their references, so that a dataset of all pairs stays small.
        candidates = [candidate for candidate in images if candidate != name]
        add_items(
            writer,
            source,
            name,
            refs[name],
            images=(refs[name], *(refs[candidate] for candidate in candidates)),
            relevant=tuple(
                n for n, candidate in enumerate(candidates, 1) if candidate in neighbours[name]
            ),
            group=f"{source.name}/{bones[name]}",
        )
    if files[0].stem.casefold() != "adjacency":
        yield _("pairs read from {}", join_names(map(source.name_of, files)))
    if apart:
        yield n_(
            "skipped {n:,} pair declared not to adjoin",
            "skipped {n:,} pairs declared not to adjoin",
            apart,
        )
    if alone := [name for name in images if not neighbours[name]]:
        yield n_(
            "{n:,} fragment adjoins none, so they are only candidates: {}",
            "{n:,} fragments adjoin none, so they are only candidates: {}",
            len(alone),
            join_names(alone),
        )
    yield from note_unlike_print(source, len(images))


def _pairs(file: Path) -> Iterator[tuple[Place, str, str, bool]]:
    """The pairs of a table, or of a text by the preset's expression of a line: two names each.

    The last value is whether the two adjoin.
    """
    if file.suffix.casefold() != ".txt":
        for line, cells in read_columns(file, _PRESET.columns, {"label"}, log_columns=True):
            label = cells.get("label", "1").casefold().removesuffix(".0")
            if label not in _LABELS:
                problem = _("{!r} does not say whether the two adjoin", label[:40])
                raise line.error(problem, _("Write 1 or 0"))
            yield line, cells["fragment"], cells["adjoins"], _LABELS[label]
        return
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


def _fragment(source: Source, finder: ImageFinder, name: str, line: Place) -> str:
    """The path of the fragment that a pair names, which is in the folders that the name gives."""
    path = finder.find(name, line)
    fragment = source.name_of(path) if path else ""
    folders = [part for part in re.split(r"[/\\]+", name) if part not in {"", ".", ".."}][:-1]
    ends = zip(reversed(folders), reversed(fragment.split("/")[:-1]), strict=False)
    if not fragment or any(part.casefold() != folder.casefold() for part, folder in ends):
        problem = _("the source has no image {!r}", shortened(name))
        hint = _("Write the path from the source's folder on, or remove the line")
        raise line.error(problem, hint)
    return fragment


def _bones(source: Source, neighbours: dict[str, set[str]]) -> dict[str, str]:
    """The bone of each fragment: its folder, or the first of those that it hangs together with."""
    if not any(neighbours.values()):
        raise DataError("no two fragments adjoin", file=source.folder, hint="Name the pairs")
    bones = {name: name.rpartition("/")[0] for name in neighbours}
    for name in neighbours:
        waiting = set() if bones[name] else {name}
        while waiting:
            bones[fragment := waiting.pop()] = name
            waiting |= {neighbour for neighbour in neighbours[fragment] if not bones[neighbour]}
    return bones


def _guess(listing: Listing) -> tuple[float, str]:
    return (0.95 if any(_PAIRS.fullmatch(path.name) for path in listing.files) else 0.0), ""


READER = reader_of("rejoining", SourceSettings, by_source(read_rejoining), _guess)

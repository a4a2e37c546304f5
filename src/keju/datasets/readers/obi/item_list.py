"""The option ``items``: a list of the images or pairs to import, instead of a draw.

Somebody who has the test set of a paper, or the list of its files, gets exactly those items.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers.base import Options, listed, source_text
from keju.datasets.readers.boxes.finding import ImageNames
from keju.datasets.readers.json_records import json_in
from keju.datasets.readers.records import Field, Place, map_fields, text_of
from keju.datasets.readers.tables import SUFFIXES, read_table
from keju.errors import DataError, UsageError

ITEMS_OPTION = (
    "a list of the images to import, instead of a draw: one name a line, a JSON list of names, or "
    "a table with the column image"
)


_FIELDS = {
    "image": Field(
        ("image", "path", "file", "filename", "img", "image_path", "name", "query", "fragment",
         "image1", "img1", "a")
    ),
    "other": Field(("candidate", "adjoins", "image2", "img2", "b"), required=False),
}  # fmt: skip


class Listed(NamedTuple):
    """One line of a list: its names, and its place for errors."""

    place: Place
    names: tuple[str, ...]


def read_item_list(file: Path) -> list[Listed]:
    """The entries of a list: names of images, or pairs of names.

    A text has one name a line, or two that a tab, a comma or a space separates; empty lines and
    lines that begin with ``#`` are passed over. JSON has a list of names or of pairs. A table has
    a column for the image, and perhaps one for the other image of a pair.

    Raises:
        DataError: not readable, empty, or an entry of more than two names.
    """
    found = list(_table(file) or _json(file) or _lines(file))
    if not found:
        raise DataError("the list is empty", file=file, mend="Write one name a line")
    for place, names in found:
        if len(names) not in {1, 2} or not all(names):
            raise DataError(
                f"{len(names)} names", file=file, item=place.item, mend="Write one name, or two"
            )
    return found


def _table(file: Path) -> list[Listed]:
    """The entries of a table with names of columns; empty if the file is not one."""
    suffix = file.suffix.casefold()
    if suffix not in SUFFIXES or (suffix == ".json" and not _begins_with_object(file)):
        return []
    try:
        rows = read_table(file)
        fields = map_fields(file, [cells for _, cells in rows], _FIELDS)
    except DataError:
        if suffix in {".csv", ".tsv"}:
            return []
        raise
    keys = [fields[role] for role in _FIELDS if role in fields]
    return [
        Listed(place, tuple(text_of(cells, key, place).strip() for key in keys))
        for place, cells in rows
    ]


def _begins_with_object(file: Path) -> bool:
    return source_text(file)[:1000].replace("[", " ").lstrip().startswith("{")


def _json(file: Path) -> list[Listed]:
    if file.suffix.casefold() != ".json":
        return []
    return [
        Listed(Place(file, f"entry {n}"), (names,) if isinstance(names, str) else tuple(names))
        for n, names in enumerate(json_in(file, list[str | list[str]]), start=1)
    ]


def _lines(file: Path) -> Iterator[Listed]:
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        plain = line.strip()
        if plain and not plain.startswith("#"):
            yield Listed(Place(file, f"line {number}"), names_in(plain))


def names_in(line: str) -> tuple[str, ...]:
    """The names of a line: separated by tabs, else by commas, else by spaces.

    A name may have spaces where every word but the last has no suffix.
    """
    for mark in ("\t", ","):
        if mark in line:
            cells = next(csv.reader(io.StringIO(line), delimiter=mark))
            return tuple(cell.strip() for cell in cells)
    words = line.split()
    if sum("." in word for word in words) < 2 <= len(words) and "." in words[-1]:
        return (line.strip(),)
    return tuple(words)


def listed_images(options: Options, src: Path, images: Iterable[Path]) -> list[Path] | None:
    """The images that the option ``items`` names, in its order; None without the option.

    Raises:
        UsageError: the option is given with ``sample``.
        DataError: a name fits no image or several, is listed twice, or a line has two names.
    """
    if "items" not in options:
        return None
    if "sample" in options:
        raise UsageError("options items and sample: give one of them")
    file = Path(options["items"])
    lines = read_item_list(file)
    if pair := next((line for line in lines if len(line.names) > 1), None):
        raise DataError(
            "two names, but this format takes one image a line",
            file=file,
            item=pair.place.item,
            mend="Write one name a line",
        )
    return resolved(lines, ImageNames(src, images))


def resolved(lines: Sequence[Listed], index: ImageNames) -> list[Path]:
    """The images of the lines of a list, each with one name.

    Raises:
        DataError: a name fits no image or several, or is listed twice.
    """
    found: dict[Path, str] = {}
    missing: list[str] = []
    for place, (name, *_) in lines:
        path = index.named(name, place.file, place.item)
        if path is None:
            missing.append(f"{name} ({place.item})")
        elif path in found:
            raise DataError(
                f"{name} is listed in {found[path]} too",
                file=place.file,
                item=place.item,
                mend="Keep one of the two",
            )
        else:
            found[path] = place.item
    if missing:
        raise DataError(
            f"{len(missing)} of {len(lines)} listed images are missing: {listed(missing)}",
            file=lines[0].place.file,
            mend="Put them into the source, or remove them from the list",
        )
    return list(found)

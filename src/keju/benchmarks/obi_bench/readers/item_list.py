"""The option ``items``: a list of the images or pairs to import instead of a draw."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers.base import join_names, source_text
from keju.datasets.readers.image_names import ImageNames
from keju.datasets.readers.json_records import json_in
from keju.datasets.readers.records import Field, Place, map_fields, text_of
from keju.datasets.readers.tables import SUFFIXES, read_table
from keju.errors import DataError, shortened
from keju.texts import _, n_

_FIELDS = {
    "image": Field(
        ("image", "path", "file", "filename", "img", "image_path", "name", "query", "fragment",
         "image1", "img1", "a")
    ),
    "other": Field(("candidate", "adjoins", "image2", "img2", "b"), required=False),
    "role": Field(("role", "kind", "use"), required=False),
}  # fmt: skip
_LABEL = re.compile(r"[ \t,]+\S+$")
"""A class after a path, as in the lists of OBI Component 20: ``../8/422_5154no1.png 15``."""


class Listed(NamedTuple):
    """One entry of a list.

    Attributes:
        place: for errors.
        names: the name of an image, or of the two of a pair.
        text: the whole entry, as written.
        role: in small letters; may be empty.
    """

    place: Place
    names: tuple[str, ...]
    text: str = ""
    role: str = ""


def read_item_list(file: Path) -> list[Listed]:
    """The entries of a list: names of images, or pairs of names.

    A text has one name a line, or two that a tab, a comma or a space separates; empty lines and
    lines that begin with ``#`` are skipped. JSON has a list of names or of pairs. A table has
    a column for the image, and perhaps one for the other image of a pair.

    Raises:
        DataError: not readable, empty, or an entry of more than two names.
    """
    found = _entries(file)
    for line in found:
        if len(line.names) not in {1, 2} or not all(line.names):
            raise DataError(
                n_("{n:,} name", "{n:,} names", len(line.names), hint="Write one name, or two"),
                file=file,
                item=line.place.item,
            )
    return found


def _entries(file: Path) -> list[Listed]:
    found = list(_table(file) or _json(file) or _lines(file))
    if not found:
        raise DataError("the list is empty", file=file, hint="Write one name a line")
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
    keys = [fields[role] for role in ("image", "other") if role in fields]
    found = []
    for place, cells in rows:
        names = tuple(text_of(cells, key, place).strip() for key in keys)
        role = text_of(cells, fields.get("role"), place).strip().casefold()
        found.append(Listed(place, names, names[0], role))
    return found


def _begins_with_object(file: Path) -> bool:
    return source_text(file)[:1000].replace("[", " ").lstrip().startswith("{")


def _json(file: Path) -> list[Listed]:
    if file.suffix.casefold() != ".json":
        return []
    found = []
    for number, entry in enumerate(json_in(file, list[str | list[str]]), start=1):
        names = (entry,) if isinstance(entry, str) else tuple(entry)
        found.append(Listed(Place(file, f"entry {number}"), names, " ".join(names).strip()))
    return found


def _lines(file: Path) -> Iterator[Listed]:
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        plain = line.strip()
        if plain and not plain.startswith("#"):
            yield Listed(Place(file, f"line {number}"), names_in(plain), plain)


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


def listed_paths(file: Path, src: Path, images: Iterable[Path]) -> list[Path]:
    """The images that a list names, in its order.

    Raises:
        DataError: a name fits no image or several, is listed twice, or a line has two names.
    """
    lines = read_item_list(file)
    if pair := next((line for line in lines if len(line.names) > 1), None):
        raise DataError(
            "two names, but this format takes one image a line",
            file=file,
            item=pair.place.item,
            hint="Write one name a line",
        )
    return resolve(lines, ImageNames(src, images))


def resolve(lines: Sequence[Listed], index: ImageNames) -> list[Path]:
    """The images of the lines of a list, each with one name.

    Raises:
        DataError: a name fits no image or several, or is listed twice.
    """
    found: dict[Path, str] = {}
    missing: list[str] = []
    for place, (name, *__), *__ in lines:
        path = index.named(name, place.file, place.item)
        if path is None:
            missing.append(f"{name} ({place.item})")
        elif path in found:
            raise place.error(
                _("{} is listed in {} too", name, found[path], hint="Keep one of the two")
            )
        else:
            found[path] = place.item
    if missing:
        raise DataError(
            "{} of {} listed images are missing: {}",
            len(missing),
            len(lines),
            join_names(missing),
            file=lines[0].place.file,
            hint="Put them into the source, or remove them from the list",
        )
    return list(found)


class ListedImage(NamedTuple):
    """An image of the list: its name in the source, its role (may be empty), and its place."""

    name: str
    role: str
    place: Place


def listed_images(file: Path, names: Iterable[str]) -> list[ListedImage]:
    """The images of a list, in its order.

    A listed path is found by its end: ``../HUST-OBC/deciphered/0157/a.png`` is the image
    ``deciphered/0157/a.png`` of the source.

    Args:
        file: the list.
        names: the images of the source, paths with ``/``.

    Raises:
        DataError: the list is not readable or empty, an image is not in the source, is in it
            several times, or is listed twice.
    """
    ends: dict[str, list[str]] = defaultdict(list)
    for name in names:
        ends[name.rpartition("/")[2]].append(name)
    found: dict[str, ListedImage] = {}
    for line in _entries(file):
        place = line.place
        name = _match(line.text, ends, place)
        if name in found:
            raise DataError(
                "{} is also in {}",
                shortened(line.text),
                found[name].place.item,
                file=file,
                item=place.item,
                hint="List each image once",
            )
        found[name] = ListedImage(name, line.role, place)
    return list(found.values())


def _match(path: str, ends: dict[str, list[str]], place: Place) -> str:
    """The image of the source that a listed path names, as it is or with a class after it."""
    plain = path.replace("\\", "/")
    for text in (plain, _LABEL.sub("", plain)):
        wanted = [part for part in text.split("/") if part not in {"", ".", ".."}]
        same = [name for name in ends.get(wanted[-1] if wanted else "", []) if _fits(wanted, name)]
        longest = max((_common_end(wanted, name) for name in same), default=0)
        best = [name for name in same if _common_end(wanted, name) == longest]
        if len(best) == 1:
            return best[0]
        if best:
            raise place.error(
                _(
                    "{!r} may be {}",
                    shortened(path),
                    join_names(best, 3),
                    hint="Write the path from the source's folder on",
                )
            )
    raise place.error(
        _(
            "the source has no image {!r}",
            shortened(path),
            hint="Write the path from the source's folder on, or remove the line",
        )
    )


def _fits(wanted: list[str], name: str) -> bool:
    """Whether one of the two paths is the end of the other."""
    return _common_end(wanted, name) == min(len(wanted), name.count("/") + 1)


def _common_end(wanted: list[str], name: str) -> int:
    count = 0
    for left, right in zip(reversed(wanted), reversed(name.split("/")), strict=False):
        if left != right:
            break
        count += 1
    return count

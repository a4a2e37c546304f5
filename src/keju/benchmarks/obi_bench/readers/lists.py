"""The option ``items``: a list of the images or pairs to import instead of a draw."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple

from msgspec import Meta

from keju.datasets.readers.base import join_names, source_text
from keju.datasets.readers.records import Field, Place, map_fields, text_of
from keju.datasets.readers.tables import SUFFIXES, all_rows, json_in
from keju.errors import DataError, shortened
from keju.texts import _, n_

ItemList = Annotated[
    Path | None,
    Meta(
        description="a list of images to import instead of a draw: one path a line, or CSV or JSON "
        "with a column image (and role, where there is one)"
    ),
]

_FIELDS = {
    "image": Field(("image", "path", "file", "filename", "img", "query", "fragment", "image1")),
    "other": Field(("candidate", "adjoins", "image2"), required=False),
    "role": Field(("role",), required=False),
}
_LABEL = re.compile(r"[ \t,]+\S+$")
"""A class after a path, as in the lists of OBI Component 20: ``../8/422_5154no1.png 15``."""


class Listed(NamedTuple):
    """One entry of a list: its position, its one or two names, its text and its role, or empty."""

    place: Place
    names: tuple[str, ...]
    text: str
    role: str = ""


class ListedImage(NamedTuple):
    """An image of the list: its name in the source, its role (may be empty), and its position."""

    name: str
    role: str
    place: Place


def read_list(file: Path) -> list[Listed]:
    """The entries of a list: names of images, or pairs of names.

    A text has one name a line, or two that a tab, a comma or a space separates; empty lines and
    lines that begin with ``#`` are skipped. JSON has a list of names or of pairs. A table has
    a column for the image, and perhaps one for the other image of a pair, and a role.

    Raises:
        DataError: not readable, or empty.
    """
    suffix = file.suffix.casefold()
    entries: Iterable[Listed] = ()
    if suffix in SUFFIXES and (suffix != ".json" or _has_objects(file)):
        entries = _of_table(file)
    elif suffix == ".json":
        entries = [
            Listed(Place(file, f"entry {number}"), names, " ".join(names))
            for number, entry in enumerate(json_in(file, list[str | list[str]]), start=1)
            for names in [(entry,) if isinstance(entry, str) else tuple(entry)]
        ]
    listed = list(entries) or list(_of_lines(file))
    if not listed:
        raise DataError("the list is empty", file=file, hint="Write one name a line")
    return listed


def check_names(listed: Iterable[Listed], most: int) -> None:
    """Check that each entry has one name, or at most `most`.

    Raises:
        DataError: an entry has more, or an empty one.
    """
    for entry in listed:
        if not 1 <= len(entry.names) <= most or not all(entry.names):
            raise entry.place.error(
                n_(
                    "{n:,} name",
                    "{n:,} names",
                    len(entry.names),
                    hint=_("Write one name, or two") if most > 1 else _("Write one name a line"),
                )
            )


def _has_objects(file: Path) -> bool:
    return source_text(file)[:1000].replace("[", " ").lstrip().startswith("{")


def _of_table(file: Path) -> list[Listed]:
    """The entries of a table; none of a CSV without names of columns, which is read by lines."""
    try:
        rows = all_rows(file)
        fields = map_fields(file, [cells for _place, cells in rows], _FIELDS)
    except DataError:
        if file.suffix.casefold() in {".csv", ".tsv"}:
            return []
        raise
    keys = [fields[role] for role in ("image", "other") if role in fields]
    listed = []
    for place, cells in rows:
        names = tuple(text_of(cells, key, place).strip() for key in keys)
        role = text_of(cells, fields.get("role"), place).strip().casefold()
        listed.append(Listed(place, names, names[0], role))
    return listed


def _of_lines(file: Path) -> Iterator[Listed]:
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        if (plain := line.strip()) and not plain.startswith("#"):
            yield Listed(Place(file, f"line {number}"), _names_in(plain), plain)


def _names_in(line: str) -> tuple[str, ...]:
    """The names of a line: separated by tabs, else by commas, else by spaces.

    A name may have spaces where every word but the last has no suffix.
    """
    for mark in ("\t", ","):
        if mark in line:
            cells = next(csv.reader(io.StringIO(line), delimiter=mark))
            return tuple(cell.strip() for cell in cells)
    words = line.split()
    if sum("." in word for word in words) < 2 <= len(words) and "." in words[-1]:
        return (line,)
    return tuple(words)


class ImageFinder:
    """Finds the images of a source by the names that lists and tables give them.

    A name from data is only compared with the names of the source, never used as a path. It is
    found by its end: ``../HUST-OBC/deciphered/0157/a.png`` is ``deciphered/0157/a.png``. Its suffix
    may be missing or another one, where no image has the name itself.

    Args:
        names: the images of the source, paths with ``/``.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = defaultdict(list)
        for name in names:
            self._names[PurePosixPath(name).stem.casefold()].append(name)

    def find(self, text: str, place: Place, folder: str = "") -> str:
        """The image of a name, from `folder` on if it is there, else wherever it is.

        Raises:
            DataError: no image fits, or several fit equally well.
        """
        if image := self.match(text, place, folder):
            return image
        raise place.error(
            _(
                "the source has no image {!r}",
                shortened(text),
                hint="Write the path from the source's folder on, or remove the line",
            )
        )

    def match(self, text: str, place: Place, folder: str = "") -> str | None:
        """The image of a name; None if there is none.

        Raises:
            DataError: several images fit equally well.
        """
        wanted = [
            part for part in text.replace("\\", "/").split("/") if part not in {"", ".", ".."}
        ]
        if not wanted:
            return None
        last = wanted[-1].casefold()
        same = self._names.get(last, []) + self._names.get(PurePosixPath(last).stem, [])
        for exact in (wanted[-1], last):
            same = [name for name in same if name.rpartition("/")[2] == exact] or same
        beside = [*folder.split("/"), *wanted] if folder else wanted
        ends = {name: _common_end(beside, name) for name in same if _fits(wanted, name)}
        longest = max(ends.values(), default=0)
        best = [name for name, length in ends.items() if length == longest]
        if len(best) > 1:
            raise place.error(
                _(
                    "{!r} may be {}",
                    shortened(text),
                    join_names(best, 3),
                    hint="Write the path from the source's folder on",
                )
            )
        return best[0] if best else None

    def find_listed(self, listed: Iterable[Listed]) -> list[ListedImage]:
        """The images of a list, in its order, without a class after a path.

        Raises:
            DataError: an image is not in the source, fits several times, or is listed twice.
        """
        images: dict[str, ListedImage] = {}
        for entry in listed:
            place = entry.place
            plain = self.match(entry.text, place)
            name = plain or self.find(_LABEL.sub("", entry.text), place)
            if name in images:
                raise place.error(
                    _(
                        "{} is also in {}",
                        shortened(entry.text),
                        images[name].place.item,
                        hint="List each image once",
                    )
                )
            images[name] = ListedImage(name, entry.role, place)
        return list(images.values())


def _fits(wanted: list[str], name: str) -> bool:
    """Whether one of the two paths is the end of the other."""
    return _common_end(wanted, name) == min(len(wanted), name.count("/") + 1)


def _common_end(wanted: list[str], name: str) -> int:
    """How many parts are the same from the end on; the files' names count as such."""
    count = 1
    for one, other in zip(reversed(wanted[:-1]), reversed(name.split("/")[:-1]), strict=False):
        if one.casefold() != other.casefold():
            break
        count += 1
    return count

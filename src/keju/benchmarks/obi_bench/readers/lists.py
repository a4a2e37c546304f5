"""The option ``items``: a list of the images or pairs to import instead of a draw."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from keju.datasets.readers.base import source_text
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.records import Field, Place, map_fields, text_of
from keju.datasets.readers.tables import SUFFIXES, all_rows
from keju.errors import DataError, shortened
from keju.texts import _, n_

ItemList = Annotated[
    Path | None,
    Meta(
        description="a list of images to import instead of a draw: a text with one path a line, or "
        "a table with the column image (and role: reference, query or distractor)"
    ),
]

_FIELDS = {
    "image": Field(("image", "path", "query")),
    "other": Field(("candidate",), required=False),
    "role": Field(("role",), required=False),
}
_LABEL = re.compile(r"([.][^\s./]+)\s+[0-9]+$")
"""A class after a path, as in the lists of OBI Component 20: ``../8/422_5154no1.png 15``."""


class Listed(NamedTuple):
    """One entry of a list: its position, its one or two names, and its role, which may be empty."""

    place: Place
    names: tuple[str, ...]
    role: str = ""


class ListedImage(NamedTuple):
    """An image of the list, its role (may be empty), and its position."""

    path: Path
    role: str
    place: Place


def read_list(file: Path, most: int = 1) -> list[Listed]:
    """The entries of a list: names of images or, where `most` is 2, also pairs of names.

    A text has one name a line, or two that a tab or a space separates; empty lines and lines that
    begin with ``#`` are skipped. A table, also of JSON objects such as HUST-OBC's
    ``Validation_test.json``, has the columns image (or path), and perhaps role; of pairs the
    columns query and candidate.

    Raises:
        DataError: not readable, empty, or with an entry of more names.
    """
    is_table = file.suffix.casefold() in SUFFIXES
    listed = list(_of_table(file) if is_table else _of_lines(file, most))
    if not listed:
        raise DataError("the list is empty", file=file, hint="Write one name a line")
    for entry in listed:
        if len(entry.names) > most or not all(entry.names):
            raise entry.place.error(
                n_(
                    "{n:,} name",
                    "{n:,} names",
                    len(entry.names),
                    hint=_("Write one name, or two") if most > 1 else _("Write one name a line"),
                )
            )
    return listed


def _of_table(file: Path) -> Iterator[Listed]:
    rows = all_rows(file)
    fields = map_fields(file, [cells for _place, cells in rows], _FIELDS)
    for place, cells in rows:
        image, *others = (
            text_of(cells, fields[role], place).strip() for role in _FIELDS if role in fields
        )
        role = others.pop().casefold() if "role" in fields else ""
        yield Listed(place, (image, *others), role)


def _of_lines(file: Path, most: int) -> Iterator[Listed]:
    """The entries of a text; a name has spaces where no word but the last one has a suffix."""
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        plain = line.strip()
        if not plain or plain.startswith("#"):
            continue
        if most == 1:
            plain = _LABEL.sub(r"\1", plain)
        words = plain.split("\t") if "\t" in plain else plain.split()
        if sum("." in word for word in words) < 2 and "." in words[-1]:
            words = [plain]
        yield Listed(Place(file, f"line {number}"), tuple(map(str.strip, words)))


class NamedImages:
    """Finds the images of a source by the names that lists and tables give them.

    A name is found by its end: ``../HUST-OBC/deciphered/0157/a.png`` is ``deciphered/0157/a.png``.
    Its suffix may be missing or another one. A folder in the name must be the image's.

    Args:
        top: the folder from which on the folders in a name must be those of the image.
        images: the images of the source.
    """

    def __init__(self, top: Path, images: Iterable[Path]) -> None:
        self._top = top
        self._finder = ImageFinder(None, [top], images)

    def find(self, name: str, place: Place) -> Path:
        """The image of a name; of several, the one nearest to the file of `place`.

        Raises:
            DataError: no image fits, or several fit equally well.
        """
        path = self._finder.find(name, place)
        if path is None or not _fits(name, path.relative_to(self._top).parts):
            raise place.error(
                _(
                    "the source has no image {!r}",
                    shortened(name),
                    hint="Write the path from the source's folder on, or remove the line",
                )
            )
        return path

    def listed(self, entries: Iterable[Listed]) -> list[ListedImage]:
        """The images of a list, in its order.

        Raises:
            DataError: an image is not in the source, fits several times, or is listed twice.
        """
        images: dict[Path, ListedImage] = {}
        for entry in entries:
            path = self.find(entry.names[0], entry.place)
            if path in images:
                raise entry.place.error(
                    _(
                        "{} is also in {}",
                        shortened(entry.names[0]),
                        images[path].place.item,
                        hint="List each image once",
                    )
                )
            images[path] = ListedImage(path, entry.role, entry.place)
        return list(images.values())


def _fits(name: str, parts: Sequence[str]) -> bool:
    """Whether the folders of a name and of an image are the same, as far as both have some."""
    folders = [part for part in re.split(r"[/\\]+", name.strip()) if part not in {"", ".", ".."}]
    pairs = zip(reversed(folders[:-1]), reversed(parts[:-1]), strict=False)
    return all(one.casefold() == other.casefold() for one, other in pairs)

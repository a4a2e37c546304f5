"""The option ``items``: a list of the images or pairs to import instead of a draw."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from keju.datasets.readers.base import source_text
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.records import Place
from keju.errors import DataError, shortened
from keju.texts import _, n_

ItemList = Annotated[
    Path | None,
    Meta(description="a text of images to import instead of a draw, one path a line"),
]

_LABEL = re.compile(r"([.][^\s./]+)\s+[0-9]+$")
"""A class after a path, as in the lists of OBI Component 20: ``../8/422_5154no1.png 15``."""


class Listed(NamedTuple):
    """One line of a list: its position, and its one or two names."""

    place: Place
    names: tuple[str, ...]


def read_list(file: Path, most: int = 1) -> list[Listed]:
    """The lines of a list: names of images or, where `most` is 2, also pairs of names.

    A tab or a space separates the names of a pair; a name has spaces where no word but the last one
    has a suffix. Empty lines and lines that begin with ``#`` are skipped.

    Raises:
        DataError: not readable, empty, or with a line of more names.
    """
    listed = []
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        plain = line.strip()
        if not plain or plain.startswith("#"):
            continue
        place = Place(file, f"line {number}")
        plain = _LABEL.sub(r"\1", plain) if most == 1 else plain
        words = plain.split("\t") if "\t" in plain else plain.split()
        if sum("." in word for word in words) < 2 and "." in words[-1]:
            words = [plain]
        names = tuple(word.strip() for word in words)
        if len(names) > most or not all(names):
            hint = _("Write one name, or two") if most > 1 else _("Write one name a line")
            raise place.error(n_("{n:,} name", "{n:,} names", len(names)), hint)
        listed.append(Listed(place, names))
    if not listed:
        raise DataError("the list is empty", file=file, hint="Write one name a line")
    return listed


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

    def listed(self, file: Path) -> dict[Path, Place]:
        """The images of a list of single names, in its order, with their positions.

        Raises:
            DataError: as `read_list`; an image is not in the source, fits several times, or is
                listed twice.
        """
        images: dict[Path, Place] = {}
        for place, names in read_list(file):
            path = self.find(names[0], place)
            if path in images:
                first = images[path].item
                raise place.error(
                    _("{} is also in {}", shortened(names[0]), first, hint="List each image once")
                )
            images[path] = place
        return images


def _fits(name: str, parts: Sequence[str]) -> bool:
    """Whether the folders of a name and of an image are the same, as far as both have some."""
    folders = [part for part in re.split(r"[/\\]+", name.strip()) if part not in {"", ".", ".."}]
    pairs = zip(reversed(folders[:-1]), reversed(parts[:-1]), strict=False)
    return all(one.casefold() == other.casefold() for one, other in pairs)

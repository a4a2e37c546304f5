"""The option ``items``, a list of images, and the images that lists and tables name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from keju.datasets.readers.base import source_text
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.records import Place
from keju.errors import DataError, shortened
from keju.texts import _, n_

ItemList = Annotated[
    Path | None,
    Meta(description="a text of images, one path a line: no others are imported"),
]

_LABEL = re.compile(r"([.][^\s./]+)\s+[0-9]+$")
"""A class after a path, as in the lists of OBI Component 20: ``../8/422_5154no1.png 15``."""


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
        self._finder = ImageFinder([top], images)

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
        """The images of a list, in its order, with their positions.

        A name has spaces where no word but the last one has a suffix. Empty lines and lines that
        begin with ``#`` are skipped.

        Raises:
            DataError: the list is not readable or empty, a line has several names, or an image is
                not in the source, fits several times, or is listed twice.
        """
        images: dict[Path, Place] = {}
        for number, line in enumerate(source_text(file).split("\n"), start=1):
            name = _LABEL.sub(r"\1", line.strip())
            words = name.split()
            if not words or name.startswith("#"):
                continue
            place = Place(file, f"line {number}")
            if len(words) > 1 and ("." not in words[-1] or sum("." in word for word in words) > 1):
                problem = n_("{n:,} name", "{n:,} names", len(words))
                raise place.error(problem, _("Write one name a line"))
            path = self.find(name, place)
            if path in images:
                first = images[path].item
                raise place.error(
                    _("{} is also in {}", shortened(name), first, hint="List each image once")
                )
            images[path] = place
        if not images:
            raise DataError("the list is empty", file=file, hint="Write one name a line")
        return images


def _fits(name: str, parts: Sequence[str]) -> bool:
    """Whether the folders of a name and of an image are the same, as far as both have some."""
    folders = [part for part in re.split(r"[/\\]+", name.strip()) if part not in {"", ".", ".."}]
    pairs = zip(reversed(folders[:-1]), reversed(parts[:-1]), strict=False)
    return all(one.casefold() == other.casefold() for one, other in pairs)

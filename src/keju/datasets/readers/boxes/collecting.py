"""`Collector`: collects boxes by image while annotation files are read, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from keju.datasets.readers.base import join_names
from keju.datasets.readers.boxes.model import MOST_BOXES, Drawn
from keju.datasets.readers.boxes.settings import BoxSettings
from keju.datasets.readers.images import ImageFinder
from keju.datasets.readers.records import Place
from keju.errors import DataError, number_of, shortened
from keju.texts import _, n_


class Collector:
    """Collects the boxes of each image.

    Attributes:
        of: the boxes on each image that has an annotation, even an empty one.
        files: the annotation file of each such image.
        odd: the number of boxes with a fifth value other than 1 (YinQiWenYuan).
    """

    def __init__(self, images: ImageFinder, settings: BoxSettings) -> None:
        self.settings = settings
        self._images = images
        self._missing: dict[str, Place] = {}
        self._skipped: Counter[str] = Counter()
        self.odd = 0
        self.of: dict[Path, list[Drawn]] = {}
        self.files: dict[Path, Path] = {}

    def image(self, name: str, place: Place) -> Path | None:
        """The image of a name, recorded as annotated.

        None, and recorded as missing, if it does not exist.

        Raises:
            DataError: several images fit, or another file has boxes for it.
        """
        path = self._images.find(name, place)
        if path is None:
            self._missing.setdefault(name, place)
        else:
            self._annotate(path, place.file)
        return path

    def image_beside(self, file: Path, *names: str) -> Path:
        """The image of an annotation file (`ImageFinder.beside`), recorded as annotated.

        Raises:
            DataError: there is none, several fit, or another file has boxes for it.
        """
        path = self._images.beside(file, *names)
        self._annotate(path, file)
        return path

    def _annotate(self, path: Path, file: Path) -> None:
        first = self.files.setdefault(path, file)
        if first != file:
            raise DataError(
                "{} also has the boxes of {}",
                shortened(first.name),
                path.name,
                file=file,
                hint="Keep one of the two files",
            )
        self.of.setdefault(path, [])

    def add(self, path: Path, drawn: Drawn) -> None:
        """Add a box to an image.

        Raises:
            DataError: the image has more than `MOST_BOXES`.
        """
        boxes = self.of[path]
        if len(boxes) == MOST_BOXES:
            raise drawn.place.error(
                _(
                    "more than {} boxes on {}",
                    MOST_BOXES,
                    path.name,
                    hint="Check the file: an image of oracle bones has a few hundred at most",
                )
            )
        boxes.append(drawn)

    def skip(self, what: str) -> None:
        """Count a record that is not the box of a character; it becomes a note."""
        self._skipped[what] += 1

    def notes(self) -> tuple[str, ...]:
        """Notes on the skipped boxes and images, one line for each kind.

        Raises:
            DataError: images are missing, and they are not to be skipped.
        """
        found = [f"skipped {count} {what}" for what, count in self._skipped.items()]
        if self._missing:
            names = _named(self._missing)
            if not self.settings.skip_missing:
                raise DataError(
                    n_(
                        "{n:,} image is missing: {}",
                        "{n:,} images are missing: {}",
                        len(self._missing),
                        names,
                        hint="Add them, or skip them: --option skip-missing=yes",
                    ),
                    file=next(iter(self._missing.values())).file,
                )
            found.append(f"skipped the boxes of {len(self._missing)} missing images: {names}")
        if self.odd:
            boxes = number_of(self.odd, "box has", "boxes have")
            found.append(f"{boxes} a fifth value other than 1, imported too")
        return tuple(found)


def _named(missing: Mapping[str, Place]) -> str:
    names: Iterable[str] = (
        f"{shortened(name)!r} (of {place.item})" if place.item else repr(shortened(name))
        for name, place in missing.items()
    )
    return join_names(names)

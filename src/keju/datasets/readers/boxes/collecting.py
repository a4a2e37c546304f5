"""`Collector`: collects boxes by image while annotation files are read, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers.base import join_names
from keju.datasets.readers.boxes.model import MOST_BOXES, Drawn
from keju.datasets.readers.boxes.settings import BoxSettings
from keju.datasets.readers.image_names import ImageNames
from keju.datasets.readers.records import Place
from keju.errors import DataError, shortened
from keju.messages import message


class Source(NamedTuple):
    """The input of a format's reader: its files, the images, and the user's settings."""

    folder: Path
    files: list[Path]
    images: ImageNames
    settings: BoxSettings


class Collector:
    """Collects the boxes of each image.

    Args:
        source: the source.
        skip_missing: whether boxes of missing images are skipped.
    """

    def __init__(self, source: Source, *, skip_missing: bool = False) -> None:
        self._images = source.images
        self._skip_missing = skip_missing
        self._missing: dict[str, Place] = {}
        self._skipped: Counter[str] = Counter()
        self.of: dict[Path, list[Drawn]] = {}
        self.files: dict[Path, Path] = {}

    def image(self, name: str, place: Place) -> Path | None:
        """The image of a name, recorded as annotated.

        None, and recorded as missing, if it does not exist.

        Raises:
            DataError: several images fit, or another file has boxes for it.
        """
        path = self._images.named(name, place.file, place.item)
        if path is None:
            self._missing.setdefault(name, place)
        else:
            self.annotated(path, place.file)
        return path

    def annotated(self, path: Path, file: Path) -> None:
        """Record that a file has the boxes of an image, even if there are none.

        Raises:
            DataError: another file has boxes for it.
        """
        first = self.files.setdefault(path, file)
        if first != file:
            raise DataError(
                message("datasets.boxes-in-two-files", name=shortened(first.name), image=path.name),
                file=file,
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
                message("datasets.too-many-boxes", most=MOST_BOXES, name=path.name)
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
            if not self._skip_missing:
                raise DataError(
                    message("datasets.box-images-missing", count=len(self._missing), names=names),
                    file=next(iter(self._missing.values())).file,
                )
            found.append(f"skipped the boxes of {len(self._missing)} missing images: {names}")
        return tuple(found)


def _named(missing: Mapping[str, Place]) -> str:
    names: Iterable[str] = (
        f"{shortened(name)!r} (of {place.item})" if place.item else repr(shortened(name))
        for name, place in missing.items()
    )
    return join_names(names)

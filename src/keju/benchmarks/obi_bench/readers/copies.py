"""`Copies`: byte-identical images within a source, and the rule for those in several classes."""

from __future__ import annotations

import stat
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from keju.datasets.readers.base import join_names
from keju.datasets.readers.time_limit import check_time
from keju.errors import DataError, number_of
from keju.files import sha256_bytes, sha256_file

_SMALL = 1 << 16

Rule = Literal["drop", "keep-first", "error"]


class Image(NamedTuple):
    """An image of a class: its file, its name in notes, and its class after its source."""

    path: Path
    name: str
    owner: str


class Copies:
    """Finds copies of images: each is compared with all images of the same size in bytes.

    So what is found does not depend on how many classes are drawn, and of a large source only the
    images of those sizes are read.

    Args:
        images: all images that may be drawn together.
        rule: what becomes of an image in several classes.
    """

    def __init__(self, images: Iterable[Image], rule: Rule) -> None:
        self._images = images
        self._rule = rule
        self._sizes: dict[int, list[Image]] | None = None
        self._groups: dict[int, dict[str, list[Image]]] = {}
        self._digests: dict[Path, str] = {}
        self._of_classes: dict[str, list[Image]] = {}

    def digest(self, image: Image) -> str:
        """The SHA-256 of an image that has a copy; empty if it has none."""
        size = _size(image.path)
        if size not in self._groups:
            self._groups[size] = self._group(size)
        return self._digests.get(image.path, "")

    def is_usable(self, image: Image) -> bool:
        """Whether an image may be used in its class; if not, `notes` reports it.

        Raises:
            DataError: it is in another class too, and the rule is ``error``.
        """
        digest = self.digest(image)
        copies = self._groups[_size(image.path)].get(digest, [image])
        if len({each.owner for each in copies}) == 1:
            return True
        first = min(copies, key=lambda each: each.name)
        if self._rule == "error":
            other = next(each for each in copies if each.owner != image.owner)
            raise DataError(
                "the same image as {}, which is of another class",
                other.path,
                file=image.path,
                hint="Remove one of the two, or give --option duplicates=drop",
            )
        self._of_classes[digest] = copies
        return self._rule == "keep-first" and first.owner == image.owner

    def notes(self) -> Iterable[str]:
        """One line on the images in several classes that the draw came across."""
        if self._of_classes:
            found = sorted(self._of_classes.values(), key=lambda copies: copies[0].name)
            pairs = (" = ".join(sorted(each.name for each in copies)[:3]) for copies in found)
            what = "used in no class" if self._rule == "drop" else "used in the first class only"
            yield (
                f"{number_of(len(found), 'image exists', 'images exist')} byte by byte in "
                f"several classes, {what} "
                f"(duplicates={self._rule}): {join_names(pairs, 3)}"
            )

    def _group(self, size: int) -> dict[str, list[Image]]:
        """The images of one size by digest, as far as there are copies."""
        if self._sizes is None:
            self._sizes = defaultdict(list)
            for image in self._images:
                self._sizes[_size(image.path)].append(image)
        alike = self._sizes.get(size, [])
        if len(alike) < 2 or size <= 0:
            return {}
        by_digest: dict[str, list[Image]] = defaultdict(list)
        for image in alike:
            try:
                by_digest[_digest(image.path, size)].append(image)
            except OSError:
                continue  # Where it is drawn, reading it reports what is wrong.
        found = {digest: copies for digest, copies in by_digest.items() if len(copies) > 1}
        self._digests |= {each.path: digest for digest, some in found.items() for each in some}
        return found


def _digest(path: Path, size: int) -> str:
    """The SHA-256 of a file of `size` bytes; small files are read at once, as there may be many.

    Raises:
        OSError: it is not readable.
    """
    if size > _SMALL:
        return sha256_file(path)
    check_time()
    with path.open("rb", buffering=0) as stream:
        return sha256_bytes(stream.read(size) or b"")


def _size(path: Path) -> int:
    """The size of a regular file in bytes; -1 for anything else, which is never opened here."""
    try:
        status = path.stat()
    except OSError:
        return -1
    return status.st_size if stat.S_ISREG(status.st_mode) else -1

"""`ImageFinder`: finds the images that records and annotations name.

A release has the image paths of its authors' machines, an annotation file those of the annotator's.
An image of a record that is found by other means than the given path is reported at the end of the
import. Names are untrusted: no image outside of the directories is read.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from keju.datasets.import_log import import_log
from keju.datasets.readers.base import inside, join_names, kept_inside, walk
from keju.datasets.readers.records import Place
from keju.errors import DataError, shortened
from keju.images import EXTENSIONS
from keju.texts import _

MOST_FILES = 500_000
"""Maximum number of images in an index; the largest known source has 230,000."""

_LONGEST_TAIL = 8
"""Maximum number of parts of a path that are compared, from its end on."""

_ANY_FOLDER = frozenset({"images", "image", "imgs", "img", "pictures", "pics"})
"""Names of directories that contain no information about the image."""

_MOST_ALIKE = 1000
"""Maximum number of images with the same name among which the best is searched."""

_LONGEST_NAME = 1000
"""Maximum length of an image's name with its directories."""

ANY_FOLDER, ANY_SUFFIX = "**/", ".*"
"""The beginning and the end of a name with which any directory and any image suffix fit."""

_DATA_URL = re.compile(r"data:[^,;]*(?:;[^,;]*)*?;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/\-_\s]{64,}={0,2}\s*")
_BEGINNINGS = ("iVBORw0KGgo", "/9j/", "_9j_", "R0lGOD", "UklGR", "Qk", "SUkq", "TU0A", "AAAADGpQ")
"""The beginnings of PNG, JPEG, GIF, WebP, BMP, TIFF and JPEG 2000 in base64."""

_BETWEEN = re.compile(r"[;；|,，\n]")
_ADDRESS = re.compile(r"(?:[a-z]+:)?//[^/]*", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")

Key = tuple[str, ...]


class ImageFinder:
    """Finds and stores the images below some directories.

    A name is searched in this order: the path below a directory; the longest end of the path that
    exists below the directories; the same with another image suffix. The file name alone is enough
    if the name has no directory, or one that is called ``images`` or similar; with another
    directory only directly below a root, and never if that directory exists without the image.
    Of several images the one with the same letter case is taken, then one below a directory in
    `near` or called after the file, then the one nearest to the file; equal ones are an error. In a
    name, a last ``.*`` is any image suffix and a first ``**/`` any directory.

    The directories are searched once, when a path does not exist as written. Links to directories
    are not followed, and a link to a file outside is an error.

    Args:
        roots: the directories.
        images: the images to choose from, where not all below the roots: those that annotations
            are about. Their directories are the annotator's, so that the file name is enough and is
            not reported.
        beside: whether a path may also start from the record's file, or from ``images`` beside it.
    """

    def __init__(
        self,
        roots: Iterable[Path],
        images: Iterable[Path] | None = None,
        *,
        beside: bool = False,
    ) -> None:
        self.roots = tuple(dict.fromkeys(roots))
        self._beside = beside
        self._images = None if images is None else tuple(images)
        self._allowed = None if self._images is None else frozenset(self._images)
        self._folders: set[str] = set()
        self._tables: dict[tuple[int, bool], dict[Key, list[Path]]] = {}

    def find(self, name: str, place: Place, near: Collection[str] = ()) -> Path | None:
        """The image that a record names; None if there is none.

        Args:
            name: path, file name or URL, with slashes or backslashes, or a pattern.
            place: the record.
            near: names of directories to prefer where several images fit, such as the task's.

        Raises:
            DataError: several images fit equally, the name cannot be a file's, or the image is a
                link that leads out of the directory.
        """
        if self._images is not None and len(name) > _LONGEST_NAME:
            return None
        if name.startswith(ANY_FOLDER) or name.endswith(ANY_SUFFIX):
            return self._matching(name, place)
        if (literal := self._literal(name, place)) is not None:
            return literal
        parts = _parts(name)
        if self._images is None and any(map(_BETWEEN.search, parts[:-1])):
            return None  # Several paths in one text, of which only the last would be found.
        for by_stem in (False, True):
            size, found = self._longest(parts, by_stem=by_stem)
            if size == 1 and len(parts) > 1 and self._images is None:
                # The file name fits, although its directory is not the named one.
                folder = _folded(parts[-2])
                if folder in self._folders:
                    found = []
                elif folder not in _ANY_FOLDER:
                    found = [path for path in found if path.parent in self.roots]
            if not found:
                continue
            path = self._chosen(found, parts[-1], place, near)
            if self._images is None:
                way = _("by their file name") if size == 1 else _("by the end of their path")
                if _folded(path.name) != _folded(parts[-1]):
                    way = _("under another suffix")
                import_log().matched(way, shortened(name), self._short_path(path))
            return path
        return None

    def beside(self, file: Path, *names: str) -> Path:
        """The image of an annotation file: of its own name, else of one of the names in it.

        Raises:
            DataError: there is none, or several fit equally well.
        """
        place = Place(file, "")
        for name in (file.name, *names):
            stem = PurePosixPath(name.replace("\\", "/").replace("\0", "")).stem
            if found := self._table(1, by_stem=True).get((_folded(stem),)):
                return self._chosen(found, stem, place, ())
        raise DataError(
            "its image is missing: expected {}.jpg or another image of that name",
            file.stem,
            file=file,
            hint="Put the image there, or remove the annotation",
        )

    def has_stem(self, stem: str) -> bool:
        """Whether an image has that file name, whatever its suffix."""
        return (_folded(stem),) in self._table(1, by_stem=True)

    def _literal(self, name: str, place: Place) -> Path | None:
        """The image at that path below a root, or beside the record's file."""
        if not _is_plain(name):
            return None
        folders = (place.file.parent, place.file.parent / "images") if self._beside else ()
        path = image_below((*folders, *self.roots), name, file=place.file, item=place.item)
        return path if self._allowed is None or path in self._allowed else None

    def _matching(self, name: str, place: Place) -> Path | None:
        """The one image that fits a pattern."""
        path = PurePosixPath(name.removeprefix(ANY_FOLDER).removesuffix(ANY_SUFFIX))
        by_stem = name.endswith(ANY_SUFFIX)
        size = 1 if name.startswith(ANY_FOLDER) else max(1, min(len(path.parts), _LONGEST_TAIL))
        fitting = self._table(size, by_stem=by_stem).get(
            tuple(map(_folded, path.parts[-size:])), []
        )
        images = [each for each in fitting if path.name == (each.stem if by_stem else each.name)]
        if not name.startswith(ANY_FOLDER):
            folders = {root / path.parent for root in self.roots}
            images = [each for each in images if each.parent in folders]
        if len(images) > 1:
            raise self._several(name, sorted(images), place, _("Give the whole path"))
        return self._checked(images[0]) if images else None

    def _several(self, name: str, found: Iterable[Path], place: Place, hint: str) -> DataError:
        names = join_names(map(self._short_path, found), 2)
        return place.error(_("several images fit {!r}: {}", shortened(name), names), hint)

    def unused(self, used: Collection[Path]) -> list[str]:
        """The paths of the images below the directories that are none of the `used` ones."""
        return [self._short_path(path) for path in self._walk() if path not in used]

    def _walk(self) -> Iterator[Path]:
        for root in self.roots:
            if not any(root != other and root.is_relative_to(other) for other in self.roots):
                for folder, folders, files in walk(root):
                    self._folders.update(map(_folded, folders))  # Also the empty ones.
                    suffixes = ((name, name.rpartition(".")[2].casefold()) for name in files)
                    yield from (folder / name for name, suffix in suffixes if suffix in EXTENSIONS)

    @cached_property
    def _paths(self) -> tuple[Path, ...]:
        if self._images is not None:
            return self._images
        found: list[Path] = []
        for path in self._walk():
            if len(found) == MOST_FILES:
                problem = _("more than {:,} images, so they cannot be searched", MOST_FILES)
                hint = _("Give the folder of the images: --option images=FOLDER")
                raise DataError(problem, file=self.roots[0], hint=hint)
            found.append(path)
        return tuple(found)

    def _longest(self, parts: Sequence[str], *, by_stem: bool) -> tuple[int, list[Path]]:
        """The images with the longest common end of the path, and the number of its parts."""
        last = _stem(parts[-1]) if by_stem else parts[-1]
        for size in range(min(len(parts), _LONGEST_TAIL), 0, -1):
            key = (*map(_folded, parts[-size:-1]), _folded(last))
            if found := self._table(size, by_stem=by_stem).get(key):
                return size, found
        return 0, []

    def _table(self, size: int, *, by_stem: bool) -> dict[Key, list[Path]]:
        if (size, by_stem) not in self._tables:
            table: dict[Key, list[Path]] = {}
            for path in self._paths:
                last = path.stem if by_stem else path.name
                folders = path.parts[-size:-1] if size > 1 else ()
                table.setdefault((*map(_folded, folders), _folded(last)), []).append(path)
            self._tables[size, by_stem] = table
        return self._tables[size, by_stem]

    def _chosen(
        self, found: Sequence[Path], name: str, place: Place, near: Collection[str]
    ) -> Path:
        """The one image of several that fits best."""
        folder = place.file.parent
        folder_names = {_folded(each) for each in (*near, place.file.stem, folder.name)}

        def fit(path: Path) -> tuple[bool, bool, bool, int]:
            folders = self._relative(path).parent.parts
            return (
                name in {path.name, path.stem},
                not folder_names.isdisjoint(map(_folded, folders)),
                path.parent == folder,
                # ``labels/train`` shares more with ``images/train`` than with ``images/val``.
                len(set(path.parent.parts) & set(folder.parts)),
            )

        best = list(found)
        if 1 < len(best) <= _MOST_ALIKE:
            fits = [fit(path) for path in found]
            highest = max(fits)
            best = [path for path, of_path in zip(found, fits, strict=True) if of_path == highest]
        if len(set(best)) > 1:
            hint = _("Name the image with its folder, or put the annotation beside it")
            if self._images is None:
                hint = _("Name the image with its folder, or give --option images=FOLDER")
            raise self._several(name, sorted(found), place, hint)
        return self._checked(best[0])

    def _checked(self, path: Path) -> Path:
        return kept_inside(path, next(root for root in self.roots if path.is_relative_to(root)))

    def _relative(self, path: Path) -> PurePosixPath:
        roots = [root for root in self.roots if path.is_relative_to(root)]
        return PurePosixPath(path.relative_to(min(roots, key=lambda root: len(root.parts))))

    def _short_path(self, path: Path) -> str:
        return shortened(str(self._relative(path)))


def image_below(roots: Iterable[Path], name: str, *, file: Path, item: str) -> Path | None:
    """The image at the path `name` below the first of the roots that has it; None if none has.

    Raises:
        DataError: the path leads out of a root.
    """
    paths = (inside(root, name, file=file, item=item) for root in roots)
    return next((path for path in paths if path.is_file()), None)


def decoded_image(text: str, *, file: Path, item: str) -> bytes | None:
    """The image that a text contains as base64 or as a ``data:`` URL; None if it is a name.

    Raises:
        DataError: it begins like one, but is not base64.
    """
    head = text.lstrip()[:40]
    if url := _DATA_URL.match(text.lstrip()[:200]):
        encoded = text.lstrip()[url.end() :]
    elif head.startswith(_BEGINNINGS) and _BASE64.fullmatch(text):
        encoded = text
    else:
        return None
    try:
        return b64decode("".join(encoded.split()).translate(_URL_SAFE), validate=True)
    except (Base64Error, ValueError):
        raise DataError(
            "its image is not valid base64", file=file, item=item, hint="Fetch the file again"
        ) from None


_URL_SAFE = str.maketrans("-_", "+/")


def _is_plain(name: str) -> bool:
    """Whether a name is a path that starts from a root and stays below it."""
    path = PurePosixPath(name.replace("\\", "/"))
    return not (path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0])


def _parts(name: str) -> list[str]:
    """The directories and the file name of a path or URL, without its root."""
    plain = name.strip().replace("\\", "/")
    if address := _ADDRESS.match(plain):
        plain = plain[address.end() :].partition("?")[0]
    parts = PurePosixPath(_DRIVE.sub("", plain, count=1) if _DRIVE.match(plain) else plain).parts
    return [part for part in parts if part not in {"/", "//", ".", ".."}] or [""]


def _stem(name: str) -> str:
    """A file name without the suffix of an image."""
    stem, _, suffix = name.rpartition(".")
    return stem if stem and suffix.casefold() in EXTENSIONS else name


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()

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

_ANY_FOLDER = frozenset({"images", "image", "imgs", "img", "pictures", "pics"})
"""Names of directories that contain no information about the image."""

_MOST_ALIKE = 1000
"""Maximum number of images with the same name among which the best is searched."""

_LONGEST_NAME = 1000
"""Maximum length of an image's name with its directories."""

_IN_ANY_FOLDER, _WITH_ANY_SUFFIX = "**/", ".*"
"""The beginning and the end of a name with which any directory and any image suffix fit."""

_DATA_URL = re.compile(r"data:[^,;]*(?:;[^,;]*)*?;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/\-_\s]{64,}={0,2}\s*")
_BEGINNINGS = ("iVBORw0KGgo", "/9j/", "_9j_", "R0lGOD", "UklGR", "Qk", "SUkq", "TU0A", "AAAADGpQ")
"""The beginnings of PNG, JPEG, GIF, WebP, BMP, TIFF and JPEG 2000 in base64."""
_URL_SAFE = str.maketrans("-_", "+/")

_BETWEEN = re.compile(r"[;；|,，\n]")
_ADDRESS = re.compile(r"(?:[a-z]+:)?//[^/]*", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")


class ImageFinder:
    """Finds the images below some directories.

    A name is the path below a directory, or else an image of that name with another suffix or in
    another place, as `_candidates` says: the one with the same suffix, then the one whose
    directories agree most with the named ones, then one with the same letter case, one below a
    directory in `near` or called after the file, and the nearest to the file. Equal ones are an
    error. In a name, a last ``.*`` is any image suffix and a first ``**/`` any directory.

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
        self, roots: Iterable[Path], images: Iterable[Path] | None = None, *, beside: bool = False
    ) -> None:
        self.roots = tuple(dict.fromkeys(roots))
        self._beside = beside
        self._images = None if images is None else dict.fromkeys(images)
        self._folders: set[str] = set()

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
        if name.startswith(_IN_ANY_FOLDER) or name.endswith(_WITH_ANY_SUFFIX):
            return self._matching(name, place)
        if (literal := self._literal(name, place)) is not None:
            return literal
        parts = _parts(name)
        path = self._best(self._candidates(parts), parts, place, near)
        if path and self._images is None:
            way = _("by the end of their path") if _agreeing(path, parts) else None
            if _folded(path.name) != _folded(parts[-1]):
                way = _("under another suffix")
            way = way or _("by their file name")
            import_log().matched(way, shortened(name), self._short_path(path))
        return path

    def beside(self, file: Path, *names: str) -> Path:
        """The image of an annotation file: of its own name, else of one of the names in it.

        Raises:
            DataError: there is none, or several fit equally well.
        """
        place = Place(file, "")
        for name in (file.name, *names):
            stem = PurePosixPath(name.replace("\\", "/").replace("\0", "")).stem
            if path := self._best(self._named(stem), [stem], place):
                return path
        raise DataError(
            "its image is missing: expected {}.jpg or another image of that name",
            file.stem,
            file=file,
            hint="Put the image there, or remove the annotation",
        )

    def has_stem(self, stem: str) -> bool:
        """Whether an image has that file name, whatever its suffix."""
        return bool(self._named(stem))

    def unused(self, used: Collection[Path]) -> list[str]:
        """The paths of the images below the directories that are none of the `used` ones."""
        return [self._short_path(path) for path in self._walk() if path not in used]

    # ---- by a path or a pattern

    def _literal(self, name: str, place: Place) -> Path | None:
        """The image at that path below a root, or beside the record's file."""
        plain = PurePosixPath(name.replace("\\", "/"))
        if plain.is_absolute() or ".." in plain.parts or ":" in (plain.parts or ("",))[0]:
            return None
        folders = (place.file.parent, place.file.parent / "images") if self._beside else ()
        path = image_below((*folders, *self.roots), name, file=place.file, item=place.item)
        return path if self._images is None or path in self._images else None

    def _matching(self, name: str, place: Place) -> Path | None:
        """The one image that fits a pattern."""
        pattern = PurePosixPath(name.removeprefix(_IN_ANY_FOLDER).removesuffix(_WITH_ANY_SUFFIX))
        by_stem = name.endswith(_WITH_ANY_SUFFIX)
        stem = pattern.name if by_stem else pattern.stem
        fitting = [
            path
            for path in self._named(stem, pattern.parent.name)
            if pattern.name == (path.stem if by_stem else path.name)
        ]
        if not name.startswith(_IN_ANY_FOLDER):
            folders = {root / pattern.parent for root in self.roots}
            fitting = [path for path in fitting if path.parent in folders]
        if len(fitting) > 1:
            raise self._several(name, fitting, place, _("Give the whole path"))
        return self._checked(fitting[0]) if fitting else None

    # ---- by the end of a path

    def _candidates(self, parts: Sequence[str]) -> list[Path]:
        """The images that a path of another machine may mean.

        Each has the file name, with any image suffix. If a directory is called like the one before
        it, the image must be in it, since a page of one book is not that of another. Without such a
        directory the file name is enough if the named one is called ``images`` or similar; else
        only directly below a root.
        """
        stem, folder = _stem(parts[-1]), parts[-2] if len(parts) > 1 else ""
        same_stem = self._named(stem)
        if self._images is not None or not folder:
            return same_stem
        if any(map(_BETWEEN.search, parts[:-1])):
            return []  # Several paths in one text, of which only the last would be found.
        if _folded(folder) in self._folders:
            return self._named(stem, folder)
        if _folded(folder) in _ANY_FOLDER:
            return same_stem
        return [path for path in same_stem if path.parent in self.roots]

    def _best(
        self, paths: list[Path], parts: Sequence[str], place: Place, near: Collection[str] = ()
    ) -> Path | None:
        """The image of several that fits best; None if there is none."""
        if not paths:
            return None
        name, folder = parts[-1], place.file.parent
        near_names = {_folded(each) for each in (*near, place.file.stem, folder.name)}

        def fit(path: Path) -> tuple[int, ...]:
            return (
                _folded(path.name) == _folded(name),
                _agreeing(path, parts),
                name in {path.name, path.stem},
                not near_names.isdisjoint(map(_folded, self._relative(path).parent.parts)),
                path.parent == folder,
                # ``labels/train`` shares more with ``images/train`` than with ``images/val``.
                len(set(path.parent.parts) & set(folder.parts)),
            )

        best = paths
        if 1 < len(paths) <= _MOST_ALIKE:
            fits = [fit(path) for path in paths]
            highest = max(fits)
            best = [path for path, of_path in zip(paths, fits, strict=True) if of_path == highest]
        if len(best) > 1:
            hint = _("Name the image with its folder, or put the annotation beside it")
            if self._images is None:
                hint = _("Name the image with its folder, or give --option images=FOLDER")
            raise self._several(name, best, place, hint)
        return self._checked(best[0])

    def _several(self, name: str, paths: list[Path], place: Place, hint: str) -> DataError:
        names = join_names(map(self._short_path, sorted(paths)), 2)
        return place.error(_("several images fit {!r}: {}", shortened(name), names), hint)

    # ---- the images

    def _named(self, stem: str, folder: str = "") -> list[Path]:
        """The images of that name without suffix, in any directory or in those of that name."""
        return self._index.get((_folded(folder), _folded(stem)), [])

    @cached_property
    def _index(self) -> dict[tuple[str, str], list[Path]]:
        """The images by folder and stem; those of any folder have none in the key."""
        index: dict[tuple[str, str], list[Path]] = {}
        for number, path in enumerate(self._walk() if self._images is None else self._images):
            if self._images is None and number == MOST_FILES:
                problem = _("more than {:,} images, so they cannot be searched", MOST_FILES)
                hint = _("Give the folder of the images: --option images=FOLDER")
                raise DataError(problem, file=self.roots[0], hint=hint)
            for folder in {"", _folded(path.parent.name)}:
                index.setdefault((folder, _folded(path.stem)), []).append(path)
        return index

    def _walk(self) -> Iterator[Path]:
        for root in self.roots:
            if not any(root != other and root.is_relative_to(other) for other in self.roots):
                for folder, folders, files in walk(root):
                    self._folders.update(map(_folded, folders))  # Also the empty ones.
                    suffixes = ((name, name.rpartition(".")[2].casefold()) for name in files)
                    yield from (folder / name for name, suffix in suffixes if suffix in EXTENSIONS)

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
    head = text.lstrip()[:200]
    if url := _DATA_URL.match(head):
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


def _parts(name: str) -> list[str]:
    """The directories and the file name of a path or URL, without its root."""
    plain = name.strip().replace("\\", "/")
    if address := _ADDRESS.match(plain):
        plain = plain[address.end() :].partition("?")[0]
    parts = PurePosixPath(_DRIVE.sub("", plain, count=1) if _DRIVE.match(plain) else plain).parts
    return [part for part in parts if part not in {"/", "//", ".", ".."}] or [""]


def _agreeing(path: Path, parts: Sequence[str]) -> int:
    """The number of directories at the end of a path that are the named ones."""
    pairs = zip(reversed(path.parent.parts), reversed(parts[:-1]), strict=False)
    differ = (number for number, pair in enumerate(pairs) if len(set(map(_folded, pair))) > 1)
    return next(differ, min(len(path.parent.parts), len(parts) - 1))


def _stem(name: str) -> str:
    """A file name without the suffix of an image."""
    stem, _, suffix = name.rpartition(".")
    return stem if stem and suffix.casefold() in EXTENSIONS else name


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()

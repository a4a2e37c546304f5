"""`Unpaired`: the pages without a text and the texts without a page of a source."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from keju.datasets.readers.base import join_names
from keju.datasets.readers.pages.problems import Problems
from keju.datasets.readers.pages.scans import Pages, Scan
from keju.datasets.readers.words import shell_word
from keju.images import EXTENSIONS
from keju.texts import _, both, join_sentences, n_

_SUFFIXES = frozenset({*(f".{each}" for each in EXTENSIONS), ".txt", ".pdf", ".xml"})
_PREFIX = re.compile(r"(?<![a-z])(?:pages?|pg|p|images?|img|scan)(?=\d)")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_WORD = re.compile(r"(?<=\w)[-_. ](?:gt|ground[-_ ]?truth|truth|transcription|text)$")
_PART = re.compile(r"[a-dlr左右上下]")


class _NearNames(NamedTuple):
    """An image, and the texts that may be its texts: one, or one for each half of a spread."""

    image: PurePosixPath
    texts: tuple[PurePosixPath, ...]


class Unpaired(NamedTuple):
    """Files without a counterpart, as paths relative to `root`.

    `images` are the image files without a text, `pages` the names of all pages without one, `texts`
    the texts without a page. `folders` are those that contain images.
    """

    root: Path
    images: Sequence[PurePosixPath]
    pages: Sequence[str]
    texts: Sequence[PurePosixPath]
    folders: Collection[PurePosixPath] = ()

    @classmethod
    def of(cls, root: Path, found: Mapping[Scan, Pages], texts: Sequence[Path]) -> Unpaired:
        """Find the pages without a text; `texts` are those that belong to no scan."""
        bare = [
            (PurePosixPath(scan.file.relative_to(root)), scan.pages is not None, number)
            for scan, pages in found.items()
            for number in range(1, (scan.pages or 1) + 1)
            if number not in pages
        ]
        return cls(
            root,
            [path for path, several, _ in bare if not several],
            [f"{path}/page {number}" if several else str(path) for path, several, number in bare],
            [PurePosixPath(file.relative_to(root)) for file in texts],
            {PurePosixPath(scan.file.relative_to(root)).parent for scan in found},
        )

    def skipped(self) -> Iterator[str]:
        """The notes of an import that skips them."""
        if self.pages:
            yield n_(
                "skipped {n:,} page without a text: {}",
                "skipped {n:,} pages without a text: {}",
                len(self.pages),
                join_names(self.pages),
            )
        if self.texts:
            yield n_(
                "skipped {n:,} text without an image: {}",
                "skipped {n:,} texts without an image: {}",
                len(self.texts),
                join_names(map(str, self.texts)),
            )

    def report(self, problems: Problems) -> None:
        """Add them to the problems of an import that skips nothing."""
        if not self.pages and not self.texts:
            return
        if self.pages:
            names = join_names(self.pages)
            problems.add(
                n_(
                    "{n:,} page without a text: {}",
                    "{n:,} pages without a text: {}",
                    len(self.pages),
                    names,
                )
            )
        if self.texts:
            names = join_names(map(str, self.texts))
            problems.add(
                n_(
                    "{n:,} text without an image: {}",
                    "{n:,} texts without an image: {}",
                    len(self.texts),
                    names,
                )
            )
        near = list(_near_names(self.images, self.texts, self.folders))
        if near:
            said = (both([str(each.image), *map(str, each.texts)]) for each in near)
            similar = _("Similar names: {}", join_names(said))
            problems.hint(join_sentences([similar, *self._renaming(near)]))
        problems.hint(
            _(
                "Add the missing files, skip them: --option skip-missing=yes, or import the images "
                "without references: --option texts=no"
            )
        )

    def _renaming(self, near: Sequence[_NearNames]) -> list[str]:
        renamed = next((each for each in near if len(each.texts) == 1), None)
        spread = next((each for each in near if len(each.texts) > 1), None)
        hints: list[str] = []
        if renamed:
            text = self._word(renamed.image.with_suffix(".txt"))
            command = f"mv {self._word(renamed.texts[0])} {text}"
            hints.append(_("Rename the text of each image: {}", command))
        if spread:
            parts = " ".join(map(self._word, spread.texts))
            command = f"cat {parts} > {self._word(spread.image.with_suffix('.txt'))}"
            hints.append(
                _("Each image has one text, so join the parts in reading order: {}", command)
            )
        return hints

    def _word(self, path: PurePosixPath) -> str:
        return shell_word(str(self.root / path))


def _near_names(
    images: Collection[PurePosixPath],
    texts: Iterable[PurePosixPath],
    folders: Collection[PurePosixPath],
) -> Iterator[_NearNames]:
    """Match images that have no text with texts that have no image.

    Names match that differ in upper and lower case, in separators, in leading zeros, in a second
    suffix (``p1.txt.txt``), in the form of characters (NFC, NFD, full width), in a word such as
    ``page`` before the number, or in the folder. Ambiguous names match nothing. A text in a folder
    with images is compared with these alone: 莊子/p01.txt is not the text of 老子/001.jpg.
    """
    unmatched = list(texts)
    pairs: dict[PurePosixPath, _NearNames] = {}
    for inner in (True, False):
        for image in images:
            near = [
                text
                for text in (unmatched if image not in pairs else ())
                if (_folder(text.parent) == _folder(image.parent))
                or not (inner or text.parent in folders)
            ]
            same = [text for text in near if _key(text) == _key(image)]
            parts = [text for text in near if inner and _is_part(_key(text), _key(image))]
            chosen = same if len(same) == 1 else parts if len(parts) > 1 and not same else []
            if chosen:
                unmatched = [text for text in unmatched if text not in chosen]
                pairs[image] = _NearNames(image, tuple(chosen))
    yield from (pairs[image] for image in images if image in pairs)


def _is_part(text: str, image: str) -> bool:
    return text.startswith(image) and bool(_PART.fullmatch(text[len(image) :]))


def _key(path: PurePosixPath) -> str:
    """A name without the parts in which spellings of one name differ."""
    name = _folder(path)
    stem = PurePosixPath(name.replace(" ", "_")).name
    while (suffix := PurePosixPath(stem).suffix) in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    stem = _WORD.sub("", stem)
    plain = _PREFIX.sub("", _ZEROS.sub("", re.sub(r"[-_. ]+", " ", stem).strip()))
    return _ZEROS.sub("", plain).replace(" ", "")


def _folder(path: PurePosixPath) -> str:
    return unicodedata.normalize("NFKC", path.as_posix()).casefold()

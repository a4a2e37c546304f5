"""`Unpaired`: the pages without a text and the texts without a page of a source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from keju.datasets.readers.base import join_names
from keju.datasets.readers.pages.near_names import NearNames, near_names
from keju.datasets.readers.pages.problems import Problems
from keju.datasets.readers.pages.scans import Pages, Scan
from keju.datasets.readers.words import shell_word
from keju.errors import number_of

_NO_TEXT = ("page without a text", "pages without a text")
_NO_PAGE = ("text without an image", "texts without an image")


class Unpaired(NamedTuple):
    """Files without a counterpart, as paths relative to `root`.

    `images` are the image files without a text, `pages` the names of all pages without one, `texts`
    the texts without a page.
    """

    root: Path
    images: Sequence[PurePosixPath]
    pages: Sequence[str]
    texts: Sequence[PurePosixPath]

    @classmethod
    def of(cls, root: Path, found: Mapping[Scan, Pages], texts: Sequence[Path]) -> Unpaired:
        """Find the pages without a text.

        Args:
            root: the directory.
            found: the texts of each scan.
            texts: the texts that belong to no scan.
        """
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
        )

    def skipped(self) -> Iterator[str]:
        """The notes of an import that skips them."""
        for names, words in ((self.pages, _NO_TEXT), (self.texts, _NO_PAGE)):
            if names:
                yield f"skipped {number_of(len(names), *words)}: {join_names(map(str, names))}"

    def report(self, problems: Problems) -> None:
        """Add them to the problems of an import that skips nothing."""
        if not self.pages and not self.texts:
            return
        problems.add(self.pages, *_NO_TEXT)
        problems.add([*map(str, self.texts)], *_NO_PAGE)
        near = list(near_names(self.images, self.texts))
        if near:
            said = (f"{each.image} and {' and '.join(map(str, each.texts))}" for each in near)
            problems.hint(f"Similar names: {join_names(said)}. {self._renaming(near)}")
        problems.hint(
            "Add the missing files, skip them: --option skip-missing=yes, or import the images "
            "without references: --option texts=no"
        )

    def _renaming(self, near: Sequence[NearNames]) -> str:
        renamed = next((each for each in near if len(each.texts) == 1), None)
        spread = next((each for each in near if len(each.texts) > 1), None)
        hints = []
        if renamed:
            hints.append(
                f"Rename the text of each image: mv {self._word(renamed.texts[0])} "
                f"{self._word(renamed.image.with_suffix('.txt'))}"
            )
        if spread:
            parts = " ".join(map(self._word, spread.texts))
            hints.append(
                "Each image has one text, so join the parts in reading order: "
                f"cat {parts} > {self._word(spread.image.with_suffix('.txt'))}"
            )
        return ". ".join(hints)

    def _word(self, path: PurePosixPath) -> str:
        return shell_word(str(self.root / path))

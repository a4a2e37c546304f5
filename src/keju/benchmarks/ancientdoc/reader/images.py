"""`PageImages`: the images of AncientDoc's pages, found by category, book and page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from keju.datasets.readers.base import image_files, join_names, plain_file, source_bytes
from keju.datasets.store import DatasetWriter
from keju.datasets.values import canonical
from keju.errors import DataError, number_of
from keju.files import sha256_bytes
from keju.items import ImageRef
from keju.text import normalise

FOLDER = "imgs"


class PageImage(NamedTuple):
    """An image by its path ``CATEGORY/BOOK/PAGE``: a file, or one stored from a table."""

    page: PurePosixPath
    file: Path | None = None
    ref: ImageRef | None = None

    def store(self, writer: DatasetWriter) -> ImageRef:
        """The image in the dataset.

        Raises:
            DataError: it is broken.
        """
        if self.file is not None:
            return writer.add_image(source_bytes(self.file), str(self.file))
        if self.ref is None:
            raise DataError("an image without a file", item=str(self.page), hint="Import it again")
        return self.ref


class PageImages:
    """Finds the image of a row, whose name is book and page without a separator.

    Names are compared as they are first, then without differences of script and case. Of several
    images of one page the one with the shortest path is used: the release repeats 385 images under
    ``imgs/imgs`` (seen in code that reads it).

    Args:
        images: the images.
    """

    def __init__(self, images: Iterable[PageImage]) -> None:
        self._exact: dict[tuple[str, str], list[PageImage]] = defaultdict(list)
        self._plain: dict[tuple[str, str], list[PageImage]] = defaultdict(list)
        self._found: set[PurePosixPath] = set()
        self.count = 0
        for image in images:
            self.count += 1
            category, book, name = ("", "", *image.page.parts)[-3:]
            for key in {(category, book + name), ("", book + name)}:
                self._exact[key].append(image)
                self._plain[_plain_key(*key)].append(image)

    def find(self, category: str, name: str) -> PageImage | None:
        """The image of a page; None if there is none, or if several fit without the category.

        Args:
            category: as the row has it; may be empty.
            name: ``BOOKpage_1.png``, ``BOOK/page_1.png`` or ``CATEGORY/BOOK/page_1.png``.
        """
        *folders, page = PurePosixPath(name.replace("\\", "/")).parts or ("",)
        joined = (folders[-1] if folders else "") + page
        category = category or (folders[-2] if len(folders) > 1 else "")
        for keys, known in (
            (((category, joined), ("", joined)), self._exact),
            ((_plain_key(category, joined), _plain_key("", joined)), self._plain),
        ):
            for key in keys:
                if image := _one(known.get(key, [])):
                    self._found.add(image.page)
                    return image
        return None

    def notes(self) -> Iterator[str]:
        """Notes on images that were found twice and on images without a row."""
        same: list[str] = []
        other: list[str] = []
        copies: set[PurePosixPath] = set()
        for (category, _), images in self._exact.items():
            if not category or len(images) == 1:
                continue
            first, *rest = sorted(images, key=_depth)
            for image in rest:
                copies.add(image.page)
                (same if _alike(first, image) else other).append(image.page.as_posix())
        if same:
            yield (
                f"{number_of(len(same), 'byte-identical copy', 'byte-identical copies')} of "
                f"images not imported: {join_names(same)}"
            )
        if other:
            yield (
                f"{number_of(len(other), 'image has', 'images have')} the name of another "
                "page but other bytes, not imported: "
                f"{join_names(other)}"
            )
        unused = {
            image.page.as_posix()
            for images in self._exact.values()
            for image in images
            if image.page not in self._found and image.page not in copies
        }
        if unused:
            yield (
                f"{number_of(len(unused), 'image')} without a row, not imported: "
                f"{join_names(sorted(unused))}"
            )


def tree_images(root: Path) -> Iterator[PageImage]:
    """The images under a folder; a leading ``imgs`` is not part of a page's path.

    Raises:
        DataError: an image is a link that leads out of the folder.
    """
    for file in image_files(root):
        yield PageImage(PurePosixPath(file.relative_to(root).as_posix()), file)


def page_path(page: PurePosixPath) -> PurePosixPath:
    """The path of a page without the folders ``imgs`` at its beginning."""
    parts = list(page.parts)
    while len(parts) > 1 and parts[0] == FOLDER:
        parts.pop(0)
    return PurePosixPath(*parts)


def _depth(image: PageImage) -> tuple[int, str]:
    return len(image.page.parts), image.page.as_posix()


def _one(images: list[PageImage]) -> PageImage | None:
    """The image with the shortest path; None where books of several categories have the name."""
    if len({image.page.parts[-3:-1] for image in images}) != 1:
        return None
    return min(images, key=_depth)


def _alike(first: PageImage, second: PageImage) -> bool:
    """Whether two images are byte-identical."""
    if first.file and second.file:
        sizes = {plain_file(each).stat().st_size for each in (first.file, second.file)}
        if len(sizes) > 1:
            return False
    return _sha256(first) == _sha256(second)


def _sha256(image: PageImage) -> str:
    if image.ref is not None:
        return image.ref.sha256
    return sha256_bytes(source_bytes(image.file)) if image.file else ""


def _plain_key(category: str, name: str) -> tuple[str, str]:
    found = canonical("category", category)
    return found.id if found else _plain(category), _plain(name)


def _plain(text: str) -> str:
    return "".join(normalise(text).casefold().split())

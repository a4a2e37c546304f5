"""Names of pages: of the files that keju writes for them, and possible names of result files.

A dataset's images are named by their hash; their names in the source are in the metadata of the
items.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from keju.files import is_reserved, sha256_bytes
from keju.images import EXTENSIONS
from keju.items import ImageRef, Item

MOST_BYTES = 150
"""The maximum length in UTF-8 bytes of a file name without suffix; a longer one is cut and gets a
hash."""


class NamedPage(NamedTuple):
    """A page, and the possible names, without suffix, of a file with its transcription.

    `number` counts the images of the item from 1. `names` are paths as tuples of their parts, the
    likeliest first; the last part of a page of a PDF or TIFF is `scan_page` of its number. `alone`
    are names of files that are not in a directory.
    """

    item: str
    task: str
    number: int
    image: ImageRef
    names: tuple[tuple[str, ...], ...]
    alone: tuple[str, ...] = ()


def scan_page(number: int) -> str:
    """The last part of the name of a page in a file of several pages, numbered from 1."""
    return f"\0{number}"


def find_named_pages(items: Collection[Item]) -> Iterator[NamedPage]:
    """Yield the images of items with their names; the items are iterated several times.

    The names are: the name of the image in the source and the item's id; and in `alone` the name in
    an export of keju and that of the image in the dataset, which is its hash.
    """
    stems = page_stems(items)
    for item in items:
        names = list[tuple[str, ...]]()
        if source := _source(item):
            names.append(source.with_suffix("").parts)
        file, page = item.metadata.get("file", ""), item.metadata.get("page", "")
        if file and page.isdecimal():
            names.append((*PurePosixPath(file).with_suffix("").parts, scan_page(int(page))))
        if len(item.images) == 1:
            names.append(PurePosixPath(item.id).parts)
        distinct = tuple(dict.fromkeys(names))
        for number, image in enumerate(item.images, start=1):
            alone = (next(stems), PurePosixPath(image.path).stem)
            yield NamedPage(item.id, item.task, number, image, distinct, alone)


def page_stems(items: Collection[Item]) -> Iterator[str]:
    """A file name without suffix for each image of each item: safe, and unique without case.

    A page is named like its image in the source if no two pages would have one name, and like its
    item (and the number of the image) otherwise; it gets a hash if another page has that name.
    The items are iterated three times, and 8 bytes of memory are used per page.
    """
    sources = (source for item in items if (source := _source(item)))
    by_image = not _repeated(safe_stem(source.stem) for source in sources)

    def names() -> Iterator[tuple[Item, int, str]]:
        for item in items:
            source = _source(item) if by_image else None
            stem = safe_stem(source.stem if source else item.id)
            for number in range(1, len(item.images) + 1):
                yield item, number, f"{stem}-{number}" if len(item.images) > 1 else stem

    repeated = _repeated(name for _item, _number, name in names())
    for item, number, name in names():
        if hash(_key(name)) in repeated:
            yield f"{name}-{_hash(f'{item.task}/{item.query}/{item.id}/{number}')}"
        else:
            yield name


def _repeated(names: Iterable[str]) -> set[int]:
    """The hashes of names that occur more than once, without case."""
    hashes = np.fromiter((hash(_key(name)) for name in names), np.int64)
    hashes.sort()
    return set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())


def safe_stem(text: str) -> str:
    """A text as a file name without suffix that is not a path on any system.

    Letters and digits of all scripts, ``-``, ``_`` and ``.`` are kept; anything else becomes ``_``.
    """
    plain = "".join(
        char if char.isalnum() or char in "-_." else "_"
        for char in unicodedata.normalize("NFC", text)
    ).strip(". ")
    if len(plain.encode()) > MOST_BYTES:
        cut = plain.encode()[: MOST_BYTES - 9].decode("utf-8", "ignore")
        plain = f"{cut}-{_hash(text)}"
    if not plain.strip("_"):
        return f"page-{_hash(text)}"
    return f"_{plain}" if is_reserved(plain) else plain


def _source(item: Item) -> PurePosixPath | None:
    """The path of the only image of an item in the dataset's source, if known."""
    name = item.metadata.get("page", item.metadata.get("file", ""))
    path = PurePosixPath(name.replace("\\", "/"))
    is_image = path.suffix.casefold().lstrip(".") in EXTENSIONS
    return path if is_image and len(item.images) == 1 else None


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _hash(text: str) -> str:
    return sha256_bytes(text.encode("utf-8", "surrogatepass"))[:8]

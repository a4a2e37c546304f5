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


class PageOf(NamedTuple):
    """An image of an item, counted from 1."""

    item: Item
    number: int


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
    for page, stem in zip(_pages_of(items), page_stems(items), strict=True):
        image = page.item.images[page.number - 1]
        yield NamedPage(
            item=page.item.id,
            task=page.item.task,
            number=page.number,
            image=image,
            names=tuple(dict.fromkeys(_names_of(page))),
            alone=(stem, PurePosixPath(image.path).stem),
        )


def _names_of(page: PageOf) -> Iterator[tuple[str, ...]]:
    if source := _source(page):
        yield source.with_suffix("").parts
    about = page.item.metadata
    if (number := about.get("page", "")).isdecimal() and about.get("file"):
        yield (*PurePosixPath(about["file"]).with_suffix("").parts, scan_page(int(number)))
    if len(page.item.images) == 1:
        yield PurePosixPath(page.item.id).parts


def page_stems(items: Collection[Item]) -> Iterator[str]:
    """A file name without suffix for each page of `_pages_of`: safe, and unique without case.

    All pages are named by one rule. It is the first that gives no name twice of: the name of the
    image in the source; its path with ``_`` for ``/``; the item's id (and the image's number). A
    page that has no name by it is named by its item, and gets a hash if another page has that name.
    The items are iterated once for each rule, and 8 bytes of memory are used per page.
    """
    rule = next(
        (rule for rule in (_by_image, _by_path) if not _repeated(map(rule, _pages_of(items)))),
        _by_item,
    )

    def name(page: PageOf) -> str:
        return rule(page) or _by_item(page)

    repeated = _repeated(map(name, _pages_of(items)))
    for page in _pages_of(items):
        stem = name(page)
        yield _by_item_and_hash(page) if hash(_key(stem)) in repeated else stem


def _pages_of(items: Iterable[Item]) -> Iterator[PageOf]:
    for item in items:
        for number in range(1, len(item.images) + 1):
            yield PageOf(item, number)


def _repeated(names: Iterable[str]) -> set[int]:
    """The hashes of names that occur more than once, without case; empty names do not count."""
    hashes = np.fromiter((hash(_key(name)) for name in names if name), np.int64)
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


def _source(page: PageOf) -> PurePosixPath | None:
    """The path of the page's image in the dataset's source, if known."""
    about = page.item.metadata
    if len(page.item.images) > 1:
        return None
    for name in (about.get("page", ""), "" if "page" in about else about.get("file", "")):
        path = PurePosixPath(name.replace("\\", "/"))
        if path.suffix.casefold().lstrip(".") in EXTENSIONS:
            return path
    return None


def _by_image(page: PageOf) -> str:
    source = _source(page)
    return safe_stem(source.stem) if source else ""


def _by_path(page: PageOf) -> str:
    source = _source(page)
    return safe_stem("_".join(source.with_suffix("").parts)) if source else ""


def _by_item(page: PageOf) -> str:
    number = f"-{page.number}" if len(page.item.images) > 1 else ""
    return safe_stem(page.item.id) + number


def _by_item_and_hash(page: PageOf) -> str:
    item = page.item
    return f"{_by_item(page)}-{_hash(f'{item.task}/{item.query}/{item.id}/{page.number}')}"


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _hash(text: str) -> str:
    return sha256_bytes(text.encode("utf-8", "surrogatepass"))[:8]

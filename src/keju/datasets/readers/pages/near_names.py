"""`near_names`: images and texts with similar names that may belong together."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from keju.images import EXTENSIONS

_SUFFIXES = frozenset({*(f".{each}" for each in EXTENSIONS), ".txt", ".pdf", ".xml"})
_PREFIX = re.compile(r"(?<![a-z])(?:pages?|pg|p|images?|img|scan)(?=\d)")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_PART = re.compile(r"[a-dlr左右上下]")


class NearNames(NamedTuple):
    """An image, and the texts that may be its texts: one, or one for each half of a spread."""

    image: PurePosixPath
    texts: tuple[PurePosixPath, ...]


def near_names(
    images: Iterable[PurePosixPath], texts: Iterable[PurePosixPath]
) -> Iterator[NearNames]:
    """Match images that have no text with texts that have no image.

    Names match that differ in upper and lower case, in separators, in leading zeros, in a second
    suffix (``p1.txt.txt``), in the form of characters (NFC, NFD, full width), in a word such as
    ``page`` before the number, or in the folder. Ambiguous names match nothing.
    """
    left = list(texts)
    for image in images:
        for inner in (True, False):
            near = [
                text for text in left if not inner or _folder(text.parent) == _folder(image.parent)
            ]
            same = [text for text in near if _key(text) == _key(image)]
            parts = [text for text in near if inner and _is_part(_key(text), _key(image))]
            found = same if len(same) == 1 else parts if len(parts) > 1 and not same else []
            if found:
                left = [text for text in left if text not in found]
                yield NearNames(image, tuple(found))
                break


def _is_part(text: str, image: str) -> bool:
    return text.startswith(image) and bool(_PART.fullmatch(text[len(image) :]))


def _key(path: PurePosixPath) -> str:
    """A name without the parts in which spellings of one name differ."""
    name = _folder(path)
    stem = PurePosixPath(name.replace(" ", "_")).name
    while (suffix := PurePosixPath(stem).suffix) in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    plain = _PREFIX.sub("", _ZEROS.sub("", re.sub(r"[-_. ]+", " ", stem).strip()))
    return _ZEROS.sub("", plain).replace(" ", "")


def _folder(path: PurePosixPath) -> str:
    return unicodedata.normalize("NFKC", path.as_posix()).casefold()

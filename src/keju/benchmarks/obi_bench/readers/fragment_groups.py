"""Which bone a fragment is from, by its folder or its name, and which images are whole bones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import join_names
from keju.errors import DataError
from keju.texts import n_

_WHOLE = frozenset(
    {"whole", "full", "complete", "original", "origin", "map", "rejoined", "整", "完整", "原图",
     "原圖", "全图", "全圖", "缀合", "綴合", "缀合图", "綴合圖"}
)  # fmt: skip
"""Names of the image of a whole bone, or of a folder of such images. Our reading: the paper calls
whole pieces "maps"; no release was seen."""

_NUMBERED = re.compile(r"(?P<bone>.+?)[ _.-]*[(_ .-]\s*(?P<part>\d{1,3}|[A-Za-z])\)?")
"""``bone001_1``, ``bone001-a``, ``bone001 (2)``."""


def folder_of(name: str) -> str:
    """The folder of a fragment; ``.`` for the source's own."""
    return PurePosixPath(name).parent.as_posix()


def bone_in(name: str) -> str:
    """The bone that a fragment is named after, with its folder; empty if its name has no number."""
    path = PurePosixPath(name)
    found = _NUMBERED.fullmatch(path.stem)
    return (path.parent / found["bone"]).as_posix() if found else ""


def whole_images(names: Iterable[str]) -> set[str]:
    """The images that show a whole bone: named so, in a folder named so, or named as their folder.

    An image is only taken for the whole one where its folder has others.
    """
    every = [PurePosixPath(name) for name in names]
    counts = Counter(path.parent for path in every)
    found = {
        path.as_posix()
        for path in every
        if counts[path.parent] > 1
        and (path.stem.casefold() in _WHOLE or path.stem == path.parent.name)
    }
    folders = {
        path.as_posix()
        for path in every
        if any(part.casefold() in _WHOLE for part in path.parts[:-1])
    }
    return found | (folders if len(folders) < len(every) else set())


def bones_by(rule: str, names: Iterable[str], folder: Path) -> dict[str, set[str]]:
    """The fragments of the bone of each fragment.

    Args:
        rule: ``folder``, ``name``, or empty: by name where all are in one folder.
        names: the fragments.
        folder: the source, for the error.

    Raises:
        DataError: by name, and a fragment's name does not end in a number or letter.
    """
    every = list(names)
    by_name = rule == "name" or (not rule and len({folder_of(name) for name in every}) == 1)
    if by_name and (strange := [name for name in every if not bone_in(name)]):
        raise DataError(
            n_(
                "{n:,} fragment is not named after a bone: {}",
                "{n:,} fragments are not named after a bone: {}",
                len(strange),
                join_names(strange),
                hint="Name them as bone001_1.png, or put each bone's into a folder of its own",
            ),
            file=folder,
        )
    bones: dict[str, set[str]] = {}
    for name in every:
        bones.setdefault(bone_in(name) if by_name else folder_of(name), set()).add(name)
    return {name: of for of in bones.values() for name in of}

"""`ImageNames`: finds the images of a source by the names in annotation files."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import join_names
from keju.errors import DataError
from keju.texts import n_


class ImageNames:
    """The images of one source; a name from data is only ever compared, never used as a path."""

    def __init__(self, folder: Path, images: Iterable[Path]) -> None:
        self._folder = folder
        self._paths: dict[str, Path] = {}
        self._names: dict[str, list[Path]] = {}
        self._stems: dict[str, list[Path]] = {}
        self._beside: dict[tuple[Path, str], list[Path]] = {}
        for path in images:
            self._paths[path.relative_to(folder).as_posix()] = path
            self._names.setdefault(path.name.casefold(), []).append(path)
            self._stems.setdefault(path.stem.casefold(), []).append(path)
            self._beside.setdefault((path.parent, path.stem), []).append(path)

    def __contains__(self, stem: str) -> bool:
        return stem.casefold() in self._stems

    def named(self, name: str, file: Path, item: str = "") -> Path | None:
        """The image of a name, which may have directories before it; None if there is none.

        Its suffix may be another one, or missing, where no image has the name itself.

        Of several images with the name it is the one whose path ends with it, else the one nearest
        to the annotation file.

        Raises:
            DataError: several images fit equally well.
        """
        parts = PurePosixPath(name.replace("\\", "/").replace("\0", "")).parts
        if not parts or len(name) > _LONGEST:
            return None
        if exact := self._paths.get("/".join(parts)):
            return exact
        last = parts[-1].casefold()
        same = self._names.get(last) or self._stems.get(last)
        same = same or self._stems.get(Path(last).stem, [])
        same = [path for path in same if path.name == parts[-1]] or same
        if len(same) <= _MOST_ALIKE:
            most = max((_ending(path, parts) for path in same), default=0)
            same = [path for path in same if _ending(path, parts) == most]
        return self._nearest(same, file, parts[-1], item)

    def beside(self, file: Path, *names: str) -> Path:
        """The image of an annotation file: of its own name, else of one of the names in it.

        Raises:
            DataError: there is none, or several fit equally well.
        """
        own = self._beside.get((file.parent, file.stem)) or self._stems.get(
            file.stem.casefold(), []
        )
        exact = [path for path in own if path.stem == file.stem] or own
        if found := self._nearest(exact, file, file.stem, ""):
            return found
        for name in names:
            stem = Path(name.replace("\\", "/").replace("\0", "")).stem if name else ""
            if found := self._nearest(self._stems.get(stem.casefold(), []), file, stem, ""):
                return found
        raise DataError(
            "its image is missing: expected {}.jpg or another image of that name",
            file.stem,
            file=file,
            hint="Put the image there, or remove the annotation",
        )

    def _nearest(self, same: list[Path], file: Path, name: str, item: str) -> Path | None:
        """The image whose directories have most in common with those of the annotation file."""
        if len(same) < 2:
            return same[0] if same else None
        nearest = same
        if len(same) <= _MOST_ALIKE:
            shared = {path: _shared(path.parent, file.parent) for path in same}
            most = max(shared.values())
            nearest = [path for path in same if shared[path] == most]
        if len(nearest) > 1:
            raise DataError(
                n_(
                    "{n:,} image is called {}: {}",
                    "{n:,} images are called {}: {}",
                    len(same),
                    name,
                    join_names(map(str, same)),
                    hint="Name the image with its folder, or put the annotation beside it",
                ),
                file=file,
                item=item or None,
            )
        return nearest[0]


def _ending(path: Path, parts: tuple[str, ...]) -> int:
    """How many parts before the file are the same in a path and in a name, from the end on."""
    pairs = zip(reversed(path.parts[:-1]), reversed(parts[:-1]), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), pairs))


def _shared(one: Path, other: Path) -> tuple[bool, int]:
    """Whether two directories are the same, and how many of their names they share.

    ``labels/train`` shares more with ``images/train`` than with ``images/val``.
    """
    return one == other, len(set(one.parts) & set(other.parts))


_MOST_ALIKE = 1000
"""Maximum number of images with the same name among which the nearest is searched."""

_LONGEST = 1000
"""Maximum length of an image's name with its directories."""

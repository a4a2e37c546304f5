"""`Tree`: the images of a source by class, as the source is published; no image is opened."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.class_names import TABLES, ClassNames, read_names
from keju.benchmarks.obi_bench.readers.releases import (
    UNDECIPHERED,
    Release,
    recognised_source,
    release_of,
)
from keju.benchmarks.obi_bench.readers.sources import Found, source_called
from keju.datasets.readers.base import check_name, kept_inside
from keju.datasets.readers.listing import is_litter
from keju.errors import DataError, number_of
from keju.images import EXTENSIONS

_SUFFIXES = tuple(f".{suffix}" for suffix in EXTENSIONS)


class Tree(NamedTuple):
    """The images of a source.

    `classes` maps each class to the names of its images, which are paths from the source's folder
    on; `undeciphered` does so for classes of undeciphered characters. `notes` are for the user.
    """

    found: Found
    release: Release
    root: str
    classes: Mapping[str, list[str]]
    undeciphered: Mapping[str, list[str]]
    names: ClassNames
    notes: tuple[str, ...]

    def path(self, name: str) -> Path:
        """The file of an image."""
        return self.found.folder / name

    def key(self, name: str) -> str:
        """The name of an image in ids: its path, in a known release from the classes on."""
        parts = name.split("/")
        if self.root and self.root in parts[:-1]:
            return "/".join(parts[parts.index(self.root) + 1 :])
        if UNDECIPHERED in parts[:-1] and self.release.undeciphered:
            return "/".join(parts[parts.index(UNDECIPHERED) :])
        return name

    def draw_keys(self, label: str, names: Iterable[str]) -> dict[str, str]:
        """The images of a class by what decides the order in which they are drawn.

        That is the class and the file's name, so that the folders above a class (train, test) do
        not matter; where a file's name exists twice in the class, it is the path.
        """
        by_key = {name: name for name in names}
        short = {f"{label}/{name.rpartition('/')[2]}": name for name in by_key}
        return short if len(short) == len(by_key) else by_key

    def id(self, name: str) -> str:
        """The first part of an item's id."""
        return f"{self.found.source.name}/{self.key(name)}"

    def fields(self, name: str) -> dict[str, str]:
        """The data in the image's file name."""
        return self.release.fields(name.rpartition("/")[2])

    def about(self, name: str, label: str) -> dict[str, str]:
        """Metadata of an image: class and file; character, origin and era as far as known."""
        fields = self.fields(name)
        code = fields.get("origin", "")
        known = {
            "class": label,
            "file": name,
            "character": self.names.of(fields.get("id", ""), label),
            "origin": self.release.origins.get(code, code),
            "era": self.release.era_of(fields.get("era", "")),
        }
        return self.found.source.about | {key: value for key, value in known.items() if value}


def read_tree(found: Found, names_file: Path | None = None) -> Tree:
    """The images of a source by class: the folder that contains them, at whatever depth.

    Folders with the same name are one class. Where a release has a folder of class folders
    (`Release.root`), only its images are read, and a class is what is directly in it.

    Args:
        found: the source.
        names_file: a table of the classes' characters; by default those in the source are used.

    Raises:
        DataError: no images, an image that is in no class's folder, a name that is not UTF-8, a
            link that leads out of the folder, a table of characters that is not readable.
    """
    release = release_of(found.source.name)
    images, tables = image_names(found.folder)
    if not images:
        raise DataError(
            "the folder has no images of {}",
            found.source.name,
            file=found.folder,
            hint="See the layouts: keju data formats obi-classification",
        )
    images, skipped = _without_beside(images, release)
    root = _root_of(release, images)
    classes: dict[str, list[str]] = {}
    undeciphered: dict[str, list[str]] = {}
    for name in images:
        parts = name.split("/")
        if release.undeciphered and release.undeciphered in parts[:-1]:
            label = _undeciphered_class(parts, release)
            undeciphered.setdefault(label, []).append(name)
        elif label := _class_of(parts, root):
            classes.setdefault(label, []).append(name)
        else:
            raise DataError(
                "the image is in no class's folder",
                file=found.folder / name,
                hint="Move it into its class's folder",
            )
    names = read_names(found, release, tables, names_file, frozenset(classes))
    return Tree(found, release, root, classes, undeciphered, names, tuple(skipped))


def image_names(folder: Path) -> tuple[list[str], list[str]]:
    """The images in a folder, and its tables of characters: paths from the folder on, sorted.

    Raises:
        DataError: a link leads out of the folder, a name is not UTF-8, a folder is not readable.
    """
    images: list[str] = []
    tables: list[str] = []
    links: list[str] = []
    for name, is_link in _walk(folder):
        (images if name.casefold().endswith(_SUFFIXES) else tables).append(name)
        if is_link:
            links.append(name)
    images.sort()
    for name in sorted(tables) + images:
        if not name.isascii():
            for part in name.split("/"):
                check_name(part, folder / name)
    for name in sorted(links):
        kept_inside(folder / name, folder)
    return images, sorted(tables)


def _walk(top: Path) -> Iterator[tuple[str, bool]]:
    """The files with a wanted name, from the folder on, and whether each is a link."""
    waiting = [""]
    while waiting:
        before = waiting.pop()
        try:
            entries = list(os.scandir(top / before))
        except OSError as error:
            raise DataError(
                "not readable: {}",
                error.strerror or error,
                file=top / before,
                hint="Change the permissions of the file",
            ) from None
        for entry in entries:
            if is_litter(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{before}{entry.name}/")
            elif _is_wanted(entry.name.casefold()) and not _leads_to_folder(entry):
                yield before + entry.name, entry.is_symlink()


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a link to a folder. `os.DirEntry.is_dir` raises for a loop of links."""
    return entry.is_symlink() and Path(entry.path).is_dir()


def _is_wanted(name: str) -> bool:
    return name.endswith(_SUFFIXES) or name in TABLES


def _without_beside(images: list[str], release: Release) -> tuple[list[str], list[str]]:
    """The images that are not in a folder beside the class folders, and notes on the others."""
    if not release.beside:
        return images, []
    beside = set(release.beside)
    kept: list[str] = []
    counts: Counter[str] = Counter()
    for name in images:
        folders = name.split("/")[:-1]
        if release.root not in folders and (other := beside.intersection(folders)):
            counts[min(other)] += 1
        else:
            kept.append(name)
    if not kept:
        return images, []
    return kept, [
        f"skipped {number_of(count, 'image')} in {name}" for name, count in sorted(counts.items())
    ]


def _root_of(release: Release, images: list[str]) -> str:
    """The name of the folder of class folders, where the source has it; else empty."""
    if release.root and any(f"/{release.root}/" in f"/{name}" for name in images):
        return release.root
    return ""


def _class_of(parts: list[str], root: str) -> str:
    """The class of an image; empty if it is in no class's folder."""
    if root:
        place = parts.index(root) + 1 if root in parts[:-1] else len(parts)
        return parts[place] if place < len(parts) - 1 else ""
    return parts[-2] if len(parts) > 1 else ""


def _undeciphered_class(parts: list[str], release: Release) -> str:
    """Group and id, such as L/276: the two folders, or a folder and the id in the file's name."""
    folders = parts[parts.index(release.undeciphered) + 1 : -1]
    if len(folders) < 2:
        folders = [*folders, release.fields(parts[-1]).get("id", "")]
    return "/".join(folders).strip("/")


def read_released_tree(found: Found, names_file: Path | None = None) -> Tree | None:
    """The tree of a source that is read as it was released; None if it is in another form.

    A source of the user's own is one where most classes have a known character.

    Raises:
        DataError: as `read_tree`.
    """
    images, _ = image_names(found.folder)
    if shown := recognised_source(images):
        known = source_called(shown)
        if known and found.source.name in {known.name, found.folder.resolve().name}:
            return read_tree(found._replace(source=known), names_file)
    if found.source.images or not images or any("/" not in name for name in images):
        return None
    tree = read_tree(found, names_file)
    known_classes = sum(bool(tree.names.of(label)) for label in tree.classes)
    return tree if 2 * known_classes > len(tree.classes) else None

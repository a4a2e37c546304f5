"""Finding the images of records: by a name, by the record's ID, or inside the record itself."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from keju.benchmarks.mcs_bench.reader.entries import Entry
from keju.benchmarks.mcs_bench.reader.words import domains_in, tasks_of_path
from keju.datasets.readers.base import files_under, join_names, source_bytes
from keju.datasets.readers.image_lookup import MOST_FILES, ImageIndex, decoded_image, image_below
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.records import Place, image_roots, text_of
from keju.datasets.store import DatasetWriter
from keju.definitions import Task
from keju.errors import DataError, number_of, shortened
from keju.files import sha256_bytes
from keju.images import EXTENSIONS
from keju.items import ImageRef
from keju.texts import _

_SEPARATORS = re.compile(r"[;；|,，\n]")
_MOST_NAMES = 100
"""Images that one text may name."""

_APART = re.compile(r"[\W_]+")
_TWO_NUMBERS = re.compile(r"\d+-\d+")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")


class ReleaseImages:
    """Stores the images of records, each once, and remembers which are missing.

    A name is looked for where `image_roots` says, and then as `ImageIndex` does, with a preference
    for folders that are called after the record's task or domain. A record without a name has the
    images that are called after its ID, with or without the task and zeros before it.

    Args:
        writer: the dataset that takes them.
        src: the source.
        images: the folder to look in instead of `src`.
        entries: all records; they decide whether ``1_2.png`` is item 2 of task 1.
    """

    def __init__(
        self, writer: DatasetWriter, src: Path, images: Path | None, entries: Iterable[Entry] = ()
    ) -> None:
        self._writer = writer
        self._src = src
        self._images = images
        self._top = images or (src if src.is_dir() else src.parent)
        self._index = ImageIndex([self._top, self._top / "images"])
        self._stored: dict[Path, ImageRef] = {}
        self._numbered = {
            _bare(f"{entry.kind.id.removeprefix('T')}_{entry.name}") for entry in entries
        }
        self._users: dict[Path, dict[str, set[str]]] = {}
        self.missing: dict[str, Place] = {}

    @cached_property
    def _files(self) -> list[Path]:
        return list(islice(files_under(self._top, EXTENSIONS), MOST_FILES))

    @cached_property
    def _by_stem(self) -> Mapping[str, list[Path]]:
        return _grouped(lambda path: _bare(path.stem), self._files)

    @cached_property
    def _by_folder(self) -> Mapping[str, list[Path]]:
        return _grouped(lambda path: path.parent.name.casefold(), self._files)

    @cached_property
    def _folders(self) -> list[str]:
        return list(dict.fromkeys(name for _, names, _ in os.walk(self._top) for name in names))

    @cached_property
    def _near(self) -> dict[Task, frozenset[str]]:
        return {}

    def of(self, entry: Entry) -> tuple[ImageRef, ...] | None:
        """The images of a record; None if one of them is missing.

        Raises:
            DataError: the record has none, a name may mean several files, or an image is broken.
        """
        if not entry.images:
            paths = self._of_id(entry)
            if not paths:
                raise entry.place.error(
                    _("without an image", hint="Name its image, or name the file after its ID")
                )
            import_log().matched(
                "by the ID of their record", entry.name, "/".join(paths[0].parts[-2:])
            )
            self._check_users(paths[0], entry)
            return tuple(map(self._store, paths))
        refs: list[ImageRef] = []
        complete = True
        for value in entry.images:
            found = self._stored_of(value, entry)
            complete = complete and found is not None
            refs += found or []
        return tuple(refs) if complete else None

    def has_of_id(self, entry: Entry) -> bool:
        """Whether an image is called after the record's ID."""
        return bool(self._of_id(entry))

    def raise_if_missing(self, *, more: bool = False) -> None:
        """Raise for what was not found.

        Args:
            more: whether more may be missing.

        Raises:
            DataError: naming the first images that are missing, and where they were looked for.
        """
        if self.missing:
            names = join_names(
                f"{shortened(name)} (of {place.item})" for name, place in self.missing.items()
            )
            files = {place.file for place in self.missing.values()}
            count = f"{number_of(len(self.missing), 'missing image')}{' or more' * more}"
            raise DataError(
                "{}: {}; looked in {}",
                count,
                names,
                self._top,
                file=files.pop() if len(files) == 1 else self._src,
                hint=(
                    "Give their folder: --option images=FOLDER, or skip their items: --option "
                    "skip-missing=yes"
                ),
            )

    def _stored_of(self, value: object, entry: Entry) -> list[ImageRef] | None:
        file, item = entry.place
        if isinstance(value, dict):
            value = value.get("bytes") or value.get("path") or value.get("url") or value
        if isinstance(value, bytes):
            return [self._writer.add_image(value, f"{file}: {item}")]
        if isinstance(value, dict | list) or not isinstance(value, str | int | float):
            kind = _("texts") if isinstance(value, list) else _("text")
            raise DataError(
                "expected {} in 'Image'; found {}",
                kind,
                type(value).__name__,
                file=file,
                item=item,
                hint="Write the image's name",
            )
        text = text_of({"Image": value}, "Image", entry.place).strip()
        if (data := decoded_image(text, file=file, item=item)) is not None:
            return [self._writer.add_image(data, f"{file}: {item}")]
        return self._named(text, entry)

    def _named(self, name: str, entry: Entry) -> list[ImageRef] | None:
        """The images of a name, or of several names with ``;`` or the like between them."""
        if path := self._found(name, entry):
            return [self._store(path)]
        split = _SEPARATORS.split(name.strip("[]"))[: _MOST_NAMES + 1]
        parts = [part for each in split if (part := each.strip("'\" \t\r"))]
        if 1 < len(parts) <= _MOST_NAMES:
            paths = [path for part in parts if (path := self._found(part, entry))]
            if len(paths) == len(parts):
                return list(map(self._store, paths))
        self.missing[name] = entry.place
        return None

    def _found(self, name: str, entry: Entry) -> Path | None:
        plain = PurePosixPath(name.replace("\\", "/"))
        if not plain.is_absolute() and ".." not in plain.parts and ":" not in name:
            roots = dict.fromkeys(image_roots(self._src, entry.place.file, self._images))
            if exact := image_below(roots, name, file=entry.place.file, item=entry.place.item):
                return exact
        file, item = entry.place
        near = self._near_of(entry.kind)
        found = self._index.find(name.removeprefix("file://"), file=file, item=item, near=near)
        if found is None or not near or not self._of_others(found, entry.kind):
            return found
        return found if any(part in plain.parts for part in self._inner(found)) else None

    def _of_others(self, path: Path, kind: Task) -> bool:
        """Whether a folder above an image is called after another task or domain.

        A number is a task's only if the task itself has such a folder.
        """
        numbered = any(each.isdigit() for each in self._near_of(kind))
        for folder in self._inner(path):
            if folder.isdigit() and not numbered:
                continue
            tasks, domains = tasks_of_path((folder,)), domains_in(folder)
            if (len(tasks) == 1 and kind not in tasks) or (domains and kind.domain not in domains):
                return True
        return False

    def _near_of(self, kind: Task) -> frozenset[str]:
        """The names of folders that mean a task or, if none does, its domain."""
        if kind not in self._near:
            of_task = {each for each in self._folders if tasks_of_path((each,)) == (kind,)}
            of_domain = {each for each in self._folders if kind.domain in domains_in(each)}
            self._near[kind] = frozenset(of_task or of_domain)
        return self._near[kind]

    def _of_id(self, entry: Entry) -> list[Path]:
        """The images that are called after the record's ID, or are in a folder of that name."""
        name, number = entry.name, entry.kind.id.removeprefix("T")
        if not name:
            return []
        in_folder = self._by_folder.get(name.casefold(), [])
        if name.isdigit() and any(each.isdigit() for each in self._near_of(entry.kind)):
            in_folder = []
        for each in (f"T{number}_{name}", f"task_{number}_{name}", f"task{number}_{name}", name,
                     f"{number}_{name}"):  # fmt: skip
            named = self._by_stem.get(_bare(each), [])
            if found := [path for path in named if not self._of_others(path, entry.kind)]:
                if each == f"{number}_{name}":
                    self._check_numbered(found[0], entry)
                return [self._one_of([*dict.fromkeys([*found, *in_folder])], entry)]
        in_folder = self._by_folder.get(name.casefold(), [])
        return in_folder if len({path.parent for path in in_folder}) == 1 else []

    @cached_property
    def _further(self) -> str:
        """An image with two numbers that is not task and ID of any record; empty: none."""
        return next(
            (
                path.name
                for stem, paths in self._by_stem.items()
                if _TWO_NUMBERS.fullmatch(stem) and stem not in self._numbered
                for path in paths
            ),
            "",
        )

    def _check_numbered(self, path: Path, entry: Entry) -> None:
        """Refuse ``1_2.png`` where its numbers may be task and ID, or ID and image.

        Raises:
            DataError: other images of that form are not task and ID of any record.
        """
        if self._further:
            raise entry.place.error(
                _(
                    "{} may be its image (task and ID) or a further image of another item, as {} "
                    "is",
                    path.name,
                    self._further,
                    hint="Add a field Image with the names of its images",
                )
            )

    def _check_users(self, path: Path, entry: Entry) -> None:
        """Refuse an image that is called after two IDs of one task, such as ``1`` and ``01``.

        Raises:
            DataError: it is.
        """
        users = self._users.setdefault(path, {}).setdefault(entry.kind.id, set())
        users.add(entry.name)
        if len(users) > 1:
            raise entry.place.error(
                _(
                    "{} fits the IDs {}",
                    path.name,
                    join_names(sorted(users)),
                    hint="Add a field Image with the names of its images",
                )
            )

    def notes(self) -> Iterator[str]:
        """Images called after an ID that starts again in several tasks."""
        shared = {path.name: users for path, users in self._users.items() if len(users) > 1}
        if shared:
            name, users = next(iter(shared.items()))
            yield (
                f"{number_of(len(shared), 'image is', 'images are')} called after an ID "
                "that several tasks have, and are "
                f"used in each of them: {name} in {join_names(sorted(users))}. "
                "If they belong to one task, put them into a folder that is called after it"
            )

    def _one_of(self, found: list[Path], entry: Entry) -> Path:
        """The one of several files that the record means.

        Raises:
            DataError: several may be meant.
        """
        near = self._near_of(entry.kind)
        close = [path for path in found if not near.isdisjoint(self._inner(path))]
        beside = [path for path in found if path.is_relative_to(entry.place.file.parent)]
        for some in (found, close, beside):
            if some and (len(some) == 1 or _are_same(some)):
                return some[0]
        several = join_names((path.relative_to(self._top).as_posix() for path in found), 3)
        raise entry.place.error(
            _(
                "several images are called after it: {}",
                several,
                hint="Put the images of each task into a folder that is called after the task",
            )
        )

    def _inner(self, path: Path) -> tuple[str, ...]:
        return path.relative_to(self._top).parts[:-1]

    def _store(self, path: Path) -> ImageRef:
        if path not in self._stored:
            self._stored[path] = self._writer.add_image(source_bytes(path), str(path))
        return self._stored[path]


def names_file(value: object) -> bool:
    """Whether a value of an image field names a file, rather than being the image itself."""
    if isinstance(value, dict):
        return not isinstance(value.get("bytes"), bytes)
    if isinstance(value, str):
        try:
            return decoded_image(value, file=Path(), item="") is None
        except DataError:
            return False
    return not isinstance(value, bytes)


def _grouped(key: Callable[[Path], str], paths: Iterable[Path]) -> Mapping[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in paths:
        found.setdefault(key(path), []).append(path)
    return found


def _bare(stem: str) -> str:
    """A stem without the zeros before its numbers, its parts joined by ``-``."""
    return _ZEROS.sub("", _APART.sub("-", stem.casefold()).strip("-"))


def _are_same(paths: Iterable[Path]) -> bool:
    return len({sha256_bytes(source_bytes(path)) for path in paths}) == 1

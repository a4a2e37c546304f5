"""`MappedFiles`: finds the images and text files of records by column or by pattern."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path, PurePosixPath

import msgspec

from keju.datasets.readers.base import files_under, inside, source_bytes, source_text
from keju.datasets.readers.image_lookup import decoded_image, image_below
from keju.datasets.readers.mapped.mapping import Mapping
from keju.datasets.readers.mapped.records import as_tuple
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.tables import Row
from keju.datasets.store import DatasetWriter
from keju.errors import UsageError, shortened
from keju.images import EXTENSIONS
from keju.items import ImageRef
from keju.texts import _, n_

_BLANK = re.compile(r"\{([^{}]+)\}")
_IMAGES = "[source] images"
_ANY_FOLDER, _ANY_SUFFIX = "**/", ".*"


class MappedFiles:
    """The files of the records of a source; `images` replaces the directories of the mapping.

    Attributes:
        missing: names of files that are not found, each with the record that names it.
    """

    def __init__(self, src: Path, mapping: Mapping, images: Path | None) -> None:
        self._root = src if src.is_dir() else src.parent
        self._mapping = mapping
        self._folders = [images] if images else self._given_folders()
        self._stored: dict[Path, ImageRef] = {}
        self.missing: dict[str, str] = {}

    def images(self, row: Row) -> list[str | bytes]:
        """The images of a record: names, paths relative to the source, or bytes."""
        source, place = self._mapping.source, row.place
        if source.image_path:
            return [filled(source.image_path, row.cells, place)]
        columns = as_tuple(self._mapping.fields.get("image", ()))
        if columns:
            return [each for column in columns for each in _images_in(row.cells.get(column), place)]
        return [] if source.tables else [str(row.cells["file"])]

    def store(self, writer: DatasetWriter, image: str | bytes, place: Place) -> ImageRef | None:
        """An image as the dataset stores it; None if its file is missing.

        Raises:
            DataError: its name leads out of the source, fits several files, or it is broken.
        """
        if isinstance(image, bytes):
            return writer.add_image(image, f"{place.file}: {place.item}")
        path = self.find(image, place)
        if path is None:
            self.missing[image] = place.item
            return None
        if path not in self._stored:
            self._stored[path] = writer.add_image(source_bytes(path), str(path))
        return self._stored[path]

    def text(self, row: Row) -> str | None:
        """The text file of a record; None if it is missing.

        Raises:
            DataError: its name leads out of the source, or it is not readable.
        """
        name = filled(self._mapping.source.texts, row.cells, row.place)
        path = self._searched(name, row.place, EXTENSIONS | {"txt"}) or inside(
            self._root, name, file=row.place.file, item=row.place.item
        )
        if not path.is_file():
            self.missing[name] = row.place.item
            return None
        return source_text(path).strip("\n\t ")

    def path_of(self, row: Row) -> str:
        """The path of a record's first image relative to the source; its name if it is missing."""
        name = next((each for each in self.images(row) if isinstance(each, str)), "")
        path = self.find(name, row.place) if name else None
        if path is None or not path.is_relative_to(self._root):
            return name.replace("\\", "/")
        return path.relative_to(self._root).as_posix()

    def find(self, name: str, place: Place) -> Path | None:
        """The file of that name, where ``.*`` is any image suffix and ``**/`` any directory."""
        if name.endswith(_ANY_SUFFIX) or name.startswith(_ANY_FOLDER):
            return self._searched(name, place, EXTENSIONS)
        roots = [*self._folders, *self._usual(place)]
        return image_below(roots, name, file=place.file, item=place.item)

    def _searched(self, name: str, place: Place, suffixes: frozenset[str]) -> Path | None:
        anywhere, any_suffix = name.startswith(_ANY_FOLDER), name.endswith(_ANY_SUFFIX)
        if not (anywhere or any_suffix):
            return None
        wanted = name.removeprefix(_ANY_FOLDER)
        wanted = wanted.removesuffix(_ANY_SUFFIX) if any_suffix else wanted
        plain = PurePosixPath(wanted).as_posix()
        key = PurePosixPath(plain).name if anywhere else plain
        found = self._index.get((anywhere, any_suffix, key), [])
        found = [path for path in found if path.suffix.casefold().lstrip(".") in suffixes]
        if len(found) > 1:
            names = " and ".join(path.relative_to(self._root).as_posix() for path in found[:2])
            raise place.error(
                n_(
                    "{n:,} file fit {!r}: {}",
                    "{n:,} files fit {!r}: {}",
                    len(found),
                    shortened(name),
                    names,
                    hint="Give the whole path in the mapping",
                )
            )
        return found[0] if found else None

    @cached_property
    def _index(self) -> dict[tuple[bool, bool, str], list[Path]]:
        """Files by (any directory, any suffix, name): each under the four ways of naming it."""
        found: dict[tuple[bool, bool, str], list[Path]] = {}
        for path in files_under(self._root, EXTENSIONS | {"txt"}):
            inner = PurePosixPath(path.relative_to(self._root).as_posix())
            for key in (
                (True, True, inner.stem),
                (True, False, inner.name),
                (False, True, inner.with_suffix("").as_posix()),
            ):
                found.setdefault(key, []).append(path)
        return found

    def _given_folders(self) -> list[Path]:
        folders = []
        for name in as_tuple(self._mapping.source.images):
            here = name in {".", "./"}
            folder = self._root if here else inside(self._root, name, file=self._root, item=_IMAGES)
            if not folder.is_dir():
                raise UsageError("[source] images: {} is not a folder", folder)
            folders.append(folder)
        return folders

    def _usual(self, place: Place) -> list[Path]:
        beside = place.file.parent
        return list(dict.fromkeys((self._root, beside, beside / "images", self._root / "images")))


def filled(pattern: str, cells: JsonObject, place: Place) -> str:
    """A pattern with its placeholders ``{COLUMN}`` filled from a record.

    Raises:
        DataError: the record has no such column.
    """

    def value(blank: re.Match[str]) -> str:
        if blank[1] not in cells:
            raise place.error(
                _(
                    "no column {!r} for {!r}",
                    blank[1],
                    pattern,
                    hint=_("Columns: {}", ", ".join(list(cells)[:30])),
                )
            )
        found = cells[blank[1]]
        return str(int(found) if isinstance(found, float) and found.is_integer() else found)

    name = _BLANK.sub(value, pattern)
    return name.removeprefix("/") if pattern.startswith("{folder}/") else name


def _images_in(value: object, place: Place) -> list[str | bytes]:
    """The images in a cell: a name, base64, bytes, or a list of these."""
    if isinstance(value, list):
        return [each for one in value for each in _images_in(one, place)]
    if isinstance(value, dict):
        return _images_in(value.get("bytes") or value.get("path"), place)
    if isinstance(value, bytes):
        return [value]
    text = "" if value is None else str(value).strip()
    if text.startswith("["):
        try:
            return list(msgspec.json.decode(text, type=list[str]))
        except msgspec.MsgspecError:
            return [text]
    return [decoded_image(text, file=place.file, item=place.item) or text] if text else []

"""`RecordFiles`: the images, text files and saved web pages that records name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import files_under, inside, join_names, source_bytes, source_text
from keju.datasets.readers.images import ImageFinder, decoded_image, image_below
from keju.datasets.readers.mapped_records import Record
from keju.datasets.readers.mapping import Mapping, as_tuple
from keju.datasets.readers.records import Place, cell_text, place_words
from keju.datasets.readers.saved_pages import SavedPage, read_saved
from keju.datasets.store import DatasetWriter
from keju.definitions import Task, tasks
from keju.errors import DataError, UsageError, shortened
from keju.items import ImageRef, Line
from keju.texts import _, n_

_MOST_PATHS = 10_000
"""Images whose paths are kept for further records."""

_BLANKS = re.compile(r"\{[^{}]*\}")
_NUMBER = r"\s*-?[0-9]{1,6}(?:[.][0-9]*)?\s*"
_CORNERS = rf"(?P<corners>{_NUMBER}(?:,{_NUMBER}){{7}})"
_LAYOUTS = (re.compile(rf"{_CORNERS},(?P<text>.*)"), re.compile(rf"(?P<text>.*),{_CORNERS}"))


class MissingFileError(DataError):
    """A record names a file that does not exist.

    Attributes:
        name: the name, as the record has it.
        place: the record.
    """

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self.place = place
        problem = _("the file {!r} is missing", shortened(name))
        super().__init__(problem, file=place.file, item=place_words(place.item) or None)


class RecordFiles:
    """Finds the files of records below a source, and stores the images by `writer`.

    `images` is the folder from which the names of images start, in place of the mapping's.
    """

    def __init__(
        self, src: Path, writer: DatasetWriter, mapping: Mapping, images: Path | None
    ) -> None:
        self._root = src if src.is_dir() else src.parent
        self._mapping = mapping
        self._writer = writer
        names = as_tuple(mapping.images)
        named = [inside(self._root, name, file=self._root, item="images") for name in names]
        for folder in [images] if images else named:
            if not folder.is_dir():
                raise UsageError("images: {} is not a folder", folder)
        roots = [images] if images else [*named, self._root, self._root / "images"]
        self._finder = ImageFinder(roots, beside=images is None)
        self._paths: dict[tuple[str, Path, str], Path] = {}
        self._refs: dict[Path, ImageRef] = {}
        self._texts: set[Path] = set()
        self._empty: list[str] = []

    # ---- images

    def images(self, record: Record, kind: Task) -> tuple[ImageRef, ...]:
        """The images of a record, which are stored in the dataset.

        Raises:
            MissingFileError: an image does not exist.
            DataError: the record names none although the mapping has a column of images, a name
                leads out of the source or fits several files, or an image is broken.
        """
        place, fields = record.place, self._mapping.fields
        values = self._images_in(record)
        if not values and "image" in fields and "page" not in fields and kind.queries[0].image:
            hint = _("Name its image, or correct image in [fields]")
            raise place.error(_("without an image"), hint)
        refs: list[ImageRef] = []
        near = (kind.id, kind.name_zh, kind.name_en, kind.domain_zh, kind.domain)
        for value in values:
            image = self._name_or_data(value, place)
            if isinstance(image, bytes):
                refs.append(self._writer.add_image(image, f"{place.file}: {place.item}"))
                continue
            # Many questions are asked about one image, and links are resolved for each path.
            key = (image, place.file, kind.id)
            path = self._paths.get(key)
            if path is None:
                path = self._finder.find(image, place, near)
                if path is None or self._is_of_other(path, image, kind):
                    raise MissingFileError(image, place)
                if len(self._paths) == _MOST_PATHS:
                    self._paths.clear()
                self._paths[key] = path
            if path not in self._refs:
                self._refs[path] = self._writer.add_image(source_bytes(path), str(path))
            refs.append(self._refs[path])
        return tuple(refs)

    def _name_or_data(self, value: object, place: Place) -> str | bytes:
        """The name of an image, or its bytes, of a value that is one of them or contains it."""
        if isinstance(value, dict):
            value = value.get("bytes") or value.get("path") or value
        if isinstance(value, bytes):
            return value
        text = cell_text(value, "image", place).strip()
        return decoded_image(text, file=place.file, item=place.item) or text

    def path_of(self, record: Record) -> str:
        """The path of a record's first image relative to the source; its name if it is missing."""
        name = next((each for each in self._images_in(record) if isinstance(each, str)), "")
        path = self._finder.find(name, record.place) if name else None
        if path is None or not path.is_relative_to(self._root):
            return name.replace("\\", "/")
        return path.relative_to(self._root).as_posix()

    def _images_in(self, record: Record) -> list[object]:
        """The images of a record: names, bytes, or objects with bytes and path."""
        columns = as_tuple(self._mapping.fields.get("image", ()))
        if not columns and not self._mapping.tables:
            return [record.added["file"]]
        return [value for column in columns for value in record.values(column, needed=True)]

    def _is_of_other(self, path: Path, name: str, kind: Task) -> bool:
        """Whether a folder that only the path has is called after another task."""
        if not path.is_relative_to(self._root):
            return False
        named = PurePosixPath(name.replace("\\", "/")).parts
        folders = path.relative_to(self._root).parts[:-1]
        return any(_names_other(each, kind) for each in folders if each not in named)

    # ---- texts and pages

    def text(self, record: Record) -> tuple[str, tuple[Line, ...]]:
        """The text of a record's text file, and its lines where each has four corners.

        Raises:
            MissingFileError: it does not exist.
            DataError: its name leads out of the source, or it is not readable.
        """
        name = record.text(self._mapping.texts, needed=True)
        path = inside(self._root, name, file=record.place.file, item=record.place.item)
        if not path.is_file():
            raise MissingFileError(name, record.place)
        self._texts.add(path)
        if self._mapping.text_form == "text":
            return source_text(path).strip("\n\t "), ()
        lines = _quad_lines(path)
        text = "\n".join(line.text for line in lines if line.text.strip())
        if not text:
            self._empty.append(path.relative_to(self._root).as_posix())
        return text, lines

    def page(self, name: str, place: Place) -> SavedPage:
        """A saved web page: from SRC or its folder ``pages`` on, or beside the table.

        Raises:
            DataError: it is missing, or has no licence, address or text.
        """
        roots = dict.fromkeys((self._root, self._root / "pages", place.file.parent))
        path = image_below(roots, name, file=place.file, item=place.item)
        if path is None:
            raise place.error(_("no web page {!r}", shortened(name)), _("Correct page in [fields]"))
        constants = self._mapping.constants
        licence, address = constants.get("licence", ""), constants.get("source", "")
        return read_saved(path, licence=licence, address=address)

    # ---- what belongs to no record

    def missing_images(self) -> Iterator[MissingFileError]:
        """The images of the files with lines that no record names."""
        if self._mapping.text_form != "quads" or self._mapping.only or not self._root.is_dir():
            return
        for template in as_tuple(self._mapping.texts):
            suffix = PurePosixPath(template).suffix.lstrip(".")
            for file in files_under(self._root, {suffix}):
                path = file.relative_to(self._root).as_posix()
                if file not in self._texts and fnmatchcase(path, _BLANKS.sub("*", template)):
                    yield MissingFileError(_("the image of {}", path), Place(file, path))

    def notes(self) -> Iterator[str]:
        """The notes on pages without text, and on images that no item has."""
        if self._empty:
            yield n_(
                "{n:,} page without any text line, skipped: {}",
                "{n:,} pages without any text line, skipped: {}",
                len(self._empty),
                join_names(self._empty),
            )
        every = self._mapping.tables and not self._mapping.only
        if every and (unused := self._finder.unused(self._refs)):
            yield _("unused images: {:,}, e.g. {}", len(unused), join_names(unused, 3))


def _quad_lines(file: Path) -> tuple[Line, ...]:
    """The lines of a page in the order of its file, each with four corners in pixels.

    A file has a text line per line: ``x1,y1,x2,y2,x3,y3,x4,y4,TEXT`` (M5HisDoc, ICDAR), or in MTHv2
    ``TEXT`` before the coordinates. Where every line fits both (texts that are numbers), the text
    is last. It may contain commas.

    Raises:
        DataError: not readable, or a line has neither layout.
    """
    rows = [(n, row) for n, row in enumerate(source_text(file).split("\n"), 1) if row.strip()]
    layouts = [[layout.fullmatch(row) for _number, row in rows] for layout in _LAYOUTS]
    matches = max(layouts, key=lambda of_lines: sum(map(bool, of_lines)))
    lines: list[Line] = []
    for (number, _row), match in zip(rows, matches, strict=True):
        if match is None:
            raise Place(file, f"line {number}").error(
                _("expected x1,y1,x2,y2,x3,y3,x4,y4,TEXT, or TEXT and the eight coordinates"),
                _("Write coordinates in pixels, separated by commas"),
            )
        numbers = [float(text) for text in match["corners"].split(",")]
        corners = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        lines.append(Line(id=f"l{len(lines) + 1}", text=match["text"].strip(), polygon=corners))
    return tuple(lines)


@cache
def _names_other(folder: str, kind: Task) -> bool:
    """Whether a folder is called after a task, and not after this one."""
    named = [each for each in tasks() if folder in (each.id, each.name_zh, each.name_en)]
    return bool(named) and kind not in named

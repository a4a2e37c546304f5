"""`read_mapped`: a source as its mapping says; what the mapping does not name is refused.

The path of a record: `records_of` (its cells) → `_Items.of` (the items that it gives) with images
from `_Files` → `_joined` (records of two scripts, shared transcriptions) → the writer.
"""

from __future__ import annotations

import math
import re
import unicodedata
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.boxes import box_fault
from keju.datasets.newlines import Newlines
from keju.datasets.readers.base import (
    Reader,
    files_under,
    inside,
    join_names,
    source_bytes,
    source_text,
)
from keju.datasets.readers.choices import (
    insert_options,
    known_letter,
    options_from,
    python_list,
    unlettered,
)
from keju.datasets.readers.images import ImageFinder, decoded_image, image_below
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.mapped_records import (
    CONVERSATION,
    OCCURRENCE,
    PLACE_COLUMNS,
    Record,
    blanks_of,
    cell_text,
    filled,
    first_filled,
    has_blanks,
    ignoring,
    not_text,
    records_of,
    with_path_groups,
)
from keju.datasets.readers.mapping import (
    TEXTS,
    Columns,
    Mapping,
    Part,
    as_tuple,
    check_complete,
    read_mapping,
)
from keju.datasets.readers.quads import lines_by_geometry, quad_lines
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.saved_pages import SavedPage, read_saved
from keju.datasets.store import DatasetWriter
from keju.definitions import (
    Query,
    Task,
    has_task,
    is_task_word,
    options_in,
    prompt_of,
    task,
    tasks,
    tasks_named,
)
from keju.definitions.references import NO_BOXES
from keju.errors import (
    DataError,
    UsageError,
    did_you_mean,
    english_problem,
    error_text,
    nearest_names,
    shortened,
)
from keju.files import decode_json
from keju.items import AnswerForm, Box, ImageRef, Item, Line, Provenance, Script
from keju.settings import Settings
from keju.text import in_script
from keju.texts import _, hint_of, n_

LAYOUT = """\
SRC/                      any table (CSV, TSV, JSON, JSON lines, parquet, XLSX), any folder of
                          images, or both
mapping.toml              what its columns, file names and folders mean, in a file of yours:
  [[tables]]              path = "labels.csv" (one for each file, or each list in a file); without
                          tables each image is a record
  [fields]                image = "images/{ID}.*"; question = "题目"; options = ["A", "B"];
                          answer = ["答案_繁", "答案_简"]; id = "{task}-{ID}"
  [metadata]              dynasty = "朝代"
  [values.task]           "单选" = "T7"
  ignored                 = ["model_answer"]: every table and column is mapped or named here
keju data detect SRC --write-map mapping.toml drafts it; keju data detect SRC --map mapping.toml
shows the items that it gives."""

SOURCE_ID = "ID in the release: "
"""The beginning of the note of provenance with the ID of the source, where the item has another."""

MOST_MISSING = 1000
"""Missing files after which an import stops, unless it is to skip their records."""

_FIRST = 1000
"""Records in which the columns of a mapping are looked for before any is imported."""

_FIRST_SIZE = 1 << 26
"""Characters and bytes of these records: a cell may be an image."""

_INDEX = 64
"""Maximum length of a cell of images that is the number of another record, as in VLMEvalKit."""

_LONGEST = 10_000
"""Characters of a text that becomes metadata without being named."""

_BLANKS = re.compile(r"\{[^{}]*\}")

_NUMBER = "\0"
"""The place in an id where its number among those that are the same without it follows."""

_QUESTIONS = frozenset({"question", "question_simplified", "question_traditional"})

_SEPARATORS = re.compile(r"[;；|,，\n]")
_MOST_PATHS = 10_000
"""Images whose paths are kept for further records."""

_MOST_NAMES = 100
"""Images that one text may name."""


class MappedSettings(Settings, frozen=True, kw_only=True):
    """The mapping file of a source, and what is imported."""

    map: Annotated[Path | None, Meta(description="the mapping file (--map FILE)")] = None
    images: Annotated[Path | None, Meta(description="the folder from which image names start")] = (
        None
    )
    skip_missing: Annotated[
        bool,
        Meta(description="yes: skip records whose image or text file is missing (default no)"),
    ] = False
    skip_invalid: Annotated[
        bool,
        Meta(description="yes: leave out records that are not valid, and list them (default no)"),
    ] = False


def _read_file(src: Path, writer: DatasetWriter, settings: MappedSettings) -> Iterator[str]:
    """Read a source as a mapping file says."""
    if settings.map is None:
        raise UsageError(
            "format mapped needs a mapping file: --map FILE. Draft one with: keju data detect "
            "SRC --write-map FILE"
        )
    mapping = read_mapping(settings.map)
    writer.declare(mapping=source_text(settings.map))
    yield from read_mapped(
        src,
        writer,
        mapping,
        images=settings.images,
        skip_missing=settings.skip_missing,
        skip_invalid=settings.skip_invalid,
    )


READER = Reader(
    "mapped",
    "any table or image folder, described by a mapping file",
    LAYOUT,
    _read_file,
    MappedSettings,
    group_option='[fields] group = "COLUMN"',
)


def read_mapped(
    src: Path,
    writer: DatasetWriter,
    mapping: Mapping,
    *,
    images: Path | None = None,
    skip_missing: bool = False,
    skip_invalid: bool = False,
) -> Iterator[str]:
    """Read a source as its mapping says; yields notes.

    Args:
        src: the file or folder.
        writer: takes images and items.
        mapping: without TODOs.
        images: the folder from which the names of images start, in place of the mapping's.
        skip_missing: leave out records whose image or text file is missing.
        skip_invalid: leave out records that are not valid; the import log lists them.

    Raises:
        DataError: the mapping or a record is not valid, a column or table is neither mapped nor
            ignored, or files are missing.
        UsageError: a regular expression cannot be used.
    """
    check_complete(mapping)
    files = _Files(src, writer, mapping, images, skips_invalid=skip_invalid)
    records = records_of(src, mapping)
    left_out = Counter[bool]()
    if mapping.names:
        records = with_path_groups(_counted(records, left_out), files.path_of, mapping.names)
    columns = _Columns(mapping)
    maker = _Items(mapping, files)
    skipping = _Skipping(missing=skip_missing, invalid=skip_invalid)
    made = _items(columns.checked(records), maker, files, skipping)
    bare, count = 0, 0
    for item in _joined(made, mapping, skipping):
        bare += not (item.draft or item.answer or item.answer_simplified or item.boxes)
        writer.add(item)
        count += 1
    if import_log().dropped and not count:
        place, reason = import_log().dropped[0]
        raise DataError("no record is valid. The first error: {}", reason, file=src, item=place)
    files.miss_images_of_texts()
    yield from files.notes(src, skip=skip_missing)
    if mapping.names and (left := left_out[False] - maker.records):
        yield _("skipped {} of {} records, since names does not match", left, left_out[False])
    yield from maker.notes()
    if bare:
        yield n_(
            "{n:,} item without an answer: they can be run, but not scored",
            "{n:,} items without an answer: they can be run, but not scored",
            bare,
        )


def _counted(records: Iterable[Record], count: Counter[bool]) -> Iterator[Record]:
    for record in records:
        count[False] += 1
        yield record


class _Made(NamedTuple):
    """An item of a record, and what joining needs to know of it."""

    item: Item
    form: AnswerForm
    script: Script | str
    place: Place


class _Skipping(NamedTuple):
    """The records that are skipped rather than refused."""

    missing: bool = False
    invalid: bool = False

    def drop(self, place: Place, error: DataError | UsageError) -> None:
        """List a record that is not valid.

        Raises:
            DataError: invalid records are refused.
        """
        if not self.invalid:
            raise error
        import_log().dropped.append((place.item, english_problem(error)))


def _items(
    records: Iterable[Record], maker: _Items, files: _Files, skipping: _Skipping
) -> Iterator[_Made]:
    for record in records:
        try:
            yield from list(maker.of(record))
        except (DataError, UsageError) as error:
            skipping.drop(record.place, error)
        if len(files.missing) >= MOST_MISSING and not skipping.missing:
            files.raise_if_missing(record.place.file, more=True)


# ---- columns


class _Columns:
    """Checks that every column of a mapping exists, and that every other column is ignored."""

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping
        self._wanted = dict(_columns_of(mapping))
        # The columns of a conversation have names of their own, so that no image is dropped.
        self._named = {*self._wanted, *mapping.columns} - {mapping.messages}
        self._ignores = ignoring(mapping)
        self._seen: set[str] = set()

    def checked(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, after the columns of the first ones were compared with the mapping.

        Raises:
            DataError: no record has a column of the mapping, or a record has one that is neither
                mapped nor ignored.
        """
        rest = iter(records)
        first: list[Record] = []
        size, is_whole = 0, True
        for record in rest:
            first.append(record)
            size += sum(
                len(cell) for cell in record.cells.values() if isinstance(cell, str | bytes)
            )
            if len(first) == _FIRST or size > _FIRST_SIZE:
                is_whole = False
                break
        if not first:
            raise DataError("the source has no records", hint="Check [[tables]] and names")
        unnamed = [(record.place, column) for record in first for column in self._unnamed(record)]
        if is_whole:
            # A misspelt name leaves another column unnamed; the misspelt one is the mistake.
            self._check_wanted()
        for place, column in unnamed:
            raise _not_named(place, column)
        yield from first
        for record in rest:
            for column in self._unnamed(record):
                raise _not_named(record.place, column)
            yield record
        self._check_wanted()

    def _unnamed(self, record: Record) -> list[str]:
        """The columns that no record had before and that the mapping does not name."""
        columns = record.cells.keys() - record.derived - self._seen
        if not columns:
            return []
        self._seen |= columns
        log = import_log()
        unnamed = []
        for column in sorted(columns):
            if any(name in self._named for name in _names_around(column)):
                continue
            if self._ignores(column) or self._mapping.rest == "ignored":
                log.ignored(column)
            elif self._mapping.rest == "metadata":
                log.kept(column)
            else:
                unnamed.append(column)
        return unnamed

    def _check_wanted(self) -> None:
        known = {name for column in self._seen for name in _names_around(column)} | PLACE_COLUMNS
        for column, place in self._wanted.items():
            # `records_of` has refused a record without the conversation, and replaced its column.
            if column not in known and column not in {*CONVERSATION, self._mapping.messages}:
                raise DataError(
                    "no record has a column {!r}.{}",
                    column,
                    did_you_mean(nearest_names(column, known)),
                    item=place,
                    hint=_("Columns: {}", ", ".join(sorted(self._seen)[:40])),
                )


def _names_around(column: str) -> list[str]:
    """The column and the objects that it is in: ``a.b.c``, ``a.b`` and ``a``."""
    parts = column.split(".")
    return [".".join(parts[:size]) for size in range(len(parts), 0, -1)]


def _not_named(place: Place, column: str) -> DataError:
    name = shortened(column)
    return place.error(
        _(
            "the column {!r} is neither mapped nor ignored",
            name,
            hint=_('Name it in [fields] or [metadata], or add it to ignored = ["{}"]', name),
        )
    )


def _columns_of(mapping: Mapping) -> Iterator[tuple[str, str]]:
    """Every column that a mapping names, with its place there; logs the use of each."""
    log = import_log()
    sections = [("[fields]", role, names) for role, names in mapping.fields.items()]
    for part in mapping.items:
        roles = ("id", "question", "answer", "options")
        sections += [("[[items]]", role, getattr(part, role)) for role in roles]
    sections += [("[blanks]", blank, name) for blank, name in mapping.blanks.items()]
    for section, role, names in sections:
        for name in as_tuple(names):
            for column in blanks_of(name) or [name]:
                log.used(role, column)
                yield column, f"{section} {role}"
    for section, key, columns in _other_columns(mapping):
        for each in as_tuple(columns):
            for column in blanks_of(each) or [each]:
                if section != "[columns]":
                    log.kept(column)
                yield column, f"{section} {key}"
    yield from ((column, f"split.{column}") for column in mapping.split)
    yield from ((column, f"only.{column}") for column in mapping.only)
    if mapping.messages:
        yield mapping.messages, "messages"
    yield from ((column, "texts") for each in as_tuple(mapping.texts) for column in blanks_of(each))
    if mapping.index:
        yield mapping.index, "index"
    for lookup in mapping.lookup:
        yield from ((column, "lookup.by") for column in blanks_of(lookup.by) or [lookup.by])


def _other_columns(mapping: Mapping) -> Iterator[tuple[str, str, Columns]]:
    """The section, name and columns of metadata and of columns made of others."""
    yield from (("[metadata]", *pair) for pair in mapping.metadata.items())
    for part in mapping.items:
        yield from (("[[items]] metadata", *pair) for pair in part.metadata.items())
    yield from (("[columns]", *pair) for pair in mapping.columns.items())


# ---- images and texts


class _Files:
    """The images and text files of records.

    Attributes:
        missing: names of files that are not found, each with the record that names it first.
    """

    def __init__(
        self,
        src: Path,
        writer: DatasetWriter,
        mapping: Mapping,
        images: Path | None,
        *,
        skips_invalid: bool,
    ) -> None:
        self._skips_invalid = skips_invalid
        self._root = src if src.is_dir() else src.parent
        self._mapping = mapping
        self.writer = writer
        if images and not images.is_dir():
            raise UsageError("images: {} is not a folder", images)
        usual = [*self._folders(), self._root, self._root / "images"]
        self._finder = ImageFinder(writer, [images] if images else usual)
        self._given = images is not None
        self._refs: dict[Path, ImageRef] = {}
        self._by_index: dict[tuple[Path, str], tuple[ImageRef, ...]] = {}
        self._texts: set[Path] = set()
        self._empty: list[str] = []
        self._paths: dict[tuple[str, Path], Path] = {}
        self.missing: dict[str, Place] = {}

    def images(self, record: Record, kind: Task, cells: JsonObject) -> tuple[ImageRef, ...] | None:
        """The images of a record as the dataset has them; None if one is missing.

        Raises:
            DataError: the record names none although the mapping has a column of images, a name
                leads out of the source or fits several files, or an image is broken.
        """
        values = list(self._named(record, cells))
        if (refs_of_other := self._of_other(record, values)) is not None:
            return refs_of_other
        roles = self._mapping.fields
        if not values and "image" in roles and "page" not in roles and kind.queries[0].image:
            raise record.place.error(
                _("without an image", hint="Name its image, or correct image in [fields]")
            )
        near = (kind.id, kind.name_zh, kind.name_en, kind.domain_zh, kind.domain)
        refs: list[ImageRef] = []
        complete = True
        for value in values:
            found = self._stored(value, record.place, kind, near)
            complete = complete and found is not None
            refs += found or []
        if self._mapping.index:
            self._by_index[self._index_of(record)] = tuple(refs)
        return tuple(refs) if complete else None

    def _index_of(self, record: Record) -> tuple[Path, str]:
        column, place = self._mapping.index, record.place
        return place.file, cell_text(record.cells.get(column), column, place).strip()

    def _of_other(self, record: Record, values: list[object]) -> tuple[ImageRef, ...] | None:
        """The images of an earlier record, where the only cell is its number; else None.

        Raises:
            DataError: no earlier record has this number and an image.
        """
        place = record.place
        cell = values[0] if self._mapping.index and len(values) == 1 else None
        number = cell_text(cell, "image", place).strip() if isinstance(cell, str | int) else ""
        if not number or len(number) > _INDEX or PurePosixPath(number).suffix:
            return None
        refs = self._by_index.get((place.file, number))
        if refs is None:
            raise place.error(_("no row {!r} above it has an image", number, hint="Add its image"))
        self._by_index[self._index_of(record)] = refs
        return refs

    def path_of(self, record: Record) -> str:
        """The path of a record's first image relative to the source; its name if it is missing."""
        name = next((e for e in self._named(record, record.cells) if isinstance(e, str)), "")
        path = self._found(name, record.place, ()) if name else None
        if path is None or not path.is_relative_to(self._root):
            return name.replace("\\", "/")
        return path.relative_to(self._root).as_posix()

    def text(self, record: Record) -> str | None:
        """The text of a record's text file; None if it is missing.

        Raises:
            DataError: its name leads out of the source, or it is not readable.
        """
        path = self._text_file(record)
        return source_text(path).strip("\n\t ") if path else None

    def lines(self, record: Record, images: tuple[ImageRef, ...]) -> tuple[Line, ...]:
        """The lines of a record's text file in reading order; none if it is missing or empty.

        Raises:
            DataError: as `text`, or a line has no four corners.
        """
        path = self._text_file(record)
        if path is None:
            return ()
        self._texts.add(path)
        lines = quad_lines(path)
        if not any(line.text.strip() for line in lines):
            self._empty.append(path.relative_to(self._root).as_posix())
            return ()
        if self._mapping.text_order == "geometry" and images:
            lines = lines_by_geometry(lines, path, images[0])
        return lines

    def _text_file(self, record: Record) -> Path | None:
        place = record.place
        name = first_filled(as_tuple(self._mapping.texts), record.cells, place)
        path = inside(self._root, name, file=place.file, item=place.item)
        if path.is_file():
            return path
        self._miss(name, place)
        return None

    def miss_images_of_texts(self) -> None:
        """Remember the files with lines that no image belongs to."""
        if self._mapping.text_form != "quads" or self._mapping.only:
            return
        for template in as_tuple(self._mapping.texts):
            pattern = _BLANKS.sub("*", template)
            suffix = PurePosixPath(template).suffix.lstrip(".")
            for file in files_under(self._root, {suffix}) if self._root.is_dir() else ():
                path = file.relative_to(self._root).as_posix()
                if file not in self._texts and fnmatchcase(path, pattern):
                    self._miss(_("the image of {}", path), Place(file, path))

    def page(self, name: str, place: Place) -> SavedPage:
        """A saved web page: from SRC or its folder ``pages`` on, or beside the table.

        Raises:
            DataError: it is missing, or has no licence, address or text.
        """
        roots = dict.fromkeys((self._root, self._root / "pages", place.file.parent))
        paths = [inside(root, name, file=place.file, item=place.item) for root in roots]
        found = next((path for path in paths if path.is_file()), None)
        if found is None:
            raise place.error(
                _("no web page {!r}", shortened(name), hint="Correct page in [fields]")
            )
        constants = self._mapping.constants
        return read_saved(
            found,
            licence=constants.get("licence", ""),
            address=constants.get("source", ""),
            shortest=1,
        )

    def raise_if_missing(self, file: Path, *, more: bool = False) -> None:
        """Refuse a source of which files are missing.

        Raises:
            DataError: naming the first of them.
        """
        if count := len(self.missing):
            names = self._missing_names()
            raise DataError(
                n_(
                    "{n:,} file is missing: {}",
                    "{n:,} files are missing: {}",
                    count,
                    names + (" …" if more else ""),
                    hint=(
                        "Correct image or texts in the mapping, give --option images=FOLDER, or "
                        "skip these records: --option skip-missing=yes"
                    ),
                ),
                file=file,
            )

    def notes(self, src: Path, *, skip: bool) -> Iterator[str]:
        """The notes on records that were skipped.

        Raises:
            DataError: files are missing, and none is to be skipped.
        """
        if self._empty:
            yield n_(
                "{n:,} page without any text line, skipped: {}",
                "{n:,} pages without any text line, skipped: {}",
                len(self._empty),
                join_names(self._empty),
            )
        if not skip:
            self.raise_if_missing(src)
        elif count := len(self.missing):
            yield n_(
                "skipped {n:,} record with missing files: {}",
                "skipped {n:,} records with missing files: {}",
                count,
                self._missing_names(),
            )

    def _missing_names(self) -> str:
        named = self.missing.items()
        return join_names(f"{shortened(name)} (of {place.item})" for name, place in named)

    def _named(self, record: Record, cells: JsonObject) -> Iterator[object]:
        """The images of a record: names, bytes, or objects with bytes and path."""
        columns = as_tuple(self._mapping.fields.get("image", ()))
        if not columns and not self._mapping.tables:
            yield str(record.cells["file"])
        for column in columns:
            value = nested(cells, column)
            if blanks_of(column):
                values: list[object] = [filled(column, cells, record.place)]
            elif isinstance(value, str) and value.lstrip().startswith("['"):
                values = list(python_list(value.strip()) or [value])
            else:
                values = list(values_in(value))
            yield from values
            if values and self._mapping.index:
                return

    def _stored(
        self, value: object, place: Place, kind: Task, near: Sequence[str]
    ) -> list[ImageRef] | None:
        """The images that a value is or names; None if one of them is missing."""
        file, item = place
        if isinstance(value, dict):
            value = value.get("bytes") or value.get("path") or value.get("url") or value
        if isinstance(value, str):
            value = decoded_image(value, file=file, item=item) or value
        if isinstance(value, str) and self._mapping.index and _is_encoded(value):
            try:
                value = b64decode(value, validate=True)
            except ValueError:
                raise place.error(
                    _("its image is not valid base64", hint="Fetch the file again")
                ) from None
        if isinstance(value, bytes):
            return [self.writer.add_image(value, f"{file}: {item}")]
        name = cell_text(value, "image", place).strip().removeprefix("file://")
        paths = [self._found(name, place, near, kind)]
        parts = [each for part in _SEPARATORS.split(name) if (each := part.strip("'\"[] \t\r"))]
        if paths == [None] and 1 < len(parts) <= _MOST_NAMES:
            paths = [self._found(part, place, near, kind) for part in parts]
        if None in paths:
            self._miss(name, place)
            return None
        return [self._added(path) for path in paths if path is not None]

    def _miss(self, name: str, place: Place) -> None:
        """Remember a missing file; where invalid records are skipped, so is this one."""
        if self._skips_invalid:
            raise place.error(_("the file {!r} is missing", shortened(name)))
        self.missing.setdefault(name, place)

    def _added(self, path: Path) -> ImageRef:
        if path not in self._refs:
            self._refs[path] = self.writer.add_image(source_bytes(path), str(path))
        return self._refs[path]

    def _found(
        self, name: str, place: Place, near: Sequence[str] = (), kind: Task | None = None
    ) -> Path | None:
        """The image of a name: beside its table or in a folder `images` there, else by the finder.

        One that only its file name fits is another task's if a folder above it is called so.
        """
        plain = PurePosixPath(name.replace("\\", "/"))
        if not (plain.is_absolute() or ".." in plain.parts or ":" in name or self._given):
            # Many questions are asked about one image, and links are resolved for each path.
            key = (name, place.file)
            if path := self._paths.get(key):
                return path
            beside = (place.file.parent, place.file.parent / "images")
            if path := image_below(beside, name, file=place.file, item=place.item):
                if len(self._paths) == _MOST_PATHS:
                    self._paths.clear()
                self._paths[key] = path
                return path
        path = self._finder.find(name, place, near)
        if path is None or kind is None or not path.is_relative_to(self._root):
            return path
        folders = path.relative_to(self._root).parts[:-1]
        others = (each for each in folders if each not in plain.parts)
        return None if any(_is_of_other(folder, kind) for folder in others) else path

    def _folders(self) -> list[Path]:
        folders = []
        for name in as_tuple(self._mapping.images):
            here = name in {".", "./"}
            folder = (
                self._root if here else inside(self._root, name, file=self._root, item="images")
            )
            if not folder.is_dir():
                raise UsageError("images: {} is not a folder", folder)
            folders.append(folder)
        return folders


def _is_encoded(cell: str) -> bool:
    """Whether a cell of images is too long for a name or number, so that it is an image."""
    return len(cell) > _INDEX and not PurePosixPath(cell).suffix


@cache
def _is_of_other(folder: str, kind: Task) -> bool:
    """Whether a folder is called after a task, and not after this one."""
    named = [
        each for each in tasks() if folder in (each.id, each.name_zh, each.name_en)
    ]  # fmt: skip
    return bool(named) and kind not in named


def nested(cells: JsonObject, column: str) -> object:
    """The value of a column; of one with an object inside the record, the object."""
    if column in cells:
        return cells[column]
    prefix = f"{column}."
    inner = {key[len(prefix) :]: value for key, value in cells.items() if key.startswith(prefix)}
    return inner or None


def values_in(value: object) -> Iterator[object]:
    """The values of a cell: itself, or each of its list, also of a list written as JSON."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = decode_json(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            yield value
            return
    if isinstance(value, list):
        for each in value:
            yield from values_in(each)
    elif value not in (None, "") and not (isinstance(value, str) and not value.strip()):
        yield value


def _text_of(columns: Columns, cells: JsonObject, place: Place, *, needed: bool = False) -> str:
    """The text of the first column or template that has one; empty if none has.

    A blank of a template without a value is refused where it is `needed`.
    """
    several = as_tuple(columns)
    for number, column in enumerate(several, start=1):
        if blanks_of(column):
            if number < len(several) and not has_blanks(column, cells):
                continue
            text = filled(column, cells, place, needed=needed)
        else:
            text = cell_text(nested(cells, column), column, place)
        if text.strip():
            return text
    return ""


# ---- items


class _Items:
    """Makes the items of records.

    Attributes:
        records: the number of records so far.
    """

    def __init__(self, mapping: Mapping, files: _Files) -> None:
        self._mapping = mapping
        self._files = files
        self._newlines = Newlines(mapping.newlines)
        self._first = {"from-0": 0, "from-1": 1}.get(mapping.answer_is)
        # Most mappings use few of the roles, and each costs time in every record.
        self._roles = {
            *mapping.fields,
            *mapping.constants,
            *mapping.values,
            *Part.__struct_fields__,
        }
        self._numbers: Counter[str] = Counter()
        self._occurrences: Counter[str] = Counter()
        self._empty: Counter[str] = Counter()
        self._kinds: dict[tuple[str, str], Task] = {}
        self._named = {column for column, _place in _columns_of(mapping)}
        self._ignores = ignoring(mapping)
        self.records = 0

    def of(self, record: Record) -> Iterator[_Made]:
        """The items of a record; none if an image or text file of it is missing.

        Raises:
            DataError: the task is missing or unknown, the prompt cannot be filled, or an answer
                names none of the options.
        """
        self.records += 1
        cells = record.cells
        if self._mapping.texts and self._mapping.text_form == "text":
            text = self._files.text(record)
            if text is None:
                return
            cells = {**cells, "text": text}
        if not self._mapping.items:
            made = self._item(record, cells, self._kind(record, cells), None)
            if made:
                yield made
            return
        for part in self._mapping.items:
            if self._has(cells, part.answer) and (
                not part.question or self._has(cells, part.question)
            ):
                made = self._item(record, cells, self._task(part.task, "", record.place), part)
                if made:
                    yield made
            else:
                self._empty[part.task] += 1

    def notes(self) -> Iterator[str]:
        """The notes on line breaks, and on [[items]] of which a record has no text."""
        yield from self._newlines.notes()
        if self._empty:
            counts = [f"{name}: {count:,}" for name, count in sorted(self._empty.items())]
            yield _("no item where the question or answer is empty: {}", ", ".join(counts))

    def _has(self, cells: JsonObject, columns: Sequence[str] | str) -> bool:
        return any(
            str(cells.get(name, "")).strip()
            for each in as_tuple(columns)  # type: ignore[arg-type]
            for name in blanks_of(each) or [each]
        )

    def _item(
        self, record: Record, cells: JsonObject, kind: Task, part: Part | None
    ) -> _Made | None:
        place = record.place
        self._numbers[kind.id] += 1
        cells = {"task": kind.id, "number": self._numbers[kind.id], **cells}
        images = self._files.images(record, kind, cells)
        if images is None:
            return None
        lines: tuple[Line, ...] = ()
        if self._mapping.text_form == "quads":
            lines = self._files.lines(record, images)
            if not lines:
                return None
            cells["text"] = "\n".join(line.text for line in lines if line.text.strip())
        texts = {
            role: self._text(cells, role, place, part) if role in self._roles else ""
            for role in TEXTS
            if role not in {"task", "answer"}
        }
        self._check_words(kind, texts, place)
        name = self._numbered(texts["id"].strip())
        if not name and ("id" in self._mapping.fields or (part and part.id)):
            raise place.error(_("without an ID", hint="Write its ID, or correct id in [fields]"))
        name = name or self._name(record)
        query = self._query(kind, texts["query"], place)
        form = query.form
        pattern = Item(
            id=name, benchmark=kind.benchmark, task=kind.id, query=query.name, images=images
        )
        pages = self._pages(cells, place)
        boxes: tuple[Box, ...] = ()
        if form == "boxes":
            accepted, boxes = self._boxes(cells, images, place)
        else:
            accepted = self._answers(cells, "answer", form, place, part)
        question = texts["question"]
        printed = options_in(question) if form == "letter" else ()
        options = printed or (
            self._options(cells, "options", place, part) if form == "letter" else ()
        )
        verbatim = self._is_verbatim(question, query.template)
        if options and not printed and question and verbatim:
            question = insert_options(question, options, kind)
        answer = accepted[0] if accepted else ""
        simplified = texts["answer_simplified"]
        if options:
            answer, simplified = (
                known_letter(
                    each,
                    options,
                    place,
                    first=self._first,
                    letter_first=self._mapping.answer_is == "letter",
                )
                for each in (answer, simplified)
            )
        elif self._first is not None and form == "letter":
            raise place.error(_("the record has no options", hint="Correct options in [fields]"))
        more = [*accepted[1:], *self._answers(cells, "also_accepted", "short", place, None)]
        made = replace(
            pattern,
            question=question if verbatim or self._mapping.prompt != "own" else "",
            question_in=self._wordings(cells, texts, options, kind, place),
            verbatim=verbatim,
            fields=self._blanks(cells, place),
            options=options,
            answer=answer,
            boxes=boxes,
            answer_simplified=simplified,
            also_accepted=() if options else tuple(
                dict.fromkeys(each for each in more if each != answer)
            ),
            transcription=texts["transcription"]
            or _transcribed(form, answer)
            or (None if images else "\n\n".join(page.text for page in pages))
            or None,
            lines=lines,
            group=texts["group"].strip() or (images[0].sha256 if images else ""),
            split=self._split(texts["split"].strip(), place),
            metadata=dict(
                chain(
                    self._metadata(cells, texts, kind, place, part),
                    self._facts(cells, texts, place, pages if images else []),
                )
            ),
            provenance=(
                *_released_as(texts["source_id"].strip(), name, self._mapping.preset),
                *self._own_material(texts, with_pages=bool(pages and images)),
                *(page.provenance for page in pages),
            ),
        )  # fmt: skip
        made = replace(made, draft=self._mapping.drafts and not (answer or simplified or boxes))
        _check_prompt(made, place)
        return _Made(made, form, record.table.script, place)

    def _numbered(self, name: str) -> str:
        """An id with its number among those that are the same without it."""
        if _NUMBER not in name:
            return name
        self._occurrences[name] += 1
        return name.replace(_NUMBER, str(self._occurrences[name]))

    def _name(self, record: Record) -> str:
        file = record.cells.get("file")
        if not self._mapping.tables:
            return str(file).rpartition(".")[0] or str(file)
        return f"{record.place.file.stem}-{self.records:06}"

    def _text(self, cells: JsonObject, role: str, place: Place, part: Part | None) -> str:
        """The text of a role: of the first of its columns that has one, or of its template."""
        own = getattr(part, role, ()) if part else ()
        if role == "id":
            cells = {**cells, OCCURRENCE: _NUMBER}
        columns = own or self._mapping.fields.get(role, ())
        if role in _QUESTIONS:
            # The lines of a transcription may be a list; of several questions none is the right.
            for column in as_tuple(columns):
                if isinstance(value := cells.get(column), list):
                    raise not_text(value, column, place)
        text = _text_of(columns, cells, place, needed=role == "id")
        text = text or self._mapping.constants.get(role, "")
        text = self._mapping.values.get(role, {}).get(text.strip(), text)
        return text if role in {"id", "source_id"} else self._newlines.convert(text)

    def _kind(self, record: Record, cells: JsonObject) -> Task:
        """The task of a record: of a column, of its table, else the constant one."""
        given = _text_of(self._mapping.fields.get("task", ()), cells, record.place).strip()
        given = given or record.table.task or self._mapping.constants.get("task", "")
        domain = self._text(cells, "domain", record.place, None).strip()
        known = self._kinds.get((given, domain))
        if known is None:
            known = self._task(given, domain, record.place)
            self._kinds[given, domain] = known
        return known

    def _task(self, given: str, domain: str, place: Place) -> Task:
        name = self._mapping.values.get("task", {}).get(given, given)
        if not name:
            raise _wrong(
                _("the mapping does not give a task", hint="Set task in [constants] or [fields]"),
                place,
            )
        for each in (name, f"T{name.upper().removeprefix('T').removesuffix('.0')}"):
            if has_task(each):
                return task(each)
        named = tasks_named(name)
        if len(named) > 1:
            named = tasks_named(name, domain) or named
        if len(named) != 1:
            why = _("several tasks have") if named else _("no task has")
            raise _wrong(
                _(
                    "{} the name {!r}",
                    why,
                    name[:20],
                    hint=_(
                        "Add to [values.task]: {} = the id of a task (ids: keju tasks), or define "
                        "it: --benchmark",
                        f'"{given[:20]}"',
                    ),
                ),
                place,
            )
        return named[0]

    def _check_words(self, kind: Task, texts: dict[str, str], place: Place) -> None:
        """Refuse a record whose name of the task or domain contradicts its task."""
        own = {
            "task_name": (kind.name_zh, kind.name_en),
            "domain": (kind.domain_zh, kind.domain),
        }
        for role, names in own.items():
            said = texts[role].strip()
            if said and said not in names and is_task_word(said):
                raise place.error(
                    _(
                        "its task is {}, but it names {!r}",
                        " ".join((kind.id, *names)),
                        said[:20],
                        hint="Correct one of them",
                    )
                )

    def _query(self, kind: Task, name: str, place: Place) -> Query:
        queries = {query.name: query for query in kind.queries}
        if name in queries:
            return queries[name]
        if not name and len(queries) == 1:
            return kind.queries[0]
        raise _wrong(
            _(
                "task {} has no query {!r}",
                kind.id,
                name[:20],
                hint=_("Set query in [constants] to one of: {}", ", ".join(queries)),
            ),
            place,
        )

    def _is_verbatim(self, question: str, template: str) -> bool:
        prompt = self._mapping.prompt
        if prompt == "own":
            return bool(question) and question.strip() != template
        return prompt == "verbatim" or bool(question and not prompt)

    def _answers(
        self, cells: JsonObject, role: str, form: AnswerForm, place: Place, part: Part | None
    ) -> list[str]:
        """The accepted answers, the first one first.

        A list has several that are accepted, all names of the entities, or the lines of a
        transcription, as the form of the answer says.
        """
        own = part.answer if part and role == "answer" else ()
        found: list[str] = []
        for column in as_tuple(own or self._mapping.fields.get(role, ())):
            if blanks_of(column):
                found = [filled(column, cells, place, needed=False)]
            else:
                values = list(values_in(nested(cells, column)))
                found = [cell_text(each, column, place) for each in values]
            found = [each for each in found if each.strip()]
            if found:
                break
        if not found and (constant := self._mapping.constants.get(role, "")):
            found = [constant]
        known = self._mapping.values.get(role, {})
        found = [self._newlines.convert(known.get(each.strip(), each)) for each in found]
        if len(found) < 2 or role != "answer":
            return found
        if form == "letter":
            raise place.error(
                n_(
                    "{n:,} answer to a question with one right option",
                    "{n:,} answers to a question with one right option",
                    len(found),
                    hint="Keep the right one",
                )
            )
        between = {"entities": "、", "transcription": "\n", "punctuated": "\n"}.get(form)
        return found if between is None else [between.join(found)]

    def _options(
        self, cells: JsonObject, role: str, place: Place, part: Part | None
    ) -> tuple[str, ...]:
        own = part.options if part and role == "options" else ()
        columns = as_tuple(own or self._mapping.fields.get(role, ()))
        known = self._mapping.values.get("options", {})
        if len(columns) == 1:
            found = options_from(nested(cells, columns[0]), place)
            return tuple(known.get(each, each) for each in found)
        texts = [cell_text(nested(cells, column), column, place).strip() for column in columns]
        while texts and not texts[-1]:
            texts.pop()
        if not all(texts):
            # Dropping it would change the letters of the options after it.
            raise place.error(_("an option between others is empty", hint="Fill it in"))
        return unlettered([known.get(each, each) for each in texts], place)

    def _wordings(
        self,
        cells: JsonObject,
        texts: dict[str, str],
        options: tuple[str, ...],
        kind: Task,
        place: Place,
    ) -> dict[Script, str]:
        """The question as released in each script; none unless it was released in both.

        Options that a wording does not print are put under it: those released in its script, else
        the others, converted.
        """
        found: dict[Script, str] = {
            "simplified": texts["question_simplified"],
            "traditional": texts["question_traditional"],
        }
        if not all(text.strip() for text in found.values()):
            return {}
        for script, text in found.items():
            if options and not options_in(text):
                own = self._options(cells, "options_traditional", place, None)
                own = own if script == "traditional" else ()
                own = own or tuple(in_script(each, script) for each in options)
                found[script] = insert_options(text, own, kind)
        return found

    def _blanks(self, cells: JsonObject, place: Place) -> dict[str, str]:
        found = {
            blank: cell_text(nested(cells, column), column, place).strip()
            for blank, column in self._mapping.blanks.items()
        }
        return {blank: text for blank, text in found.items() if text}

    def _split(self, text: str, place: Place) -> Literal["test", "reference"]:
        if text == "reference":
            return "reference"
        if text not in ("", "test"):
            raise _wrong(
                _(
                    "the split {!r} is neither test nor reference",
                    text[:20],
                    hint="Map it in [values.split], or omit split",
                ),
                place,
            )
        return "test"

    def _metadata(
        self,
        cells: JsonObject,
        texts: dict[str, str],
        kind: Task,
        place: Place,
        part: Part | None,
    ) -> Iterator[tuple[str, str]]:
        values = self._mapping.values
        yield from self._mapping.constant_metadata.items()
        for name, columns in chain(
            self._mapping.metadata.items(), part.metadata.items() if part else ()
        ):
            if text := _text_of(columns, cells, place).strip():
                yield name, values.get(name, {}).get(text, text)
        if self._mapping.text_form == "quads":
            yield "order", "geometry" if self._mapping.text_order == "geometry" else "stated"
        of_task = {
            "Domain": (texts["domain"].strip(), kind.domain_zh, kind.domain),
            "Task_Name": (texts["task_name"].strip(), kind.name_zh, kind.name_en),
        }
        for name, (text, *own) in of_task.items():
            if text and text not in own and values.get("task", {}).get(text, text) != kind.id:
                yield name, text
        if self._mapping.rest != "metadata":
            return
        for column, value in cells.items():
            if column in PLACE_COLUMNS or self._ignores(column):
                continue
            if column in self._named or column.partition(".")[0] in self._named:
                continue
            text = _plain(value)
            if text and len(text) <= _LONGEST:
                yield column, values.get(column, {}).get(text, text)

    def _own_material(self, texts: dict[str, str], *, with_pages: bool) -> Iterator[Provenance]:
        """The licence and source of a record, where it has its own, or pages with others beside."""
        licence, source = texts["licence"].strip(), texts["source"].strip()
        if licence or source or with_pages:
            yield Provenance(
                step=self._mapping.preset or "mapped",
                licence=licence or self._files.writer.licence,
                source=source or self._files.writer.source,
            )

    def _pages(self, cells: JsonObject, place: Place) -> list[SavedPage]:
        """The saved web pages that a record names; one cell may name several, with | between."""
        names = [
            name.strip()
            for column in as_tuple(self._mapping.fields.get("page", ()))
            for cell in values_in(nested(cells, column))
            for name in cell_text(cell, column, place).split("|")
        ]
        return [self._files.page(name, place) for name in names if name]

    def _facts(
        self, cells: JsonObject, texts: dict[str, str], place: Place, pages: list[SavedPage]
    ) -> Iterator[tuple[str, str]]:
        """The metadata with known facts about a record's image."""
        notes = [texts["notes"].strip(), *(page.text for page in pages)]
        keywords = [
            cell_text(each, column, place).strip()
            for column in as_tuple(self._mapping.fields.get("keywords", ()))
            for each in values_in(nested(cells, column))
        ]
        facts = {
            "notes": "\n\n".join(filter(None, notes)),
            "description": texts["description"].strip(),
            "keywords": "、".join(keywords),
        }
        yield from ((name, text) for name, text in facts.items() if text)

    def _boxes(
        self, cells: JsonObject, images: tuple[ImageRef, ...], place: Place
    ) -> tuple[list[str], tuple[Box, ...]]:
        """The reference of an item that asks for boxes: an answer, or boxes."""
        columns = as_tuple(self._mapping.fields.get("answer", ()))
        given = [each for column in columns if (each := cells.get(column)) not in (None, "")]
        boxes = _boxes_in(given[0], images, place) if given else ()
        return ([NO_BOXES] if given and not boxes else []), boxes


def _transcribed(form: AnswerForm, answer: str) -> str:
    """The text on the image if the answer has it: for punctuation it is without its marks."""
    if form == "transcription":
        return answer
    if form == "punctuated":
        return "".join(char for char in answer if unicodedata.category(char)[0] not in "PZ")
    return ""


def _released_as(source_id: str, name: str, preset: str) -> tuple[Provenance, ...]:
    """The ID of the source, where the item has another."""
    if not source_id or source_id == name:
        return ()
    return (Provenance(step=preset or "mapped", note=f"{SOURCE_ID}{source_id}"),)


def _plain(value: object) -> str:
    """A value as metadata; empty for objects, bytes and lists of anything but texts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _wrong(problem: str, place: Place, hint: str = "") -> DataError:
    return place.error(problem, hint=hint or hint_of(problem) or _("Correct the mapping"))


def _check_prompt(item: Item, place: Place) -> None:
    try:
        prompt_of(item)
    except (DataError, UsageError) as error:
        problem = error.problem if isinstance(error, DataError) else error_text(error)
        raise _wrong(
            problem, place, _("Set question in [fields] or [constants], or set [blanks]")
        ) from None


def _boxes_in(value: object, images: tuple[ImageRef, ...], place: Place) -> tuple[Box, ...]:
    """The boxes of a cell, on the first image: a list of lists of four numbers, or its JSON.

    The JSON may lack the outer brackets, as in the tables that keju exports.

    Raises:
        DataError: the cell is something else, or a box is not on the image.
    """
    if isinstance(value, str):
        text = value.strip()
        several = text.startswith("[") and "]," in text and not text.startswith("[[")
        try:
            value = msgspec.json.decode(f"[{text}]" if several else text)
        except msgspec.DecodeError:
            raise _not_boxes(
                _("the answer {!r} is not a list of boxes", shortened(text)), place
            ) from None
    if isinstance(value, list) and len(value) == 4 and all(map(_is_finite, value)):
        value = [value]
    if not isinstance(value, list):
        raise _not_boxes(_("the answer {!r} is not a list of boxes", str(value)[:80]), place)
    boxes = []
    for number, each in enumerate(value, 1):
        if not isinstance(each, list) or len(each) != 4 or not all(map(_is_finite, each)):
            raise _not_boxes(_("box {} of the answer is not four numbers", number), place)
        boxes.append(Box(**dict(zip(("x0", "y0", "x1", "y1"), map(float, each), strict=True))))
    size = (images[0].width, images[0].height) if images else None
    if fault := next(filter(None, (box_fault(box, size) for box in boxes)), ""):
        raise _not_boxes(_("the box {}", fault), place)
    return tuple(boxes)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _not_boxes(problem: str, place: Place) -> DataError:
    return place.error(
        problem, _("Write [[left, top, right, bottom], …] in pixels, or [] if the image has none")
    )


# ---- items that belong together


def _joined(made: Iterable[_Made], mapping: Mapping, skipping: _Skipping) -> Iterator[Item]:
    """The items with different ids: records of two scripts are one, transcriptions are shared.

    Raises:
        DataError: two records give the same id, or two of one item differ in more than the script.
    """
    if not mapping.shared_transcriptions and not any(each.script for each in mapping.tables):
        yield from (each.item for each in _different(made, skipping))
        return
    groups: dict[tuple[str, str], list[_Made]] = {}
    for each in made:
        groups.setdefault((each.item.task, each.item.id), []).append(each)
    whole = list(_different(chain.from_iterable(map(_one_script, groups.values())), skipping))
    if mapping.shared_transcriptions:
        yield from _with_transcriptions(whole)
    else:
        yield from (each.item for each in whole)


def _different(made: Iterable[_Made], skipping: _Skipping) -> Iterator[_Made]:
    places: dict[str, Place] = {}
    for each in made:
        other = places.setdefault(each.item.id, each.place)
        if other is each.place:
            yield each
            continue
        same_file = other.file == each.place.file
        skipping.drop(
            each.place,
            each.place.error(
                _(
                    "the id {!r} is also that of {}",
                    shortened(each.item.id),
                    other.item if same_file else f"{other.file.name}, {other.item}",
                    hint='Make it of several columns: id = "{COLUMN}-{COLUMN}", or omit id',
                )
            ),
        )


def _one_script(group: list[_Made]) -> list[_Made]:
    """The two records of one item in two scripts as one; other records as they are."""
    if len(group) != 2 or {each.script for each in group} != {"simplified", "traditional"}:
        return group
    simplified, traditional = sorted(group, key=lambda each: each.script)
    one, other = simplified.item, traditional.item
    _check_same(simplified, traditional)
    answer = other.answer or one.answer
    accepted = dict.fromkeys((*other.also_accepted, *one.also_accepted))
    item = replace(
        one,
        question_in={"simplified": one.question, "traditional": other.question},
        images=one.images or other.images,
        answer=answer,
        answer_simplified=one.answer,
        also_accepted=tuple(each for each in accepted if each != answer),
        transcription=other.transcription or one.transcription,
        metadata={**other.metadata, **one.metadata},
    )
    return [simplified._replace(item=item)]


def _check_same(simplified: _Made, traditional: _Made) -> None:
    """Refuse two records of one task and id that are not the same item."""
    one, other = simplified.item, traditional.item
    problem = ""
    if one.images and other.images and one.images != other.images:
        problem = _("other images")
    first, second = (
        tuple(in_script(each, "simplified") for each in item.options) for item in (one, other)
    )
    if first != second and sorted(first) == sorted(second):
        problem = _("their options in another order")
    if one.options and one.answer and other.answer and one.answer != other.answer:
        problem = problem or _("another right option")
    if problem:
        raise simplified.place.error(
            _(
                "the records of both scripts with this task and ID have {}; the traditional one is "
                "in {}",
                problem,
                traditional.place.file.name,
                hint="Number the items of both files alike, or import each file alone",
            )
        )


def _with_transcriptions(whole: Sequence[_Made]) -> Iterator[Item]:
    """The items, each with the transcription that another item on the same images has.

    Of several, a whole transcription counts before one without its punctuation.
    """
    texts: dict[tuple[str, ...], str] = {}
    for form in ("transcription", "punctuated", ""):
        for each in whole:
            if each.item.transcription and (not form or each.form == form):
                texts.setdefault(_hashes(each.item), each.item.transcription)
    for each in whole:
        known = None if each.item.transcription else texts.get(_hashes(each.item))
        yield replace(each.item, transcription=known) if known else each.item


def _hashes(item: Item) -> tuple[str, ...]:
    return tuple(ref.sha256 for ref in item.images)

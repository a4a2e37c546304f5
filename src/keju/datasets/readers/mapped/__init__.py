"""FORMAT ``mapped``: tables or image directories of any layout, described by a mapping file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from keju.datasets.readers.base import Reader, join_names
from keju.datasets.readers.mapped.images import MappedFiles
from keju.datasets.readers.mapped.items import PLACE_COLUMNS, ItemMaker
from keju.datasets.readers.mapped.mapping import Mapping, read_mapping
from keju.datasets.readers.mapped.records import (
    as_tuple,
    columns_of,
    image_records,
    table_records,
    with_groups,
)
from keju.datasets.readers.tables import SUFFIXES, Row
from keju.datasets.store import DatasetWriter
from keju.errors import DataError, UsageError, did_you_mean, nearest_names, shortened
from keju.files import sha256_file
from keju.settings import Settings
from keju.texts import _, n_

LAYOUT = """\
SRC/                      any table (CSV, TSV, JSON, JSON lines, parquet, XLSX), any folder of
                          images, or both
mapping.toml              what its columns, file names and folders mean, in a file of yours:
  [source]                tables = "labels.csv"; or none: each image is a record
                          image_path = "images/{ID}.*", texts = "{folder}/{stem}.txt"
                          names = '(?P<book>[^/]+)/page_(?P<page>[0-9]+)\\.png'
  [fields]                question = "题目"; answer = "答案"; options = ["A", "B"]; …
  [constants]             task = "T7"
  [values.task]           "单选" = "T7"
keju data detect SRC --write-map mapping.toml drafts it; keju data detect SRC --map mapping.toml
shows the items that it gives."""


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


def read_mapped(src: Path, writer: DatasetWriter, settings: MappedSettings) -> Iterator[str]:
    """Read a source as a mapping file describes it, one item per record.

    Raises:
        UsageError: no mapping file is given, or a regular expression in it cannot be used.
        DataError: the mapping or a record is not valid, or files are missing.
    """
    file = settings.map
    if file is None:
        raise UsageError(
            "format mapped needs a mapping file: --map FILE. Draft one with: keju data detect "
            "SRC --write-map FILE"
        )
    mapping = read_mapping(file)
    writer.declare(mapping=sha256_file(file))
    files = MappedFiles(src, mapping, settings.images)
    is_table = src.is_file() and src.suffix.casefold() in SUFFIXES
    tables = mapping.source.tables or is_table
    rows = table_records(src, mapping) if tables else image_records(src)
    if mapping.source.names:
        every = list(rows)
        rows = named = _named(every, files, mapping)
        if left := len(every) - len(named):
            yield _(
                "skipped {} of {} records, since [source] names does not match", left, len(every)
            )
    columns = columns_of(rows)
    _check_columns(file, mapping, columns)
    parts = _Parts(mapping, files, columns)
    yield from _add_all(src, writer, rows, parts, skip=settings.skip_missing)


READER = Reader(
    "mapped",
    "any table or image folder, described by a mapping file",
    LAYOUT,
    read_mapped,
    MappedSettings,
    group_option='[fields] group = "COLUMN"',
)


class _Parts(NamedTuple):
    mapping: Mapping
    files: MappedFiles
    columns: tuple[str, ...]


def _named(rows: list[Row], files: MappedFiles, mapping: Mapping) -> list[Row]:
    names = [files.path_of(row) for row in rows]
    found = with_groups(rows, names, mapping.source.names)
    if not found:
        raise DataError(
            "[source] names matches none of {} paths, e.g. {!r}",
            len(names),
            shortened(names[0]),
            hint="The expression must match the whole path",
        )
    return found


def _add_all(
    src: Path, writer: DatasetWriter, rows: Iterable[Row], parts: _Parts, *, skip: bool
) -> Iterator[str]:
    mapping, files = parts.mapping, parts.files
    maker = ItemMaker(mapping, parts.columns)
    taken: dict[str, int] = {}
    without_answer = 0
    for number, row in enumerate(rows, start=1):
        images = [files.store(writer, each, row.place) for each in files.images(row)]
        text = files.text(row) if mapping.source.texts else ""
        refs = tuple(ref for ref in images if ref is not None)
        if text is None or len(refs) < len(images):
            continue
        whole = Row(row.place, {"text": text, **row.cells} if mapping.source.texts else row.cells)
        item = maker.item(whole, _name(row, number, mapping), refs)
        if (first := taken.setdefault(item.id, number)) != number:
            other = next(islice(rows, first - 1, first)).place.item
            raise row.place.error(
                _(
                    "the id {!r} is also that of {}",
                    shortened(item.id),
                    other,
                    hint='Make it from several columns: id = ["COLUMN", "COLUMN"], or omit id',
                )
            )
        without_answer += not (item.answer or item.boxes)
        writer.add(item)
    if count := len(files.missing):
        names = join_names(f"{shortened(name)} (of {item})" for name, item in files.missing.items())
        if not skip:
            problem = n_(
                "{n:,} file is missing: {}",
                "{n:,} files are missing: {}",
                count,
                names,
                hint=(
                    "Correct [source] image_path, images or texts, or skip these records: "
                    "--option skip-missing=yes"
                ),
            )
            raise DataError(problem, file=src)
        yield n_(
            "skipped {n:,} record with missing files: {}",
            "skipped {n:,} records with missing files: {}",
            count,
            names,
        )
    if without_answer:
        yield n_(
            "{n:,} item without an answer: they can be run, but not scored",
            "{n:,} items without an answer: they can be run, but not scored",
            without_answer,
        )


def _name(row: Row, number: int, mapping: Mapping) -> str:
    if not mapping.source.tables and "file" in row.cells and row.place.item == row.cells["file"]:
        return str(row.cells["file"]).rpartition(".")[0] or str(row.cells["file"])
    return f"{row.place.file.stem}-{number:06}"


def _check_columns(file: Path, mapping: Mapping, columns: Iterable[str]) -> None:
    """Check that every column in the mapping exists."""
    known = {*columns, *({"text"} if mapping.source.texts else ())}
    wanted = [
        *(
            (f"[fields] {role}", name)
            for role, each in mapping.fields.items()
            for name in as_tuple(each)
        ),
        *((f"[blanks] {blank}", name) for blank, name in mapping.blanks.items()),
        *((f"[metadata] {key}", name) for key, name in mapping.metadata.items()),
    ]
    for place, name in wanted:
        if name not in known:
            shown = sorted(known - PLACE_COLUMNS) + sorted(known & PLACE_COLUMNS)
            raise DataError(
                "no record has a column {!r}.{}",
                name,
                did_you_mean(nearest_names(name, known)),
                file=file,
                item=place,
                hint=_("Columns: {}", ", ".join(shown[:40])),
            )

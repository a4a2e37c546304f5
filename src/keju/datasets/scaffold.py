"""`scaffold`: tables that a person fills in for an import, with what the source tells filled in."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from keju.datasets.preview import PreviewWriter
from keju.datasets.readers import FORMATS, check_options
from keju.datasets.readers.ancientdoc.images import tree_images
from keju.datasets.readers.base import NO_OPTIONS, Options, image_files
from keju.datasets.readers.obi.characters import Character, of_tree
from keju.datasets.readers.obi.copies import rule_in
from keju.datasets.readers.obi.sources import Found, pictures_in, sources_in
from keju.datasets.readers.obi.tree import as_released, read_tree
from keju.datasets.readers.words import import_command
from keju.errors import DataError, UsageError
from keju.files import FORMULA, write_atomic

_BOM = "\ufeff"
_DESCRIPTIONS = "descriptions"


class Table(NamedTuple):
    """A table to fill in.

    Attributes:
        name: of the file, without its suffix; also the option of the import that takes it.
        columns: its columns.
        rows: one cell a column; empty where the source does not tell it.
        fill: the columns that a person fills in.
        options: options of the import that take the file, beside that of its name.
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    fill: tuple[str, ...]
    options: tuple[str, ...]


class Scaffolded(NamedTuple):
    """A table that was written: the file, its rows, what to fill in, and the import to run next."""

    file: Path
    rows: int
    fill: tuple[str, ...]
    command: str


def scaffold(
    form: str, src: Path, folder: Path, options: Options = NO_OPTIONS
) -> Iterator[Scaffolded]:
    """Write the tables that a format's import can be given, filled in as far as the source tells.

    Args:
        form: a format in `SCAFFOLDS`.
        src: the file or folder to import later.
        folder: where the tables are written.
        options: of the import, which decide what is drawn; they are in the command too.

    Raises:
        UsageError: the format has no tables, a table exists, an option is wrong.
        DataError: the source is not as the format's layout says.
    """
    make = SCAFFOLDS.get(form)
    if make is None:
        known = ", ".join(SCAFFOLDS)
        raise UsageError(f"format {form!r} has no tables to fill in. Formats: {known}")
    check_options(FORMATS[form], options)
    if not src.exists():
        raise UsageError(f"{src}: no such file or folder")
    for table in make(src, options):
        file = folder / f"{table.name}.csv"
        if file.exists():
            raise UsageError(f"{file} exists. Choose another folder with -o, or remove it")
        write_atomic(file, _csv(table))
        more = {name: str(file) for name in table.options}
        kept = {name: value for name, value in options.items() if name not in _DRAWING}
        yield Scaffolded(file, len(table.rows), table.fill, import_command(form, src, kept | more))


def characters(src: Path, options: Options) -> Iterator[Table]:
    """``descriptions.csv``: of a release the characters that are drawn; else all images."""
    rows: list[tuple[str, ...]] = []
    every = sources_in(src, "deciphering", options)
    for found in every:
        if tree := as_released(found, options.get("names", "")):
            chosen = of_tree(tree, options, rule_in(options)).chosen
            rows += [_described(one, found) for one in chosen]
        else:
            rows += [(name, "", "", "", "") for name in _images(found)]
    _single(every)
    columns = ("image", "character", "description", "subset", "frequency")
    yield Table(_DESCRIPTIONS, columns, rows, ("description", "subset"), (_DESCRIPTIONS,))


def recognised(src: Path, options: Options) -> Iterator[Table]:
    """``descriptions.csv``: every image, whose description answers What."""
    every = sources_in(src, "recognition", options)
    rows = [(name, "") for found in every for name in _images(found)]
    _single(every)
    yield Table(_DESCRIPTIONS, ("image", "description"), rows, ("description",), (_DESCRIPTIONS,))


def classes(task: str) -> Callable[[Path, Options], Iterator[Table]]:
    """``classes.csv``: every class, its character, and whether it looks like others."""

    def tables(src: Path, options: Options) -> Iterator[Table]:
        counts: Counter[str] = Counter()
        names: dict[str, str] = {}
        for found in sources_in(src, task, options):
            tree = read_tree(found, options.get("names", ""))
            for label, images in tree.classes.items():
                counts[label] += len(images)
                names.setdefault(label, tree.names.of(label))
        rows = [(label, names[label], "", str(counts[label])) for label in sorted(counts)]
        columns = ("class", "character", "similar", "images")
        yield Table("classes", columns, rows, ("character", "similar"), ("names", "similar"))

    return tables


def books(src: Path, options: Options) -> Iterator[Table]:
    """``books.csv``: every book of AncientDoc, with dynasty and script as far as they are known."""
    known: dict[str, dict[str, str]] = {}
    root = src if src.is_dir() else src.parent
    if src.is_dir() and any(True for _ in image_files(root)):
        for image in tree_images(root):
            category, book = ("", "", *image.page.parts)[-3:-1]
            known.setdefault(book, {"category": category})
    else:
        writer = PreviewWriter(_ALL)
        given = {"skip-missing": "yes"} | dict(options)
        for _ in FORMATS["ancientdoc"].read(src, writer, given):
            continue
        for item in writer.items:
            known.setdefault(item.metadata.get("book", ""), dict(item.metadata))
    columns = ("book", "category", "dynasty", "script")
    rows = [(book, *(about.get(key, "") for key in columns[1:])) for book, about in known.items()]
    rows = sorted(row for row in rows if row[0])
    if not rows:
        raise DataError("no book is found in it", file=src, mend="Give the folder with imgs")
    yield Table("books", columns, rows, ("dynasty", "script"), ("books",))


SCAFFOLDS: Mapping[str, Callable[[Path, Options], Iterator[Table]]] = MappingProxyType(
    {
        "obi-deciphering": characters,
        "obi-recognition": recognised,
        "obi-classification": classes("classification"),
        "obi-retrieval": classes("retrieval"),
        "ancientdoc": books,
    }
)
"""The formats whose import can be given tables, and what writes them."""

_ALL = 1 << 40
_DRAWING = frozenset({"classes", "images", "undeciphered", "era", "annotated", "items", "as-paper"})
"""Options that decided the rows of a table, which then takes their place."""


def _described(one: Character, found: Found) -> tuple[str, ...]:
    about = one.metadata
    return (
        one.path.relative_to(found.folder).as_posix(),
        about.get("character", ""),
        "",
        about.get("subset", ""),
        about.get("frequency", ""),
    )


def _images(found: Found) -> list[str]:
    return [path.relative_to(found.folder).as_posix() for path in pictures_in(found)]


def _single(found: Sequence[Found]) -> None:
    """Refuse several sources: a table names its images from the folder of one.

    Raises:
        UsageError: there are several.
    """
    if len(found) > 1:
        names = ", ".join(each.source.name for each in found)
        raise UsageError(f"{names}: give the folder of one source at a time")


def _csv(table: Table) -> str:
    """The table as UTF-8 with a byte-order mark and CRLF, as Excel opens it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(table.columns)
    writer.writerows(_safe(row, table.columns) for row in table.rows)
    return _BOM + out.getvalue()


def _safe(row: Iterable[str], columns: Sequence[str]) -> tuple[str, ...]:
    """A row whose cells no spreadsheet takes for formulas; an image keeps its path."""
    return tuple(
        (f"./{cell}" if column == "image" else f"'{cell}") if cell.startswith(FORMULA) else cell
        for cell, column in zip(row, columns, strict=True)
    )

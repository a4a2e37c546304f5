"""FORMAT ``ancientdoc``: AncientDoc as released on Hugging Face, or in its README's JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from keju.benchmarks.ancientdoc.reader.book_table import book_table
from keju.benchmarks.ancientdoc.reader.detecting import detect_ancientdoc
from keju.benchmarks.ancientdoc.reader.images import (
    FOLDER,
    PageImage,
    PageImages,
    page_path,
    tree_images,
)
from keju.benchmarks.ancientdoc.reader.items import make_item, numbered
from keju.benchmarks.ancientdoc.reader.long import embedded, long_items, page_of
from keju.benchmarks.ancientdoc.reader.settings import AncientDocSettings
from keju.benchmarks.ancientdoc.reader.strata import Books, books_in, unprinted
from keju.benchmarks.ancientdoc.reader.tables import Table, image_in, tables_in
from keju.benchmarks.ancientdoc.reader.wide import WideTable
from keju.datasets.newlines import Newlines
from keju.datasets.readers.base import Reader, Tables, join_names
from keju.datasets.readers.records import Pictures, image_roots
from keju.datasets.store import DatasetWriter
from keju.definitions import task as find_task
from keju.errors import DataError, UsageError, number_of
from keju.items import Item
from keju.texts import _

LAYOUT = """\
SRC                           a table, or a folder with one
  label.csv                   Hugging Face: one row per page; type (the category), name
                              (BOOKpage_N.png), OCR, and columns of the other tasks
  imgs/CATEGORY/BOOK/page_N.png
                              its images; byte-identical copies under imgs/imgs are not imported
  data.jsonl                  or GitHub's README: one question per line: image, task, question,
                              answer; image is CATEGORY/BOOK/PAGE.png beside it
  data/*.parquet              or either table with the images inside; the hub's automatic parquet
                              has images alone, which are imported without answers
Every table may be JSON lines, JSON (also {"data": [...]}), CSV, TSV, XLSX or parquet.
type, name and OCR were seen in code that reads the release. Names of the other columns are
assumed: Translation, Reasoning Question 1, Reasoning Answer 1, Knowledge …, Variant …, or Chinese.
Tasks without columns get no items and are reported. A literal \\n becomes a line break.
--option books=FILE adds dynasty and script from a table with a row per book."""


def read_ancientdoc(
    src: Path, writer: DatasetWriter, settings: AncientDocSettings
) -> Iterator[str]:
    """Read AncientDoc's questions word for word; the book is the group.

    The text of a page's OCR becomes the transcription of all questions on that page.

    Raises:
        UsageError: a field is mapped that this format does not have.
        DataError: no table, a field, an image or a column is missing, an unknown task, a name
            that leads out of the folder.
    """
    writer.declare(unit="book")
    books = books_in(settings.books)
    reading = _Reading(src, writer, settings)
    items = list(reading.items())
    for item in numbered(items):
        writer.add(_with_book(item, books))
    yield from reading.notes()
    yield from _notes(items, books)


READER = Reader(
    "ancientdoc",
    "AncientDoc: the release on Hugging Face, or JSON lines with page images",
    LAYOUT,
    read_ancientdoc,
    AncientDocSettings,
    detect_ancientdoc,
    tables=Tables("dynasty and script of books", partial(book_table, read=read_ancientdoc)),
)


class _Reading:
    """One import: its source, what it writes to, and what is noted on the way."""

    def __init__(self, src: Path, writer: DatasetWriter, settings: AncientDocSettings) -> None:
        self._src = src
        self._writer = writer
        self._settings = settings
        self._newlines = Newlines(settings.newlines)
        self._notes: list[str] = []

    def items(self) -> Iterator[Item]:
        """The items of all tables of the source, without ids.

        Tables with images in them are read one at a time, since all images of the release do not
        fit into memory.
        """
        wide: list[Table] = []
        inside: list[PageImage] = []
        empty = True
        for table in tables_in(self._src, self._settings):
            if table.kind == "books":
                self._notes.append(
                    _(
                        "{0} is a table of books and was not used. To add its dynasties and "
                        "scripts: --option books={0}",
                        table.file,
                    )
                )
                continue
            empty = False
            if table.kind == "images":
                inside += self._embedded(table)
            elif table.kind == "long":
                yield from self._long(table)
            elif image_in(table.rows[0].cells):
                yield from self._wide(table, PageImages([]), strict=not self._settings.skip_missing)
            else:
                wide.append(table)
        if empty:
            _check_tree(self._src, without_answers=self._settings.without_answers)
        if wide or inside or empty:
            yield from self._pages(wide, inside)

    def notes(self) -> Iterator[str]:
        """Notes for the user about the import."""
        yield from self._notes
        yield from self._newlines.notes()

    def _long(self, table: Table) -> Iterator[Item]:
        roots = image_roots(self._src, table.file, self._settings.images)
        pictures = Pictures(self._writer, [*roots, *(root / FOLDER for root in roots)])
        yield from long_items(
            table.file, table.rows, pictures, self._writer, self._newlines, self._settings.field
        )
        if not self._settings.skip_missing:
            pictures.raise_if_missing(table.file)
        if skipped := list(pictures.missing):
            self._notes.append(
                f"skipped questions on {number_of(len(skipped), 'page')}: {join_names(skipped)}"
            )

    def _pages(self, wide: Sequence[Table], inside: Sequence[PageImage]) -> Iterator[Item]:
        """The items of wide tables without images, and of images that no table has answers for."""
        tree = list(tree_images(self._root())) if wide or not inside else []
        found = PageImages([*tree, *inside])
        done: set[str] = set()
        for table in wide:
            strict = not self._settings.skip_missing and not inside
            for item in self._wide(table, found, strict=strict):
                done.add(item.images[0].sha256)
                yield item
        yield from self._without_answers(inside if wide else [*tree, *inside], done)
        if wide and tree:
            self._notes += found.notes()

    def _wide(self, table: Table, images: PageImages, *, strict: bool) -> Iterator[Item]:
        reading = WideTable(table.file, table.rows, self._settings.field)
        yield from reading.items(images, self._writer, self._newlines)
        if strict:
            reading.raise_if_missing()
        self._notes += reading.notes()

    def _root(self) -> Path:
        if root := self._settings.images:
            if not root.is_dir():
                raise UsageError("images={}: no such folder", root)
            return root
        return self._src if self._src.is_dir() else self._src.parent

    def _embedded(self, table: Table) -> Iterator[PageImage]:
        for place, cells in table.rows:
            name, ref = embedded(image_in(cells), place, self._writer)
            yield PageImage(page_of(name), ref=ref)

    def _without_answers(self, images: Iterable[PageImage], done: set[str]) -> Iterator[Item]:
        """A page-OCR item without reference for each image that no row has."""
        task = find_task("page_level_ocr")
        count = copies = 0
        for image in images:
            ref = image.store(self._writer)
            if ref.sha256 in done:
                copies += 1
                continue
            done.add(ref.sha256)
            count += 1
            yield make_item(task, "", "", ref, {"page": page_path(image.page).as_posix()})
        if count:
            self._notes.append(
                f"{number_of(count, 'image')} without answers: they can be run, and are "
                "not scored. The answers are in label.csv of the release: import it with the "
                "images to score them"
            )
            if copies:
                self._notes.append(f"{copies} byte-identical copies of images are not imported")


def _check_tree(src: Path, *, without_answers: bool) -> None:
    """Refuse a source without a table, unless images alone are wanted.

    Raises:
        DataError: it has no table.
    """
    if src.is_dir() and ((src / FOLDER).is_dir() or src.name == FOLDER):
        if without_answers:
            return
        raise DataError(
            "label.csv is missing, so the images have no questions and no answers",
            file=src,
            hint=(
                "Put label.csv beside imgs, or import the images without answers: --option "
                "without-answers=yes"
            ),
        )
    raise DataError(
        "expected label.csv, a .jsonl file, or a folder with one; found none",
        file=src,
        hint="See: keju data formats ancientdoc",
    )


def _with_book(item: Item, books: Books) -> Item:
    known = books.get(item.metadata.get("book", ""))
    return replace(item, metadata=item.metadata | dict(known)) if known else item


def _notes(items: Sequence[Item], books: Books) -> Iterator[str]:
    bare = sorted({item.metadata["page"] for item in items if "book" not in item.metadata})
    if bare:
        yield (
            f"{number_of(len(bare), 'page is', 'pages are')} not in a book's folder, so each "
            f"is a separate group: {join_names(bare)}"
        )
    yield from books.notes({each.metadata["book"] for each in items if "book" in each.metadata})
    yield from unprinted(items)

"""`PageFiles`: transcriptions of an OCR engine that keju does not run, as an engine of a run.

A file belongs to the page that has its name. Names are compared without case, in Unicode NFC, and
folder by folder from the end: the path of a file can have more or fewer folders than the page in
its source, but the common part must be equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from keju.datasets.import_log import beginning_of, logging_import, printable
from keju.datasets.page_names import NamedPage, scan_page
from keju.datasets.readers.base import files_under, join_names
from keju.datasets.readers.pages.page_items import EXPORT_FOLDERS, SUFFIXES, form_of, read_result
from keju.datasets.readers.pages.scans import scan_pages
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, sha256_file
from keju.images import EXTENSIONS
from keju.items import Request
from keju.local_paths import check_local
from keju.models.base import MISSING, PYTHON, RESULTS, AskError, DatasetAccess, ModelOptions
from keju.models.disk_index import DiskIndex
from keju.models.engine import Engine, PageReading
from keju.models.registry import MODELS
from keju.texts import _, listed

_NAME = re.compile(r"[^\x00-\x1f\x7f:=/\\]{1,60}")
_SECOND_SUFFIXES = frozenset({*EXTENSIONS, *EXPORT_FOLDERS, "pdf", "ocr", "pred", "text"})
"""Suffixes before the last one: ``p1.jpg.txt``, ``p1.alto.xml``."""

_MOST_SHOWN = 5
"""Marginal lines in a note."""

_Parts = tuple[str, ...]


class PageFiles(Engine):
    """Transcriptions of the dataset's pages that another program wrote, one file per page.

    The model string is ``replay:NAME=FOLDER``; in runs and reports its name is NAME. Formats are
    text, PAGE-XML, ALTO and hOCR (`read_result`). A page without a file is a failure, a file
    without text an empty answer. All files are read when it is opened, so that damage is reported
    before anything is scored.

    Raises:
        UsageError: the name is not valid, there is no such folder, or it has no result for any
            page of the dataset.
        DataError: a file is damaged or in an unknown encoding, or the names are ambiguous.
    """

    def __init__(self, spelling: str, options: ModelOptions, access: DatasetAccess) -> None:
        del options
        self.name, self._root = check_results(spelling)
        if access.pages_of is None:
            raise UsageError("replay:{}: results of pages need a dataset, in keju run", spelling)
        self._index = PageIndex(access.pages_of())
        unused: list[str] = []
        others: list[str] = []
        marginal, beginnings = 0, list[str]()
        with logging_import() as log:
            for path in files_under(self._root, SUFFIXES):
                inside = PurePosixPath(path.relative_to(self._root).as_posix())
                form = form_of(path)
                if not form:
                    others.append(str(inside))
                    continue
                result = read_result(path, form)
                if not self._index.add(path, inside, form):
                    unused.append(str(inside))
                marginal += len(result.marginal)
                if len(beginnings) < _MOST_SHOWN:
                    beginnings += (
                        f"{printable(line.source_kind)}: {beginning_of(line.text)}"
                        for line in result.marginal
                    )
            notes = [*self._index.notes(self._root, unused, others), *log.notes()]
        if marginal:
            notes.append(
                _(
                    "lines that the files declare as marginal (header, page number, seal …), which "
                    "are stored separately from the text ({:,}): {}",
                    marginal,
                    listed(beginnings[:_MOST_SHOWN]),
                )
            )
        self.notes = tuple(_("{}: {}", self.name, note) for note in notes)
        # The kind alone: each response is bound to its own file (`source_of`).
        self.identity = {"kind": RESULTS}

    def source_of(self, request: Request) -> str:
        """The SHA-256 of the file of the request's image, or of those of all its images.

        Empty where no image has a file.
        """
        files = [self._index.find(request, index) for index in range(len(request.images))]
        hashes = [file[2] if file else "" for file in files]
        if len(hashes) < 2 or not any(hashes):
            return "".join(hashes)
        return sha256_bytes("\n".join(hashes).encode())

    async def read_page(self, request: Request, images: Sequence[bytes], index: int) -> PageReading:
        """The content of the file of an image, which is not needed itself."""
        del images
        file = self._index.find(request, index)
        if file is None:
            raise AskError(MISSING, _("{} has no result file for this page", self.name))
        inside, form, sha256 = file
        path = self._root / inside
        try:
            with logging_import():
                result = read_result(path, form, request.images[index])
            unchanged = sha256_file(path) == sha256
        except (DataError, OSError) as error:
            raise AskError("bad-response", str(error)) from None
        if not unchanged:
            raise AskError("bad-response", _("{}: the file changed while it was read", path))
        lines = [replace(line, source_kind="") for line in result.lines]
        return PageReading(lines, text=result.text)

    async def close(self) -> None:
        """Delete the temporary index."""
        self._index.close()


def check_results(spelling: str) -> tuple[str, Path]:
    """The engine's name and the folder of its results, from ``NAME=FOLDER``.

    Raises:
        UsageError: the name is not valid, or there is no such folder.
    """
    name, __, folder = spelling.partition("=")
    name = name.strip()
    if not _NAME.fullmatch(name) or name.casefold() in {PYTHON, *MODELS}:
        raise UsageError(
            "replay:{}=…: not a name for a report, or keju runs a model of this name. Use 1 to 60 "
            "characters without / : = \\, as in replay:Transkribus=FOLDER",
            name,
        )
    check_local(folder, "replay:")
    if not folder or not Path(folder).is_dir():
        raise UsageError(
            "replay:{}: {} is not a folder; as in replay:Transkribus=FOLDER",
            spelling,
            folder or _("nothing"),
        )
    return name, Path(folder)


class PageIndex(DiskIndex):
    """The pages of a dataset by their names, and the result file of each, on disk.

    A file belongs to the page with its name: that of the image in the source, of the item, of
    keju's exports, or of the image in the dataset. Folders called ``page``, ``alto`` and the like
    are ignored.
    """

    def __init__(self, pages: Iterable[NamedPage]) -> None:
        super().__init__(
            "CREATE TABLE pages (page INTEGER PRIMARY KEY, item, task, number, image, inside, "
            "form, sha256)",
            # One row for each end of a name: its last part, its last two parts … `size` is the
            # number of all its parts, and 0 for a name that only a file without a directory has.
            "CREATE TABLE names (end, size, page INTEGER)",
        )
        self._pages = 0
        for page in pages:
            self._pages += 1
            self.rows(
                "INSERT INTO pages (page, item, task, number, image) VALUES (?, ?, ?, ?, ?)",
                self._pages, page.item, page.task, page.number, page.image.sha256,
            )  # fmt: skip
            names = [(path, len(path)) for path in map(_without_format_folder, page.names)]
            for parts, size in (*names, *(((name,), 0) for name in page.alone)):
                for shared in range(1, len(parts) + 1):
                    row = (_end(parts, shared), size, self._pages)
                    self.rows("INSERT INTO names VALUES (?, ?, ?)", *row)
        for index in ("name ON names (end)", "item ON pages (item)", "image ON pages (image)"):
            self.rows(f"CREATE INDEX by_{index}")

    def add(self, path: Path, inside: PurePosixPath, form: str) -> bool:
        """Add a result file to the page of its name; return whether there is such a page.

        Raises:
            DataError: it fits two pages, its page has another file, or the pages of a scan are
                numbered from 0.
        """
        pages = self._find_pages(_names_of(inside))
        if not pages:
            self._check_numbers(path, inside)
            return False
        places = ", ".join(map(str, pages))
        rows = self.rows(f"SELECT item, image, inside FROM pages WHERE page IN ({places})")  # noqa: S608
        if len({image for __, image, __ in rows}) > 1:
            raise DataError(
                "the name fits several pages: {}",
                join_names(sorted({item for item, __, __ in rows}), most=3),
                file=path,
                hint="Put the file into a folder named like that of its page, for example "
                "BOOK/PAGE",
            )
        for item, __, earlier in rows:
            if earlier:
                raise DataError(
                    "two results for one page: {} and {}",
                    earlier,
                    inside,
                    file=path,
                    item=f"page {item}",
                    hint="Keep one of them, or give the folder of one form, such as FOLDER/page",
                )
        self.rows(
            f"UPDATE pages SET inside = ?, form = ?, sha256 = ? WHERE page IN ({places})",  # noqa: S608
            str(inside), form, sha256_file(path),
        )  # fmt: skip
        return True

    def _check_numbers(self, path: Path, inside: PurePosixPath) -> None:
        """Check that a file is not page 0 of a scan: its page 1 would be the second one."""
        for scan, number in scan_pages(inside):
            first = (*_without_format_folder(scan.parts), scan_page(1))
            if number == 0 and self._find_pages([first]):
                raise DataError(
                    "the results of {} are numbered from 0",
                    scan,
                    file=path,
                    hint="Number the results like the pages, from 1 on",
                )

    def _find_pages(self, names: Iterable[_Parts]) -> list[int]:
        """The numbers of the pages that fit best the first of some names that fits any page.

        The fit is better where more parts are equal, counted from the end, then where both paths
        have only these parts.
        """
        for parts in names:
            for shared in range(len(parts), 0, -1):
                rows = self.rows("SELECT size, page FROM names WHERE end = ?", _end(parts, shared))
                fits = [
                    (max(size, 1) == len(parts), page)
                    for size, page in rows
                    if shared in (size, len(parts))
                ]
                if fits:
                    return [page for is_whole, page in fits if is_whole == max(fits)[0]]
        return []

    def notes(self, root: Path, unused: list[str], others: list[str]) -> Iterator[str]:
        """Lines for the user: which pages have files, and which results are not used.

        Raises:
            UsageError: no page has a file.
        """
        rows = self.rows("SELECT item FROM pages WHERE inside IS NULL ORDER BY page")
        missing = [item for (item,) in rows]
        without_file = join_names(dict.fromkeys(missing))
        if len(missing) == self._pages:
            raise UsageError(
                "{}: no .txt, PAGE-XML, ALTO or hOCR file is named like a page of the dataset. "
                "Files: {}. Pages: {}. Name the files, and their folders, like the images of the "
                "pages",
                root,
                join_names(unused or others, most=3) or _("none"),
                without_file or _("none"),
            )
        forms = self.rows(
            "SELECT count(DISTINCT inside), form FROM pages WHERE inside <> '' GROUP BY form "
            "ORDER BY form"
        )
        pages_with_file, counts = (
            self._pages - len(missing),
            listed(f"{count:,} {form}" for count, form in forms),
        )
        yield _("results for {:,} of {:,} pages (files: {})", pages_with_file, self._pages, counts)
        if missing:
            yield _("pages without a result file ({:,}): {}", len(missing), without_file)
        if unused:
            yield _("files that no page is named like ({:,}): {}", len(unused), join_names(unused))

    def find(self, request: Request, index: int) -> tuple[str, str, str] | None:
        """The file of an image of a request, its format and its SHA-256, if it has one.

        An image of another item, as of a pipeline, has the file of the page with that image if
        there is only one.
        """
        files = self.rows(
            "SELECT inside, form, sha256 FROM pages WHERE item = ? AND task = ? AND number = ? "
            "AND inside <> ''",
            request.item, request.task, index + 1,
        ) or self.rows(
            "SELECT DISTINCT inside, form, sha256 FROM pages WHERE image = ? AND inside <> ''",
            request.images[index].sha256,
        )  # fmt: skip
        return files[0] if len(files) == 1 else None


def _names_of(inside: PurePosixPath) -> Iterator[_Parts]:
    """Yield the page names that a path can mean: a page, or a scan with the number of a page."""
    stem = inside.with_suffix("")
    yield _without_format_folder(stem.parts)
    if stem.suffix.casefold().lstrip(".") in _SECOND_SUFFIXES:
        yield _without_format_folder(stem.with_suffix("").parts)
    for scan, number in scan_pages(inside):
        yield (*_without_format_folder(scan.parts), scan_page(number))


def _without_format_folder(parts: _Parts) -> _Parts:
    """The path without a folder that is named after a format: ``book/p1`` for ``book/page/p1``."""
    if len(parts) > 1 and parts[-2].casefold() in EXPORT_FOLDERS:
        return (*parts[:-2], parts[-1])
    return parts


def _end(parts: _Parts, shared: int) -> str:
    """The last parts of a name, as they are compared."""
    name = unicodedata.normalize("NFC", "/".join(parts[-shared:])).casefold()
    return unicodedata.normalize("NFC", name)

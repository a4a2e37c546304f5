"""`PageFiles`: transcriptions of an OCR engine that keju does not run, as an engine of a run.

A file belongs to the page that has its name. Names are compared without case, in Unicode NFC, and
folder by folder from the end: the path of a file can have more or fewer folders than the page in
its source, but the common part must be equal. A file with the name of no page belongs to the page
whose image it names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec.structs import replace

from keju.datasets.page_names import NamedPage, scan_page
from keju.datasets.readers.base import files_under, join_names
from keju.datasets.readers.import_log import beginning_of, logging_import, printable
from keju.datasets.readers.pages.page_items import (
    EXPORT_FOLDERS,
    SUFFIXES,
    PageResult,
    form_of,
    read_result,
)
from keju.datasets.readers.pages.scans import scan_pages
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, sha256_file
from keju.images import EXTENSIONS
from keju.items import ImageRef, Request
from keju.local_paths import check_local
from keju.models.base import MISSING, PYTHON, RESULTS, AskError, DatasetAccess, ModelOptions
from keju.models.disk_index import DiskIndex
from keju.models.engine import Engine, PageReading
from keju.models.registry import MODELS
from keju.texts import _, listed, n_

_NAME = re.compile(r"[^\x00-\x1f\x7f:=/\\]{1,60}")
_IMAGES = frozenset({*EXTENSIONS, "pdf"})
_SECOND_SUFFIXES = frozenset({*_IMAGES, *EXPORT_FOLDERS, "ocr", "pred", "text"})
"""Suffixes before the last one: ``p1.jpg.txt``, ``p1.alto.xml``."""

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
        self.name, root = check_results(spelling)
        if access.pages_of is None:
            raise UsageError("replay:{}: results of pages need a dataset, in keju run", spelling)
        self._root = root
        self._index = PageIndex(access.pages_of())
        with logging_import() as log:
            for path in files_under(root, SUFFIXES):
                inside = PurePosixPath(path.relative_to(root).as_posix())
                form = form_of(path)
                if form.name:
                    result = read_result(path, form.name)
                    self._index.add(path, inside, form.name, result, sha256_file(path))
                else:
                    self._index.rows("INSERT INTO others VALUES (?)", f"{inside} ({form.other})")
            log_notes = tuple(log.notes())
        self._index.check(root)
        self.notes = tuple(
            _("{}: {}", self.name, note) for note in (*self._index.notes(), *log_notes)
        )
        # The kind alone: each response is bound to its own file (`source_of`).
        self.identity = {"kind": RESULTS}

    def source_of(self, request: Request) -> str:
        """The SHA-256 of the file of the request's image, or of those of all its images.

        Empty where no image has a file.
        """
        files = [self._index.find(request, index) for index in range(len(request.images))]
        hashes = [file.sha256 if file else "" for file in files]
        if not any(hashes):
            return ""
        return hashes[0] if len(hashes) == 1 else sha256_bytes("\n".join(hashes).encode())

    async def read_page(self, request: Request, images: Sequence[bytes], index: int) -> PageReading:
        """The content of the file of an image, which is not needed itself.

        Raises:
            AskError: the image has no file (``missing-answer``), or the file is damaged or was
                changed after it was opened (``bad-response``).
        """
        del images
        file = self._index.find(request, index)
        if file is None:
            raise AskError(MISSING, _("{} has no result file for this page", self.name))
        path = self._root / file.inside
        try:
            with logging_import():
                result = read_result(path, file.form)
            unchanged = sha256_file(path) == file.sha256
        except (DataError, OSError) as error:
            raise AskError("bad-response", str(error)) from None
        if not unchanged:
            raise AskError("bad-response", _("{}: the file changed while it was read", path))
        lines = [replace(line, source_kind="") for line in result.lines_on(request.images[index])]
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
    if not _NAME.fullmatch(name):
        raise UsageError(
            "replay:{}=…: not a name for a report. Use 1 to 60 characters without / : = \\, as "
            "in replay:Transkribus=FOLDER",
            name,
        )
    if name.casefold() in {PYTHON, *MODELS}:
        raise UsageError("replay:{}=…: keju runs a model of this name. Choose another one", name)
    check_local(folder, "replay:")
    root = Path(folder)
    if not folder or not root.is_dir():
        raise UsageError(
            "replay:{}: {} is not a folder; as in replay:Transkribus=FOLDER",
            spelling,
            folder or _("nothing"),
        )
    return name, root


class PageFile(NamedTuple):
    """A result file: its path inside the folder, its format, and its SHA-256."""

    inside: str
    form: str
    sha256: str


class _Match(NamedTuple):
    """A page that a name fits, by its number in the index.

    `fit` is larger where more parts are equal, counted from the end, then where both paths have
    only these parts, then where case and Unicode form are equal too. `likely` is 0 for the
    likeliest name of the page, and negative for others.
    """

    fit: int
    likely: int
    page: int
    item: str
    image: ImageRef


class PageIndex(DiskIndex):
    """The pages of a dataset by their names, and the result file of each, on disk.

    A file belongs to the page with its name: that of the image in the source, of the item, of
    keju's exports, or of the image in the dataset. Folders called ``page``, ``alto`` and the like
    are ignored.
    """

    def __init__(self, pages: Iterable[NamedPage]) -> None:
        super().__init__(
            "pages (page INTEGER PRIMARY KEY, item, task, number, image, width, height, "
            "fit DEFAULT 0, file INTEGER, second_file INTEGER, unplaced)",
            # One row for each end of a name: its last part, its last two parts … `size` is the
            # number of all its parts, and 0 for a name that only a file without a directory has.
            "names (folded, end, size, likely, page INTEGER)",
            "files (file INTEGER PRIMARY KEY, inside, form, sha256, other_image)",
            "marginal_lines (file INTEGER, line)",
            "others (name)",
        )
        self._files = 0
        for number, page in enumerate(pages):
            self._add_page(number, page)
        for index in ("name ON names (folded)", "item ON pages (item)", "image ON pages (image)"):
            self.rows(f"CREATE INDEX by_{index}")

    def _add_page(self, number: int, page: NamedPage) -> None:
        image = page.image
        self.rows(
            "INSERT INTO pages (page, item, task, number, image, width, height) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            number, page.item, page.task, page.number, image.sha256, image.width, image.height,
        )  # fmt: skip
        paths = map(_without_format_folder, page.names)
        names = [(parts, len(parts)) for parts in paths] + [((stem,), 0) for stem in page.alone]
        self.insert(
            "INSERT INTO names VALUES (?, ?, ?, ?, ?)",
            (
                (_fold(end), end, size, -rank, number)
                for rank, (parts, size) in enumerate(names)
                for end in ("/".join(parts[start:]) for start in range(len(parts)))
            ),
        )

    def add(
        self, path: Path, inside: PurePosixPath, form: str, result: PageResult, sha256: str
    ) -> None:
        """Add a result file, and find its page.

        Raises:
            DataError: it fits two pages equally well, or the pages of a scan are numbered from 0.
        """
        matches = self._find_pages(_own_names(inside))
        stated = self._find_pages(_stated_names(inside, result.image_name))
        pages = {match.page for match in matches}
        contradicts = bool(matches and stated and pages.isdisjoint(match.page for match in stated))
        if not matches:
            self._check_numbers(path, inside)
            matches = stated
        if len({match.image.sha256 for match in matches}) > 1:
            raise DataError(
                "the name fits several pages: {}",
                join_names(sorted({match.item for match in matches}), most=3),
                file=path,
                hint="Put the file into a folder named like that of its page, for example "
                "BOOK/PAGE",
            )
        self._files += 1
        self.rows(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?)",
            self._files, str(inside), form, sha256,
            result.image_name if contradicts else None,
        )  # fmt: skip
        self.insert(
            "INSERT INTO marginal_lines VALUES (?, ?)",
            (
                (self._files, f"{inside} {printable(line.source_kind)} {beginning_of(line.text)}")
                for line in result.marginal
            ),
        )
        for match in matches:
            self.rows(
                "UPDATE pages SET second_file = CASE fit WHEN ?1 THEN ifnull(second_file, ?2) END, "
                "file = CASE fit WHEN ?1 THEN file ELSE ?2 END, fit = ?1, unplaced = ?3 "
                "WHERE page = ?4 AND fit <= ?1",
                match.fit, self._files, result.is_unplaced_on(match.image), match.page,
            )  # fmt: skip

    def _find_pages(self, names: Iterable[_Parts]) -> list[_Match]:
        """The pages that fit best the first of some names that fits any page."""
        for parts in names:
            for shared in range(len(parts), 0, -1):
                end = "/".join(parts[-shared:])
                matches = [
                    _Match(
                        4 * shared + 2 * (max(size, 1) == len(parts)) + (name == end),
                        likely,
                        page,
                        item,
                        ImageRef(path="", sha256=image, width=width, height=height, size=0),
                    )
                    for name, size, likely, page, item, image, width, height in self.iterate(
                        "SELECT end, size, likely, page, item, image, width, height "
                        "FROM names JOIN pages USING (page) WHERE folded = ?",
                        _fold(end),
                    )
                    if shared in (size, len(parts))
                ]
                if matches:
                    best = max(match[:2] for match in matches)
                    return [match for match in matches if match[:2] == best]
        return []

    def _check_numbers(self, path: Path, inside: PurePosixPath) -> None:
        """Check that a file is not page 0 of a scan: its page 1 would be the second one.

        Raises:
            DataError: it is, as ImageMagick numbers pages.
        """
        for scan, number in scan_pages(inside):
            first = (*_without_format_folder(scan.parts), scan_page(1))
            if number == 0 and self._find_pages([first]):
                raise DataError(
                    "the results of {} are numbered from 0",
                    scan,
                    file=path,
                    hint="Number the results like the pages, from 1 on",
                )

    def check(self, root: Path) -> None:
        """Check that pages have files, and none has two.

        Raises:
            DataError: two files fit one page equally well.
            UsageError: no page has a file.
        """
        for item, first, second in self.rows(
            "SELECT item, first.inside, second.inside FROM pages JOIN files AS first USING (file) "
            "JOIN files AS second ON second.file = second_file ORDER BY page LIMIT 1"
        ):
            raise DataError(
                "two results for one page: {} and {}",
                first,
                second,
                file=root / first,
                item=f"page {item}",
                hint="Keep one of them, or give the folder of one form, for example FOLDER/page",
            )
        if self._count("pages WHERE file IS NOT NULL"):
            return
        if not self._files:
            names = self._names("name FROM others", most=3)
            content = _(". Found: {}", names) if self._count("others") else ""
            raise UsageError("{} contains no .txt, PAGE-XML, ALTO or hOCR file{}", root, content)
        if not self._count("pages"):
            raise UsageError("{}: the dataset has no pages to transcribe", root)
        raise UsageError(
            "{}: none of the files is named like a page of the dataset. Files: {}. Pages: {}. Name "
            "the files, and their folders, like the images of the pages",
            root,
            self._names("inside FROM files", most=3),
            self._names("DISTINCT item FROM pages"),
        )

    def notes(self) -> Iterator[str]:
        """Lines for the user: which pages have files, and what of the files is not used."""
        self.rows("CREATE INDEX by_file ON pages (file)")
        unused = "files WHERE NOT EXISTS (SELECT * FROM pages WHERE pages.file = files.file)"
        used = "file IN (SELECT file FROM pages)"
        forms = self.rows(
            f"SELECT form, count(*) FROM files WHERE {used} GROUP BY form ORDER BY form"  # noqa: S608
        )
        yield n_(
            "results for {:,} of {n:,} page (files: {})",
            "results for {:,} of {n:,} pages (files: {})",
            self._count("pages"),
            self._count("pages WHERE file IS NOT NULL"),
            listed(f"{count:,} {form}" for form, count in forms),
        )
        if count := self._count("pages WHERE file IS NULL"):
            yield n_(
                "{n:,} page has no result file: {}",
                "{n:,} pages have no result file: {}",
                count,
                self._names("DISTINCT item FROM pages WHERE file IS NULL ORDER BY page"),
            )
        if count := self._count(unused):
            yield n_(
                "{n:,} file not used, because no page has this name: {}",
                "{n:,} files not used, because no page has this name: {}",
                count,
                self._names(f"inside FROM {unused} ORDER BY file"),
            )
        if count := self._count(other := f"files WHERE other_image IS NOT NULL AND {used}"):
            yield n_(
                "{n:,} file is named like one page but contains the image name of another page (in "
                "parentheses). The file name is used: {}",
                "{n:,} files are named like one page but contain the image name of another page "
                "(in parentheses). The file name is used: {}",
                count,
                self._names(f"inside || ' (' || substr(other_image, 1, 80) || ')' FROM {other}"),
            )
        if count := self._count("others"):
            yield n_(
                "{n:,} file in other formats skipped: {}",
                "{n:,} files in other formats skipped: {}",
                count,
                self._names("name FROM others"),
            )
        if count := self._count(f"marginal_lines WHERE {used}"):
            yield n_(
                "{n:,} line that the files declare as marginal (header, page number, seal …) is "
                "stored separately from the text: {}",
                "{n:,} lines that the files declare as marginal (header, page number, seal …) are "
                "stored separately from the text: {}",
                count,
                self._names(f"line FROM marginal_lines WHERE {used}"),
            )
        if count := self._count("pages WHERE unplaced"):
            yield n_(
                "the lines of {n:,} page have no position, because the files describe an image "
                "with another aspect ratio: {}",
                "the lines of {n:,} pages have no position, because the files describe an image "
                "with another aspect ratio: {}",
                count,
                self._names("DISTINCT item FROM pages WHERE unplaced ORDER BY page"),
            )

    def _count(self, records: str) -> int:
        ((count,),) = self.rows(f"SELECT count(*) FROM {records}")  # noqa: S608
        return int(count)

    def _names(self, records: str, most: int = 5) -> str:
        """A few of the texts that a query gives, and how many more there are."""
        return join_names((name for (name,) in self.iterate(f"SELECT {records}")), most)

    def find(self, request: Request, index: int) -> PageFile | None:
        """The file of an image of a request, if it has one.

        An image of another item, as of a pipeline, has the file of the page with that image if
        there is only one.
        """
        files = self.rows(
            "SELECT inside, form, sha256 FROM files WHERE file IN "
            "(SELECT file FROM pages WHERE item = ? AND task = ? AND number = ?)",
            request.item, request.task, index + 1,
        ) or self.rows(
            "SELECT inside, form, sha256 FROM files WHERE file IN "
            "(SELECT file FROM pages WHERE image = ?) LIMIT 2",
            request.images[index].sha256,
        )  # fmt: skip
        return PageFile(*files[0]) if len(files) == 1 else None


def _own_names(inside: PurePosixPath) -> Iterator[_Parts]:
    """Yield the page names that a path can mean: a page, or a scan with the number of a page."""
    stem = inside.with_suffix("")
    yield _without_format_folder(stem.parts)
    if stem.suffix.casefold().lstrip(".") in _SECOND_SUFFIXES:
        yield _without_format_folder(stem.with_suffix("").parts)
    for scan, number in scan_pages(inside):
        yield (*_without_format_folder(scan.parts), scan_page(number))


def _stated_names(inside: PurePosixPath, image_name: str) -> Iterator[_Parts]:
    """Yield the page names that the image name in a file can mean.

    It can be a path, a name in the folder of the file, or a name without a folder. It comes from
    the content of a file, so it is compared only and never opened as a path.
    """
    plain = image_name.partition("?")[0].replace("\\", "/").replace("\0", "")
    path = PurePosixPath(plain[:1000])
    if not path.name:
        return
    stem = path.stem if path.suffix.casefold().lstrip(".") in _IMAGES else path.name
    # If the image name is that of the file, the folder of the file decides between pages of that
    # name.
    other = _fold(stem) not in {_fold(name[-1]) for name in _own_names(inside) if name}
    if other or len(path.parts) > 1:
        yield (*path.parts[:-1], stem)
    yield _without_format_folder((*inside.parts[:-1], stem))
    if other:
        yield (stem,)


def _without_format_folder(parts: _Parts) -> _Parts:
    """The path without a folder that is named after a format: ``book/p1`` for ``book/page/p1``."""
    if len(parts) > 1 and parts[-2].casefold() in EXPORT_FOLDERS:
        return (*parts[:-2], parts[-1])
    return parts


def _fold(part: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold())

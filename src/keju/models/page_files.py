"""`PageFiles`: transcriptions of an OCR engine that keju does not run, as an engine of a run.

A file belongs to the page that has its name. Names are compared without case, in Unicode NFC, and
folder by folder from the end: the path of a file can have more or fewer folders than the page in
its source, but the common part must be equal. A file with the name of no page belongs to the page
whose image it names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec.structs import replace

from keju.datasets.page_names import NamedPage, scan_page
from keju.datasets.readers.base import files_under, join_names
from keju.datasets.readers.import_log import beginning_of, logging_import, printable
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.page_items import EXPORT_FOLDERS
from keju.datasets.readers.pages.result_files import SUFFIXES, PageResult, form_of, read_result
from keju.datasets.readers.pages.scans import scan_pages
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, sha256_file
from keju.images import EXTENSIONS
from keju.items import Line, Request
from keju.local_paths import check_local
from keju.models.base import (
    MISSING,
    PYTHON,
    RESULTS,
    Answer,
    AskError,
    DatasetAccess,
    Model,
    ModelOptions,
    status_of,
)
from keju.models.registry import MODELS
from keju.models.request_pixels import unsupported_page_reason
from keju.texts import _, listed, n_

_NAME = re.compile(r"[^\x00-\x1f\x7f:=/\\]{1,60}")
_IMAGES = frozenset({*EXTENSIONS, "pdf"})
_SECOND_SUFFIXES = frozenset({*_IMAGES, *EXPORT_FOLDERS, "ocr", "pred", "text"})
"""Suffixes before the last one: ``p1.jpg.txt``, ``p1.alto.xml``."""

_Parts = tuple[str, ...]


class ResultFile(NamedTuple):
    """A result file: its path inside the folder, its format, and the image name in it."""

    path: Path
    inside: PurePosixPath
    form: str = ""
    image_name: str = ""


class Matches(NamedTuple):
    """The result file of each page, the unused files, and files with a contradictory image name.

    `other_image` are files whose own name is that of one page, but whose image name is that of
    another page. The own name decides.
    """

    files: dict[NamedPage, ResultFile]
    unused: list[ResultFile]
    other_image: list[ResultFile]


class PageFiles(Model):
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
        pages = access.pages_of()
        with logging_import() as log:
            contents, others = _read_folder(root)
            log_notes = tuple(log.notes())
        matches = match_files(list(contents), pages)
        if not matches.files:
            raise _nothing_matches(root, contents, others, pages)
        self._files = {
            (page.task, page.item, page.number): file for page, file in matches.files.items()
        }
        self._by_image = _by_image(matches)
        self._hashes = {file.path: sha256_file(file.path) for file in {*matches.files.values()}}
        notes = (
            *_match_notes(matches, pages, others),
            *_content_notes(matches, contents),
            *log_notes,
        )
        self.notes = tuple(_("{}: {}", self.name, note) for note in notes)
        # The kind alone: each response is bound to its own file (`source_of`).
        self.identity = {"kind": RESULTS}

    def unsupported_reason(self, request: Request) -> str:
        """Supports only the transcription of images."""
        return unsupported_page_reason(request)

    def source_of(self, request: Request) -> str:
        """The SHA-256 of the file of the request's image, or of those of all its images.

        Empty where no image has a file.
        """
        files = self._files_of(request)
        hashes = [self._hashes[file.path] if file else "" for file in files]
        if not any(hashes):
            return ""
        return hashes[0] if len(hashes) == 1 else sha256_bytes("\n".join(hashes).encode())

    def _files_of(self, request: Request) -> list[ResultFile | None]:
        """The file of each image of a request, if it has one."""
        return [
            self._files.get((request.task, request.item, number))
            or self._by_image.get(image.sha256)
            for number, image in enumerate(request.images, start=1)
        ]

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The text of the files of the request's images, one after the other.

        Raises:
            AskError: an image has no file (``missing-answer``), or the file is damaged or was
                changed after it was opened (``bad-response``).
        """
        del images
        texts: list[str] = []
        lines: list[Line] = []
        files = zip(request.images, self._files_of(request), strict=True)
        for number, (image, file) in enumerate(files, start=1):
            if file is None:
                raise AskError(MISSING, _("{} has no result file for this page", self.name))
            result = self._read(file)
            prefix = f"{number}-" if len(request.images) > 1 else ""
            texts.append(result.text)
            lines += [
                replace(line, id=f"{prefix}{place}", source_kind="")
                for place, line in enumerate(result.lines_on(image), start=1)
            ]
        text = "\n".join(filter(None, texts))
        return Answer(text=text, status=status_of(text), lines=tuple(lines))

    def _read(self, file: ResultFile) -> PageResult:
        try:
            with logging_import():
                result = read_result(file.path, file.form)
            unchanged = sha256_file(file.path) == self._hashes[file.path]
        except (DataError, OSError) as error:
            raise AskError("bad-response", str(error)) from None
        if not unchanged:
            raise AskError("bad-response", _("{}: the file changed while it was read", file.path))
        return result


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


def _read_folder(root: Path) -> tuple[dict[ResultFile, PageResult], list[str]]:
    """The files with results and their content without the text, and the files in other formats."""
    contents: dict[ResultFile, PageResult] = {}
    others: dict[str, str] = {}
    for path in files_under(root, SUFFIXES):
        inside = PurePosixPath(path.relative_to(root).as_posix())
        form = form_of(path)
        if form.name:
            result = read_result(path, form.name)
            file = ResultFile(path, inside, form.name, result.image_name)
            contents[file] = result.summary
        else:
            others[inside.as_posix()] = form.other
    for inside in Listing(root).files:
        suffix = inside.suffix.casefold().lstrip(".")
        if suffix not in {*SUFFIXES, *EXTENSIONS}:
            others[inside.as_posix()] = f".{suffix}" if suffix else "no ending"
    return contents, [f"{name} ({what})" for name, what in others.items()]


def match_files(files: Sequence[ResultFile], pages: Sequence[NamedPage]) -> Matches:
    """Find the file of each page.

    A file belongs to the page with its name: that of the image in the source, of the item, of
    keju's exports, or of the image in the dataset. Folders called ``page``, ``alto`` and the like
    are ignored.

    Raises:
        DataError: two files fit one page equally well, or one file two pages, or the pages of a
            scan are numbered from 0.
    """
    names = _Names(pages)
    candidates: dict[NamedPage, list[tuple[_Fit, ResultFile]]] = defaultdict(list)
    other_image: list[ResultFile] = []
    for file in files:
        by_name = _best_pages(file, names.first_fits(_own_names(file.inside)))
        if not by_name:
            _check_numbers(file, names)
        by_image = names.first_fits(_stated_names(file))
        if by_name and by_image and not by_name.keys() & by_image.keys():
            other_image.append(file)
        for page, fit in (by_name or _best_pages(file, by_image)).items():
            candidates[page].append((fit, file))
    matches = {page: _best_file(page, fitting) for page, fitting in candidates.items()}
    used = {*matches.values()}
    unused = [file for file in files if file not in used]
    return Matches(matches, unused, [file for file in other_image if file in used])


class _Fit(NamedTuple):
    """How well a name fits a page; larger is better.

    `shared` is the number of equal parts, counted from the end; `whole` means that both paths have
    only these parts; `exact` that case and Unicode form are equal too; `likely` is 0 for the
    likeliest name of the page, and negative for others.
    """

    shared: int
    whole: bool
    exact: bool
    likely: int


class _Names:
    """The names of all pages, indexed by their last part."""

    def __init__(self, pages: Iterable[NamedPage]) -> None:
        self._names: dict[str, list[tuple[_Parts, NamedPage, int]]] = defaultdict(list)
        self._alone: dict[str, list[tuple[_Parts, NamedPage, int]]] = defaultdict(list)
        for page in pages:
            for place, name in enumerate(page.names):
                parts = _without_format_folder(name)
                self._names[_fold(parts[-1])].append((parts, page, -place))
            for place, stem in enumerate(page.alone, start=len(page.names)):
                self._alone[_fold(stem)].append(((stem,), page, -place))

    def first_fits(self, names: Iterator[_Parts]) -> dict[NamedPage, _Fit]:
        """The pages that the first name fits that fits any, each with its fit."""
        return next(filter(None, (self._fits(name) for name in names if name and name[-1])), {})

    def _fits(self, name: _Parts) -> dict[NamedPage, _Fit]:
        last, fits = _fold(name[-1]), dict[NamedPage, _Fit]()
        alone = self._alone.get(last, ()) if len(name) == 1 else ()
        for parts, page, likely in (*self._names.get(last, ()), *alone):
            shared = min(len(name), len(parts))
            own, other = name[-shared:], parts[-shared:]
            if [*map(_fold, own)] == [*map(_fold, other)]:
                fit = _Fit(shared, len(name) == len(parts), own == other, likely)
                fits[page] = max(fit, fits.get(page, fit))
        return fits


def _best_pages(file: ResultFile, fits: dict[NamedPage, _Fit]) -> dict[NamedPage, _Fit]:
    """The pages that a file fits best; several only if they show the same image.

    Raises:
        DataError: several pages with different images fit equally well.
    """
    most = max(fits.values(), default=None)
    best = {page: fit for page, fit in fits.items() if fit == most}
    if len({page.image.sha256 for page in best}) > 1:
        raise DataError(
            "the name fits several pages: {}",
            join_names(sorted({page.item for page in best}), most=3),
            file=file.path,
            hint="Put the file into a folder named like that of its page, for example BOOK/PAGE",
        )
    return best


def _best_file(page: NamedPage, fitting: list[tuple[_Fit, ResultFile]]) -> ResultFile:
    """The file that fits a page best.

    Raises:
        DataError: several fit equally well.
    """
    most = max(fit[:3] for fit, _ in fitting)
    first, *others = [file for fit, file in fitting if fit[:3] == most]
    if others:
        raise DataError(
            "two results for one page: {} and {}",
            first.inside,
            others[0].inside,
            file=first.path,
            item=f"page {page.item}",
            hint="Keep one of them, or give the folder of one form, for example FOLDER/page",
        )
    return first


def _own_names(inside: PurePosixPath) -> Iterator[_Parts]:
    """Yield the page names that a path can mean: a page, or a scan with the number of a page."""
    stem = inside.with_suffix("")
    yield _without_format_folder(stem.parts)
    if stem.suffix.casefold().lstrip(".") in _SECOND_SUFFIXES:
        yield _without_format_folder(stem.with_suffix("").parts)
    for scan, number in scan_pages(inside):
        yield (*_without_format_folder(scan.parts), scan_page(number))


def _check_numbers(file: ResultFile, names: _Names) -> None:
    """Check that a file is not page 0 of a scan: its page 1 would be the second one.

    Raises:
        DataError: it is, as ImageMagick numbers pages.
    """
    for scan, number in scan_pages(file.inside):
        first = (*_without_format_folder(scan.parts), scan_page(1))
        if number == 0 and names.first_fits(iter([first])):
            raise DataError(
                "the results of {} are numbered from 0",
                scan,
                file=file.path,
                hint="Number the results like the pages, from 1 on",
            )


def _stated_names(file: ResultFile) -> Iterator[_Parts]:
    """Yield the page names that the image name in a file can mean.

    It can be a path, a name in the folder of the file, or a name without a folder. It comes from
    the content of a file, so it is compared only and never opened as a path.
    """
    plain = file.image_name.partition("?")[0].replace("\\", "/").replace("\0", "")
    path = PurePosixPath(plain[:1000])
    if not path.name:
        return
    stem = path.stem if path.suffix.casefold().lstrip(".") in _IMAGES else path.name
    # If the image name is that of the file, the folder of the file decides between pages of that
    # name.
    other = _fold(stem) not in {_fold(name[-1]) for name in _own_names(file.inside) if name}
    if other or len(path.parts) > 1:
        yield (*path.parts[:-1], stem)
    yield _without_format_folder((*file.inside.parts[:-1], stem))
    if other:
        yield (stem,)


def _without_format_folder(parts: _Parts) -> _Parts:
    """The path without a folder that is named after a format: ``book/p1`` for ``book/page/p1``."""
    if len(parts) > 1 and parts[-2].casefold() in EXPORT_FOLDERS:
        return (*parts[:-2], parts[-1])
    return parts


def _fold(part: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold())


def _by_image(matches: Matches) -> dict[str, ResultFile]:
    """The file of each image that has only one; a pipeline looks up images and not items."""
    files: dict[str, set[ResultFile]] = defaultdict(set)
    for page, file in matches.files.items():
        files[page.image.sha256].add(file)
    return {sha256: file for sha256, (file, *others) in files.items() if not others}


def _nothing_matches(
    root: Path, files: Iterable[ResultFile], others: list[str], pages: Sequence[NamedPage]
) -> UsageError:
    if not (names := [file.inside.as_posix() for file in files]):
        found = _(". Found: {}", join_names(others, most=3)) if others else ""
        return UsageError("{} contains no .txt, PAGE-XML, ALTO or hOCR file{}", root, found)
    if not pages:
        return UsageError("{}: the dataset has no pages to transcribe", root)
    return UsageError(
        "{}: none of the files is named like a page of the dataset. Files: {}. Pages: {}. Name "
        "the files, and their folders, like the images of the pages",
        root,
        join_names(names, most=3),
        join_names(dict.fromkeys(page.item for page in pages), most=3),
    )


def _match_notes(matches: Matches, pages: Sequence[NamedPage], others: list[str]) -> Iterator[str]:
    forms = Counter(file.form for file in {*matches.files.values()})
    yield n_(
        "results for {:,} of {n:,} page (files: {})",
        "results for {:,} of {n:,} pages (files: {})",
        len(pages),
        len(matches.files),
        listed(f"{count:,} {form}" for form, count in sorted(forms.items())),
    )
    if missing := [page.item for page in pages if page not in matches.files]:
        yield n_(
            "{n:,} page has no result file: {}",
            "{n:,} pages have no result file: {}",
            len(missing),
            join_names(dict.fromkeys(missing)),
        )
    if matches.unused:
        yield n_(
            "{n:,} file not used, because no page has this name: {}",
            "{n:,} files not used, because no page has this name: {}",
            len(matches.unused),
            join_names(file.inside.as_posix() for file in matches.unused),
        )
    if matches.other_image:
        yield n_(
            "{n:,} file is named like one page but contains the image name of another page (in "
            "parentheses). The file name is used: {}",
            "{n:,} files are named like one page but contain the image name of another page (in "
            "parentheses). The file name is used: {}",
            len(matches.other_image),
            join_names(f"{file.inside} ({file.image_name[:80]})" for file in matches.other_image),
        )
    if others:
        yield n_(
            "{n:,} file in other formats skipped: {}",
            "{n:,} files in other formats skipped: {}",
            len(others),
            join_names(others),
        )


def _content_notes(matches: Matches, contents: dict[ResultFile, PageResult]) -> Iterator[str]:
    files = dict.fromkeys(matches.files.values())
    marginal = [(file, line) for file in files for line in contents[file].marginal]
    if marginal:
        yield n_(
            "{n:,} line that the files declare as marginal (header, page number, seal …) is "
            "stored separately from the text: {}",
            "{n:,} lines that the files declare as marginal (header, page number, seal …) are "
            "stored separately from the text: {}",
            len(marginal),
            join_names(
                f"{file.inside} {printable(line.source_kind)} {beginning_of(line.text)}"
                for file, line in marginal
            ),
        )
    unplaced = [
        page.item for page, file in matches.files.items()
        if contents[file].is_unplaced_on(page.image)
    ]  # fmt: skip
    if unplaced:
        yield n_(
            "the lines of {n:,} page have no position, because the files describe an image with "
            "another aspect ratio: {}",
            "the lines of {n:,} pages have no position, because the files describe an image with "
            "another aspect ratio: {}",
            len(unplaced),
            join_names(dict.fromkeys(unplaced)),
        )

"""`PageResults`: transcriptions of an OCR engine that keju does not run, as an engine of a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from keju.datasets.page_names import NamedPage
from keju.datasets.readers.base import files_under, join_names
from keju.datasets.readers.import_log import beginning_of, logging_import, printable
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.result_files import (
    SUFFIXES,
    PageResult,
    form_of,
    read_result,
)
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, sha256_file
from keju.images import EXTENSIONS
from keju.items import Line, Request
from keju.local_paths import check_local
from keju.models.base import MISSING, RESULTS, Answer, AskError, ModelOptions, status_of
from keju.models.capabilities import Capabilities
from keju.models.page_matching import Matches, ResultFile, match_files
from keju.models.request_pixels import unsupported_page_reason
from keju.texts import _, listed, n_

_NAME = re.compile(r"[^\x00-\x1f\x7f:=/\\]{1,60}")


class PageResults:
    """Transcriptions of the dataset's pages that another program wrote, one file per page.

    The model string is ``replay:NAME=FOLDER``; in runs and reports its name is NAME. Formats are
    text, PAGE-XML, ALTO and hOCR (`read_result`); files are matched with pages by name
    (`match_files`). A page without a file is a failure, a file without text an empty answer. All
    files are read when it is opened, so that damage is reported before anything is scored.

    Raises:
        UsageError: the name is not valid, there is no such directory, or it has no result for any
            page of the dataset.
        DataError: a file is damaged or in an unknown encoding, or the names are ambiguous.
    """

    def __init__(self, spelled: str, options: ModelOptions) -> None:
        name, root = check_results(spelled)
        self._name = name
        if options.pages_of is None:
            raise UsageError("replay:{}: results of pages need a dataset, in keju run", spelled)
        pages = options.pages_of()
        with logging_import() as log:
            folder_files = _FolderFiles(root)
            log_notes = tuple(log.notes())
        matches = match_files(folder_files.results, pages)
        if not matches.of:
            raise _none(root, folder_files, pages)
        self._forms = folder_files.forms
        self._files = {(each.task, each.item, each.number): at for each, at in matches.of.items()}
        self._by_image = _by_image(matches.of)
        self._hashes = {file.path: sha256_file(file.path) for file in set(matches.of.values())}
        counts = Counter(self._forms[file.path] for file in set(matches.of.values()))
        self.notes = (
            *_notes(name, pages, matches, counts),
            *folder_files.notes(name),
            *_marginal_notes(name, {at: folder_files.read[at] for at in matches.of.values()}),
            *_place_notes(name, {page: folder_files.read[at] for page, at in matches.of.items()}),
            *(_("{}: {}", name, note) for note in log_notes),
        )
        """How files and pages were matched and what is missing, one line each."""

    @property
    def name(self) -> str:
        """The user's name of the engine."""
        return self._name

    @property
    def identity(self) -> dict[str, str]:
        """The kind alone: each response is bound to its own file (`source_of`)."""
        return {"kind": RESULTS}

    @property
    def concurrency(self) -> int:
        """One: an answer takes no time."""
        return 1

    @property
    def capabilities(self) -> Capabilities:
        """Answers are in files, and how these were matched with pages is reported."""
        return Capabilities(source_of=self.source_of, notes=self.notes)

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
                raise AskError(MISSING, _("{} has no result file for this page", self._name))
            read = self._read(file)
            prefix = f"{number}-" if len(request.images) > 1 else ""
            texts.append(read.text)
            lines += [
                replace(line, id=f"{prefix}{place}", source_kind="")
                for place, line in enumerate(read.lines_on(image), start=1)
            ]
        text = "\n".join(filter(None, texts))
        return Answer(text=text, status=status_of(text), lines=tuple(lines))

    def _read(self, file: ResultFile) -> PageResult:
        try:
            with logging_import():
                read = read_result(file.path, self._forms[file.path])
            unchanged = sha256_file(file.path) == self._hashes[file.path]
        except (DataError, OSError) as error:
            raise AskError("bad-response", str(error)) from None
        if not unchanged:
            raise AskError("bad-response", _("{}: the file changed while it was read", file.path))
        return read

    async def close(self) -> None:
        """Nothing to release."""


class _FolderFiles:
    """The files of a directory: those with results, with their formats, and the skipped ones."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.results: list[ResultFile] = []
        self.read: dict[ResultFile, PageResult] = {}
        """The content of each file without its text, which is read again on demand."""
        self.forms: dict[Path, str] = {}
        self.skipped: dict[str, str] = {}
        for path in files_under(root, SUFFIXES):
            inside = PurePosixPath(path.relative_to(root).as_posix())
            form = form_of(path)
            if form.name:
                read = read_result(path, form.name)
                file = ResultFile(path, inside, read.image_name)
                self.forms[path] = form.name
                self.results.append(file)
                self.read[file] = read.summary
            else:
                self.skipped[inside.as_posix()] = form.other
        known = {*SUFFIXES, *EXTENSIONS}
        for other in Listing(root).files:
            if (suffix := other.suffix.casefold().lstrip(".")) not in known:
                self.skipped[other.as_posix()] = f".{suffix}" if suffix else "no ending"

    def notes(self, name: str) -> Iterator[str]:
        """Which files are skipped, and why."""
        if self.skipped:
            given = [f"{file} ({why})" for file, why in self.skipped.items()]
            yield n_(
                "{}: {n:,} file in other formats skipped: {}",
                "{}: {n:,} files in other formats skipped: {}",
                len(given),
                name,
                join_names(given),
            )


def check_results(spelled: str) -> tuple[str, Path]:
    """The engine's name and the directory of its results, from ``NAME=FOLDER``.

    Raises:
        UsageError: the name is not valid, or there is no such directory.
    """
    name, __, folder = spelled.partition("=")
    name = _checked_name(name.strip())
    check_local(folder, "replay:")
    root = Path(folder)
    if not folder or not root.is_dir():
        raise UsageError(
            "replay:{}: {} is not a folder; as in replay:Transkribus=FOLDER",
            spelled,
            folder or _("nothing"),
        )
    return name, root


def _checked_name(name: str) -> str:
    # Imported on demand: it imports this module.
    from keju.models.registry import role_of  # noqa: PLC0415

    if not _NAME.fullmatch(name):
        raise UsageError(
            "replay:{}=…: not a name for a report. Use 1 to 60 characters without / : = \\, as "
            "in replay:Transkribus=FOLDER",
            name,
        )
    if role_of(name.casefold()) is not None:
        raise UsageError("replay:{}=…: keju runs a model of this name. Choose another one", name)
    return name


def _by_image(of: Mapping[NamedPage, ResultFile]) -> dict[str, ResultFile]:
    """The file of each image that has only one; a pipeline looks up images and not items."""
    found: dict[str, set[ResultFile]] = {}
    for page, file in of.items():
        found.setdefault(page.image.sha256, set()).add(file)
    return {sha256: next(iter(files)) for sha256, files in found.items() if len(files) == 1}


def _none(root: Path, files: _FolderFiles, pages: Sequence[NamedPage]) -> UsageError:
    if not files.results:
        others = [f"{file} ({why})" for file, why in files.skipped.items()]
        found = _(". Found: {}", join_names(others, most=3)) if others else ""
        return UsageError("{} contains no .txt, PAGE-XML, ALTO or hOCR file{}", root, found)
    if not pages:
        return UsageError("{}: the dataset has no pages to transcribe", root)
    given = join_names((file.inside.as_posix() for file in files.results), most=3)
    wanted = join_names(dict.fromkeys(page.item for page in pages), most=3)
    return UsageError(
        "{}: none of the files is named like a page of the dataset. Files: {}. Pages: {}. Name "
        "the files, and their folders, like the images of the pages",
        root,
        given,
        wanted,
    )


def _notes(
    name: str, pages: Sequence[NamedPage], matches: Matches, forms: Mapping[str, int]
) -> Iterator[str]:
    yield n_(
        "{}: results for {:,} of {n:,} page (files: {})",
        "{}: results for {:,} of {n:,} pages (files: {})",
        len(pages),
        name,
        len(matches.of),
        listed(f"{count:,} {form}" for form, count in sorted(forms.items())),
    )
    if missing := [page.item for page in pages if page not in matches.of]:
        few = join_names(dict.fromkeys(missing))
        yield n_(
            "{}: {n:,} page has no result file: {}",
            "{}: {n:,} pages have no result file: {}",
            len(missing),
            name,
            few,
        )
    if matches.unused:
        few = join_names(file.inside.as_posix() for file in matches.unused)
        yield n_(
            "{}: {n:,} file not used, because no page has this name: {}",
            "{}: {n:,} files not used, because no page has this name: {}",
            len(matches.unused),
            name,
            few,
        )
    if matches.other_image:
        few = join_names(f"{file.inside} ({file.image_name[:80]})" for file in matches.other_image)
        yield n_(
            "{}: {n:,} file is named like one page but contain the image name of another page "
            "(in parentheses). The file name is used: {}",
            "{}: {n:,} files are named like one page but contain the image name of another page "
            "(in parentheses). The file name is used: {}",
            len(matches.other_image),
            name,
            few,
        )


def _marginal_notes(name: str, found: Mapping[ResultFile, PageResult]) -> Iterator[str]:
    marginal = [(file, line) for file, read in found.items() for line in read.marginal]
    if marginal:
        few = join_names(
            f"{file.inside} {printable(line.source_kind)} {beginning_of(line.text)}"
            for file, line in marginal
        )
        yield n_(
            "{}: {n:,} line that the files declare as marginal (header, page number, seal …) are "
            "stored separately from the text: {}",
            "{}: {n:,} lines that the files declare as marginal (header, page number, seal …) "
            "are stored separately from the text: {}",
            len(marginal),
            name,
            few,
        )


def _place_notes(name: str, found: Mapping[NamedPage, PageResult]) -> Iterator[str]:
    unplaced = [page.item for page, read in found.items() if read.is_unplaced_on(page.image)]
    if unplaced:
        pages = join_names(dict.fromkeys(unplaced))
        yield n_(
            "{}: the lines of {n:,} page have no position, because the files describe an image "
            "with another aspect ratio: {}",
            "{}: the lines of {n:,} pages have no position, because the files describe an image "
            "with another aspect ratio: {}",
            len(unplaced),
            name,
            pages,
        )

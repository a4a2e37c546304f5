"""FORMAT ``pages``: page images, PDF and TIFF files, with the texts of their pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.readers.base import (
    Detection,
    Reader,
    check_name,
    files_under,
    join_names,
    plain_file,
    source_text,
)
from keju.datasets.readers.listing import Listing, unpacking_command
from keju.datasets.readers.pages.page_items import HOCR_SUFFIXES, TranscriptionTask
from keju.datasets.readers.pages.scans import (
    MOST_TEXT,
    NO_PAGE,
    WHOLE,
    Scan,
    images_of,
    is_truth,
    scan_of,
    stems_of_text,
)
from keju.datasets.readers.words import detect_command, import_command
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_PAGE, is_blank, mark_blank, prompt_of, says_blank, task
from keju.errors import DataError, ProblemsError, UsageError
from keju.images import EXTENSIONS, decoding, open_header
from keju.items import Item
from keju.settings import Settings
from keju.texts import Text, _, join_sentences, n_

LAYOUT = """\
SRC                       a folder, with folders in it as deep as you like, or one PDF or TIFF
  book1/page001.jpg       an image: jpg, png, tif, webp, jp2, gif or bmp
  book1/page001.txt       its text, one line a column, in reading order; also page001.gt.txt
                          (tesstrain, kraken, OCR4all), which counts before page001.txt
  book2.pdf, book2.tif    several pages in one file
  book2.txt               their texts, a form feed between pages, as pdftotext writes them; or
  book2/001.txt           one file a page
A page that shows no text has the text [blank], [空白] or 空白: then the text that a model invents
on it is counted. Other statements (no text, 無字) are imported as texts, with a warning.
A PDF page that is one scanned image gives that image; other pages are rendered.
The folder of a page, or the PDF or TIFF that it is from, is its group (the unit of independence),
so keep one book in one folder."""


class PagesSettings(Settings, frozen=True, kw_only=True):
    """The settings of the import of a folder of page images."""

    task: TranscriptionTask = OWN_PAGE
    skip_missing: Annotated[
        bool,
        Meta(description="yes: skip images without text and texts without image (default no)"),
    ] = False
    texts: Annotated[
        bool,
        Meta(
            description="no: import the images without references, to run models on them "
            "(default yes)"
        ),
    ] = True
    blank_pages: Annotated[
        bool,
        Meta(description="yes: a page whose text is empty is blank (default no: that is an error)"),
    ] = False
    dpi: Annotated[
        int | None,
        Meta(
            description="resolution at which PDF pages are rendered "
            "(default: that of the scan, else 300)",
            ge=1,
        ),
    ] = None


_KINDS = (*EXTENSIONS, "pdf")
_MANY_PAGES = frozenset({"pdf", "tif", "tiff"})


def read_pages(src: Path, writer: DatasetWriter, settings: PagesSettings) -> Iterator[str]:
    """Read page images with their texts, one item per page.

    Raises:
        UsageError: the task is unknown or its prompt needs more than an image.
        DataError: no images, images without texts or texts without images (unless skipped), two
            images with one name, texts that are empty or in no known encoding, broken images or PDF
            files: all of them at once.
    """
    writer.declare(unit="folder")
    root, files = _files(src)
    pattern, problems = _pattern(settings.task), _Problems(src)
    texts = _Texts(src, root, {file.with_suffix("") for file in files}) if settings.texts else None
    scans: dict[Path, Path] = {}
    pages_of: dict[Scan, Mapping[int, str]] = {}
    blank: list[str] = []
    for file in files:
        with problems.collecting():
            scan = scan_of(file)
            if (first := scans.setdefault(scan.stem, file)) != file:
                raise DataError(
                    "two images for one text: {} and {}",
                    first.name,
                    file.name,
                    file=file.parent,
                    hint="Keep one of them",
                )
            pages_of[scan] = (
                texts.of(scan, blank_pages=settings.blank_pages)
                if texts
                else dict.fromkeys(scan.numbers, "")
            )
    if texts:
        yield from texts.notes()
        lacking = list(texts.lacking(pages_of))
        if settings.skip_missing and any(pages_of.values()):
            yield from (_("skipped {}", line) for line in lacking)
        else:
            problems.lines += lacking
    if problems:
        # Nothing is stored, but the images are checked too, without decoding them.
        for scan in pages_of:
            with problems.collecting(), decoding(plain_file(scan.file), str(scan.file)):
                if scan.pages is None:
                    open_header(scan.file, name=str(scan.file)).close()
        problems.check()
    for scan, pages in pages_of.items():
        with problems.collecting():
            for item in _items(scan, pages, root, pattern, settings, writer):
                writer.add(item)
                blank += [item.id] if is_blank(item) else []
    problems.check()
    if blank:
        yield n_(
            "imported as blank: {n:,} page: {}",
            "imported as blank: {n:,} pages: {}",
            len(blank),
            join_names(blank),
        )
    if src.is_dir():
        yield from _others(src)


def _items(
    scan: Scan,
    texts: Mapping[int, str],
    root: Path,
    pattern: Item,
    settings: PagesSettings,
    writer: DatasetWriter,
) -> Iterator[Item]:
    """The items of the pages of a scan that have a text."""
    file = scan.file.relative_to(root)
    check_name(file.as_posix(), scan.file)
    group = file.parent.as_posix() if file.parent.parts else root.resolve().name
    for number, data, method in images_of(scan, texts, settings.dpi):
        place, about = str(scan.file), {"file": file.as_posix()}
        if scan.pages:
            place, group = f"{scan.file}: page {number}", file.with_suffix("").as_posix()
            about |= {"page": str(number)} | ({"page_image": method} if method else {})
        answer = texts[number].strip("\n\t ")
        item = replace(
            pattern,
            id=(file.parent / scan.name(number)).as_posix(),
            images=(writer.add_image(data, place),),
            answer=answer,
            transcription=answer or None,
            group=group,
            metadata=about,
        )
        is_empty = settings.texts and (not answer.strip() or says_blank(answer))
        yield mark_blank(item) if is_empty else item


def _others(src: Path) -> Iterator[Text]:
    """A note on the files that are neither images nor texts."""
    others = [path for path in Listing(src).files if _suffix(path) not in {*_KINDS, "txt"}]
    if others:
        yield n_(
            "not imported, since neither images nor texts: {n:,} file, {}. Save images as JPEG, "
            "PNG or TIFF and texts as .txt. For PAGE-XML, ALTO or hOCR see: keju data detect SRC",
            "not imported, since neither images nor texts: {n:,} files, {}. Save images as JPEG, "
            "PNG or TIFF and texts as .txt. For PAGE-XML, ALTO or hOCR see: keju data detect SRC",
            len(others),
            join_names(map(str, others)),
        )


def _suffix(path: PurePath) -> str:
    return path.suffix.casefold().lstrip(".")


def _pattern(name: str) -> Item:
    kind = task(name)
    pattern = Item(id="page", benchmark=kind.benchmark, task=kind.id, query=kind.queries[0].name)
    try:
        prompt_of(pattern)
    except DataError as error:
        raise UsageError("the format pages gives only an image and a text: {}", error) from None
    return pattern


def _files(src: Path) -> tuple[Path, list[Path]]:
    """The directory that paths are relative to, and the files with page images."""
    if src.is_dir():
        if files := list(files_under(src, _KINDS)):
            return src, files
    elif _suffix(src) in _MANY_PAGES:
        return src.parent, [src]
    listing = Listing(src)
    hint = _("Give the folder of the images (jpg, png, tif, webp, jp2, gif, bmp or pdf)")
    if command := unpacking_command(src):
        hint = _("Unpack it: {}", command)
    elif listing.images:
        hint = _("Give its folder: {}", import_command("pages", src.parent, {}))
    raise DataError(
        "expected images with .txt files of the same name, a PDF or a TIFF; found {}",
        join_names(map(str, listing.files)) or _("none"),
        file=src,
        hint=hint,
    )


class _Texts:
    """The text files of a source, by the scan that each belongs to.

    `ignored` are an engine's texts, and those beside one with ``.gt``; `lost` belong to no page.
    """

    def __init__(self, src: Path, root: Path, stems: set[Path]) -> None:
        self._src, self._root = src, root
        self._files_of = defaultdict[Path, list[Path]](list)
        self._ignored: list[Path] = []
        self._lost: list[Path] = []
        for file in files_under(root, {"txt"}):
            possible = list(stems_of_text(file))
            if owner := next((stem for stem in possible if stem in stems), None):
                self._files_of[owner].append(file)
            elif src.is_dir():
                (self._lost if possible else self._ignored).append(file)

    def of(self, scan: Scan, *, blank_pages: bool) -> dict[int, str]:
        """The text of each page that has one.

        Raises:
            DataError: two texts are equally right, or one has another number of pages than its
                scan, is in no known encoding, or empty although `blank_pages` is false.
        """
        files_of = defaultdict[int, list[Path]](list)
        for file in self._files_of[scan.stem]:
            files_of[scan.page_of(file)].append(file)
        numbers = [WHOLE] if WHOLE in files_of else sorted(files_of.keys() - {NO_PAGE})
        for number in files_of.keys() - set(numbers):
            self._lost += files_of[number]
        pages: dict[int, str] = {}
        for number in numbers:
            files = files_of[number]
            file, *rivals = list(filter(is_truth, files)) or files
            if rivals:
                raise DataError(
                    "two texts for this image: {} and {}",
                    file.name,
                    rivals[0].name,
                    file=scan.file,
                    hint="Keep one of them",
                )
            self._ignored += (other for other in files if other != file)
            text = source_text(file, MOST_TEXT)
            texts = _divided(scan, file, text) if number == WHOLE else {number: text}
            if not (blank_pages or all(map(str.strip, texts.values()))):
                raise DataError(
                    "the text is empty",
                    file=file,
                    hint=(
                        "Write it, or [blank] if the page shows no text. If all pages with an "
                        "empty text are blank: --option blank-pages=yes"
                    ),
                )
            pages |= texts
        return pages

    def notes(self) -> Iterator[Text]:
        """A note on the texts that are not imported."""
        if self._ignored:
            yield n_(
                "not imported, an engine's text or beside a .gt.txt: {n:,} text: {}",
                "not imported, an engine's texts or beside a .gt.txt: {n:,} texts: {}",
                len(self._ignored),
                self._names(self._ignored),
            )

    def lacking(self, pages_of: Mapping[Scan, Mapping[int, str]]) -> Iterator[Text]:
        """A line on the pages without a text, and one on the texts without a page."""
        bare = [
            scan.file.relative_to(self._root).as_posix() + (f"/page {number}" if scan.pages else "")
            for scan, pages in pages_of.items()
            for number in scan.numbers
            if number not in pages
        ]
        several = next((scan.stem for scan in pages_of if scan.pages), None)
        hints = [
            _(
                "Add the missing files, skip them: --option skip-missing=yes, or import the images "
                "without references: --option texts=no"
            )
        ]
        if several and self._lost:
            form = _(
                "The texts of several pages in one file are {0}.txt, with a form feed between "
                "pages, or {0}/001.txt, {0}/002.txt …",
                several.relative_to(self._root),
            )
            hints.insert(0, form)
        if bare and self._src.is_dir() and any(files_under(self._src, {"xml", *HOCR_SUFFIXES})):
            # The texts may be in page files, which this format does not read.
            hints.append(_("For PAGE-XML, ALTO or hOCR see: {}", detect_command(self._src)))
        hint = join_sentences(hints)
        if bare:
            yield n_(
                "{n:,} page without a text: {}",
                "{n:,} pages without a text: {}",
                len(bare),
                join_names(bare),
                hint=hint,
            )
        if self._lost:
            yield n_(
                "{n:,} text without an image: {}",
                "{n:,} texts without an image: {}",
                len(self._lost),
                self._names(self._lost),
                hint=hint,
            )

    def _names(self, files: Iterable[Path]) -> str:
        return join_names(file.relative_to(self._root).as_posix() for file in sorted(files))


def _divided(scan: Scan, file: Path, text: str) -> dict[int, str]:
    """The text of each page of a scan, from one file with form feeds between pages.

    Raises:
        DataError: it has another number of pages.
    """
    parts = [text] if scan.pages is None else text.split("\f")
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    if len(parts) != len(scan.numbers):
        raise DataError(
            n_(
                "the text has {n:,} page (separated by form feeds), but {} has {}",
                "the text has {n:,} pages (separated by form feeds), but {} has {}",
                len(parts),
                scan.file.name,
                scan.pages,
                hint=_(
                    "Put a form feed between the texts of two pages, or write one file "
                    "per page: {0}/1.txt, {0}/2.txt …",
                    scan.stem.name,
                ),
            ),
            file=file,
        )
    return dict(enumerate(parts, start=1))


_MOST = 1_000
"""Number of faulty files after which an import stops searching for more."""


class _Problems:
    """The errors in the files of a source, to report them at once.

    `lines` are sentences on files that lack something.
    """

    def __init__(self, src: Path) -> None:
        self.lines: list[Text] = []
        self._src = src
        self._errors: list[DataError] = []

    def __bool__(self) -> bool:
        return bool(self.lines or self._errors)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect an error about a file instead of raising it, up to `_MOST`."""
        try:
            yield
        except DataError as error:
            self._errors.append(error)
            if len(self._errors) >= _MOST:
                self.check()

    def check(self) -> None:
        """Raise the only error, or all that were collected, with the hints last."""
        if len(self._errors) == 1 and not self.lines:
            raise self._errors[0]
        lines = list[str](self.lines)
        if self._errors:
            count, texts = len(self._errors), join_names(map(self._text_of, self._errors))
            lines.append(n_("{n:,} unusable file: {}", "{n:,} unusable files: {}", count, texts))
        if not lines:
            return
        hints = [*(line.hint for line in self.lines), *(error.hint for error in self._errors)]
        hint = join_sentences(dict.fromkeys(filter(None, hints)))
        lines = [join_sentences([*lines, hint])] if len(lines) == 1 else [*lines, hint]
        raise ProblemsError((f"{self._src}: {line}" for line in lines), file=self._src, hint=hint)

    def _text_of(self, error: DataError) -> str:
        file = PurePath(error.file or "")
        inner = file.relative_to(self._src) if file.is_relative_to(self._src) else file
        place = ": ".join(filter(None, ("/".join(inner.parts), error.item)))
        return _("{} ({})", place, error.problem) if place else error.problem


# Detection

_PAGE_SIDE = 800
"""Minimum pixels of the longer side of a page's scan; images of characters are smaller."""

_ABOUT = frozenset(
    {"readme", "license", "licence", "copying", "notes", "source", "sources", "about"}
)
"""Names of texts that describe a folder, and not its images."""

_OF_NUMBERS = frozenset("0123456789.-e \r\n\t")


def detect_pages(listing: Listing) -> Detection | None:
    """Recognise images, PDF and TIFF files with texts, and PDF files or pages without."""
    src = listing.src
    if not src.is_dir():
        if _suffix(src) not in _MANY_PAGES:
            return None
        if src.with_suffix(".txt").is_file():
            return Detection(0.8, _("the pages of {} with a .txt file of the same name", src.name))
        return Detection(0.5, _("the pages of {}, without texts", src.name), {"texts": "no"})
    scans = {path.with_suffix("") for path in (*listing.images, *listing.ending("pdf"))}
    text_of: dict[PurePosixPath, PurePosixPath] = {}
    lost = False
    for text in listing.ending("txt"):
        stems = list(stems_of_text(text))
        if owner := next((stem for stem in stems if stem in scans), None):
            text_of.setdefault(owner, text)
        elif stems:
            lost = True
    if not text_of:
        return _detect_without_texts(listing)
    paired = sorted(text_of)
    if all(set(listing.text(text_of[stem])) <= _OF_NUMBERS for stem in paired[:5]):
        return None  # The boxes of YOLO.
    what = n_(
        "{n:,} image, PDF or TIFF file with a text (.txt) of the same name",
        "{n:,} images, PDF or TIFF files with texts (.txt) of the same name",
        len(paired),
    )
    missing = ""
    if alone := len(scans) - len(paired):
        missing = _(
            "the .txt file of {} of {} images (or skip them: --option skip-missing=yes)",
            alone,
            len(scans),
        )
    options = {"skip-missing": "yes"} if lost else {}
    return Detection(0.9 * len(paired) / len(scans), what, options, missing)


def _detect_without_texts(listing: Listing) -> Detection | None:
    """Recognise PDF files or page-sized images without texts; smaller images may be anything."""
    pdfs, texts = listing.ending("pdf"), listing.ending("txt")
    if pdfs and not texts and not listing.images:
        what = n_("{n} PDF file without texts", "{n} PDF files without texts", len(pdfs))
        return Detection(0.5, what, {"texts": "no"})
    data = {*map(_suffix, listing.files)} - {"", "txt", "md", *EXTENSIONS}
    if data or not listing.images or not _page_sized(listing):
        return None
    folders = {path.parent for path in listing.images}
    count = n_("{n:,} image", "{n:,} images", len(listing.images))
    if any(text.parent in folders and text.stem.casefold() not in _ABOUT for text in texts):
        # The import lists the texts that belong to no image.
        return Detection(0.5, _("{} as large as pages, beside texts of other names", count))
    return Detection(0.5, _("{} as large as pages, without texts", count), {"texts": "no"})


def _page_sized(listing: Listing) -> bool:
    """Whether the first images are as large as scans of pages."""
    for path in listing.images[:5]:
        try:
            with decoding(data := listing.head(path), path.name):
                size = open_header(data, name=path.name).size
        except DataError:
            return False
        if max(size) < _PAGE_SIDE:
            return False
    return True


READER = Reader(
    "pages",
    "page images, PDF or TIFF files with .txt files",
    LAYOUT,
    read_pages,
    PagesSettings,
    detect_pages,
)

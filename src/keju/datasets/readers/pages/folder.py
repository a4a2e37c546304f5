"""FORMAT ``pages``: page images, PDF and TIFF files, with the texts of their pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path, PurePath
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
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.page_items import TranscriptionTask
from keju.datasets.readers.pages.scans import (
    MOST_TEXT,
    WHOLE,
    PairedTexts,
    Scan,
    images_of,
    is_truth,
    pair_texts,
    scan_of,
)
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_PAGE, is_blank, mark_blank, prompt_of, says_blank, task
from keju.errors import DataError, ProblemsError, UsageError, error_text
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

_MOST_FAULTS = 20
"""Number of faults after which an import stops searching for more."""


def read_pages(src: Path, writer: DatasetWriter, settings: PagesSettings) -> Iterator[str]:
    """Read page images with their texts, one item per page.

    Raises:
        UsageError: the task is unknown or its prompt needs more than an image.
        DataError: no images, images without texts or texts without images (unless skipped), two
            images with one name, texts that are empty or in no known encoding, broken images or PDF
            files: the first `_MOST_FAULTS` at once.
    """
    writer.declare(unit="folder")
    root, files = _files(src)
    pattern, faults = _pattern(settings.task), _Faults(src)
    stems = {file.with_suffix("") for file in files}
    pairs = pair_texts(files_under(root, {"txt"}) if settings.texts else (), stems)
    if not src.is_dir():  # The other texts beside a single file are those of other books.
        pairs.lost.clear()
        pairs.ignored.clear()
    file_of: dict[Path, Path] = {}
    texts_of: dict[Scan, Mapping[int, str]] = {}
    for file in files:
        with faults.collecting():
            if (first := file_of.setdefault(file.with_suffix(""), file)) != file:
                raise _rivals(first, file)
            scan = scan_of(file)
            texts_of[scan] = (
                _texts_of(scan, pairs, blank_pages=settings.blank_pages)
                if settings.texts
                else dict.fromkeys(scan.numbers, "")
            )
    lacking = _lacking(texts_of, pairs, root)
    if settings.skip_missing and any(texts_of.values()):
        yield from (_("skipped {}", line) for line in lacking)
    else:
        hints = [
            _(
                "Add the missing files, skip them: --option skip-missing=yes, or import the images "
                "without references: --option texts=no"
            )
        ]
        hints += [_several_pages()] if any(scan.pages for scan in texts_of) else []
        hint = join_sentences(hints)
        faults.errors += (DataError(line, file=src, hint=hint) for line in lacking)
    for scan in texts_of if faults.errors else ():
        # Nothing is stored, but the images are checked too, without decoding them.
        with faults.collecting(), decoding(plain_file(scan.file), str(scan.file)):
            if scan.pages is None:
                open_header(scan.file, name=str(scan.file)).close()
    faults.check()
    blank: list[str] = []
    for scan, texts in texts_of.items():
        with faults.collecting():
            for item in _items(scan, texts, root, pattern, settings, writer):
                writer.add(item)
                blank += [item.id] if is_blank(item) else []
    faults.check()
    if blank:
        yield n_(
            "imported as blank: {n:,} page: {}",
            "imported as blank: {n:,} pages: {}",
            len(blank),
            join_names(blank),
        )
    known = {*_KINDS, "txt"}
    ignored = [Path(path) for path in Listing(src).files if _suffix(path) not in known]
    ignored += (text.relative_to(root) for text in pairs.ignored)
    if ignored:
        yield n_(
            "neither images nor true texts, so not imported: {n:,} file: {}",
            "neither images nor true texts, so not imported: {n:,} files: {}",
            len(ignored),
            join_names(sorted(path.as_posix() for path in ignored)),
        )


def _rivals(first: Path, second: Path) -> DataError:
    hint = _("Keep one of them")
    return DataError("{} and {} are for one page", first.name, second.name, file=first, hint=hint)


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
    raise DataError(
        "expected images with .txt files of the same name, a PDF or a TIFF; found {}",
        join_names(map(str, Listing(src).files)) or _("none"),
        file=src,
        hint="Give the folder of the images (jpg, png, tif, webp, jp2, gif, bmp or pdf)",
    )


def _texts_of(scan: Scan, pairs: PairedTexts[Path], *, blank_pages: bool) -> dict[int, str]:
    """The text of each page that has one; their files are removed from the table.

    Raises:
        DataError: two texts are equally right, or one has another number of pages than its scan, is
            in no known encoding, or empty although `blank_pages` is false.
    """
    texts: dict[int, str] = {}
    has_pages = scan.pages and (scan.stem, WHOLE) not in pairs.files
    for number in scan.numbers if has_pages else [WHOLE]:
        files = pairs.files.pop((scan.stem, number), [])
        if not files:
            continue
        file, *rivals = list(filter(is_truth, files)) or files
        if rivals:
            raise _rivals(file, rivals[0])
        pairs.ignored.extend(other for other in files if other != file)
        text = source_text(file, MOST_TEXT)
        of_pages = _divided(scan, file, text) if number == WHOLE else {number: text}
        if not (blank_pages or all(map(str.strip, of_pages.values()))):
            raise DataError(
                "the text is empty",
                file=file,
                hint="Write it, or [blank] if the page shows no text. If all pages with an empty "
                "text are blank: --option blank-pages=yes",
            )
        texts |= of_pages
    return texts


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
                hint=_several_pages(),
            ),
            file=file,
        )
    return dict(enumerate(parts, start=1))


def _several_pages() -> Text:
    return _(
        "The texts of BOOK.pdf or BOOK.tif are BOOK.txt, with a form feed between pages, or "
        "BOOK/001.txt, BOOK/002.txt …"
    )


def _lacking(
    texts_of: Mapping[Scan, Mapping[int, str]], pairs: PairedTexts[Path], root: Path
) -> Iterator[Text]:
    """A line on the pages without a text, and one on the texts without a page."""
    bare = [
        scan.file.relative_to(root).as_posix() + (f"/page {number}" if scan.pages else "")
        for scan in texts_of
        for number in scan.numbers
        if number not in texts_of[scan]
    ]
    stems = {scan.stem for scan in texts_of}
    left = (files for (stem, _number), files in pairs.files.items() if stem in stems)
    lost = sorted(file.relative_to(root).as_posix() for file in chain(pairs.lost, *left))
    pages, texts = join_names(bare), join_names(lost)
    if bare:
        yield n_(
            "{n:,} page without a text: {}", "{n:,} pages without a text: {}", len(bare), pages
        )
    if lost:
        yield n_(
            "{n:,} text without an image: {}", "{n:,} texts without an image: {}", len(lost), texts
        )


class _Faults:
    """The errors in the files of a source, to report them at once, with each hint once."""

    def __init__(self, src: Path) -> None:
        self.errors: list[DataError] = []
        self._src = src

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect an error instead of raising it, up to `_MOST_FAULTS`."""
        try:
            yield
        except DataError as error:
            self.errors.append(error)
            if len(self.errors) >= _MOST_FAULTS:
                self.check()

    def check(self) -> None:
        """Raise the only error, or all that were collected."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            lines = [
                error_text(DataError(error.problem, file=error.file, item=error.item, hint=""))
                for error in self.errors
            ]
            if len(lines) >= _MOST_FAULTS:
                lines.append(_("The search stopped after {} faults", _MOST_FAULTS))
            hints = list(dict.fromkeys(error.hint for error in self.errors if error.hint))
            raise ProblemsError([*lines, *hints], file=self._src, hint=join_sentences(hints))


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
    stems = {path.with_suffix("") for path in (*listing.images, *listing.ending("pdf"))}
    pairs = pair_texts(listing.ending("txt"), stems)
    paired = {stem: files[0] for (stem, _number), files in sorted(pairs.files.items())}
    if not paired:
        return _detect_without_texts(listing)
    if all(set(listing.text(text)) <= _OF_NUMBERS for text in list(paired.values())[:5]):
        return None  # The boxes of YOLO.
    what = n_(
        "{n:,} image, PDF or TIFF file with a text (.txt) of the same name",
        "{n:,} images, PDF or TIFF files with texts (.txt) of the same name",
        len(paired),
    )
    # A text beside complete pages is about them; else its page may have another name.
    options = {"skip-missing": "yes"} if pairs.lost and len(paired) == len(stems) else {}
    return Detection(0.9 * len(paired) / len(stems), what, options)


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
    what = _("{} as large as pages, without texts", count)
    # The import lists the texts that belong to no image.
    others = any(text.parent in folders and text.stem.casefold() not in _ABOUT for text in texts)
    return Detection(0.5, what, {} if others else {"texts": "no"})


def _page_sized(listing: Listing) -> bool:
    """Whether the first images are as large as scans of pages."""
    try:
        for path in listing.images[:5]:
            with decoding(data := listing.head(path), path.name):
                if max(open_header(data, name=path.name).size) < _PAGE_SIDE:
                    return False
    except DataError:
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

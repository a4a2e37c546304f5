"""FORMAT ``pages``: page images, PDF and TIFF files, with the texts of their pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
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
)
from keju.datasets.readers.listing import Listing, unpacking_command
from keju.datasets.readers.pages.other_kinds import other_kinds
from keju.datasets.readers.pages.page_items import TranscriptionTask
from keju.datasets.readers.pages.pdf_pages import PageImage, PdfReader
from keju.datasets.readers.pages.problems import Problems
from keju.datasets.readers.pages.scans import (
    Pages,
    Scan,
    Texts,
    best_versions,
    images_of,
    page_of_version,
    page_stems,
    scan_of,
)
from keju.datasets.readers.pages.unpaired import Unpaired
from keju.datasets.readers.words import import_command
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_PAGE, mark_blank, prompt_of, says_blank, task
from keju.errors import DataError, UsageError
from keju.images import EXTENSIONS, decoding, open_header
from keju.items import Item
from keju.settings import Settings
from keju.texts import _, both, n_

LAYOUT = """\
SRC                       a folder, with folders in it as deep as you like, or one PDF or TIFF
  book1/page001.jpg       an image: jpg, png, tif, webp, jp2, gif or bmp
  book1/page001.txt       its text, one line a column, in reading order; also page001.gt.txt
                          (tesstrain, kraken, OCR4all), which counts before page001.txt
  book2.pdf, book2.tif    several pages in one file
  book2.txt               their texts, a form feed between pages, as pdftotext writes them; or
  book2/001.txt           one file a page; also book2-001.txt, book2_1.txt, book2.001.txt
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
    with PdfReader() as pdfs:
        yield from _read(src, root, files, writer, settings, pdfs)
    yield from _others(src)


def _read(
    src: Path,
    root: Path,
    files: list[Path],
    writer: DatasetWriter,
    settings: PagesSettings,
    pdfs: PdfReader,
) -> Iterator[str]:
    pattern = _pattern(settings.task)
    with_texts = settings.texts
    problems = Problems(src)
    scans = _scans(files, pdfs, problems)
    texts = Texts(list(files_under(root, {"txt"})) if with_texts else [])
    versions: list[Path] = []
    if with_texts:
        with problems.collecting("texts"):
            scans, versions = best_versions(scans, texts)
    found = (
        _found(scans, texts, problems, settings.blank_pages)
        if with_texts
        else {scan: {} for scan in scans}
    )
    if with_texts:
        yield from _left(root, versions, texts)
        broken = {file.with_suffix("") for file in files} - {scan.stem for scan in found}
        lost = [file for file in texts.unused() if src.is_dir() and not _of(file, broken)]
        unpaired = Unpaired.of(root, found, lost)
        if settings.skip_missing and any(found.values()):
            yield from unpaired.skipped()
        else:
            unpaired.report(problems)
    if problems:
        # Nothing will be imported, so the images need not be decoded.
        _check_headers(scans, problems)
        for line in _others(src):
            problems.note(line)
        problems.check()
    blank: list[str] = []
    for scan, pages in found.items():
        wanted = pages if with_texts else range(1, (scan.pages or 1) + 1)
        with problems.collecting("images"):
            for number, image in images_of(scan, wanted, settings.dpi, pdfs) if wanted else ():
                text = pages[number][1] if with_texts else ""
                item = _item(writer, root, scan, number, image, text, pattern)
                if with_texts and (not text.strip() or says_blank(text)):
                    item = mark_blank(item)
                    blank.append(item.id)
                writer.add(item)
    problems.check()
    if blank:
        yield n_(
            "imported as blank: {n:,} page: {}",
            "imported as blank: {n:,} pages: {}",
            len(blank),
            join_names(blank),
        )


def _left(root: Path, versions: Sequence[Path], texts: Texts) -> Iterator[str]:
    """Notes on files of pages that have a better one."""
    superseded, predictions = sorted(texts.superseded), sorted(texts.predictions)
    lists = (versions, superseded, predictions)
    version, text, prediction = (
        join_names(file.relative_to(root).as_posix() for file in files) for files in lists
    )
    if versions:
        yield n_(
            "not imported, other versions of a page: {n:,} image: {}",
            "not imported, other versions of a page: {n:,} images: {}",
            len(versions),
            version,
        )
    if superseded:
        yield n_(
            "not imported, beside a text .gt.txt of the same page: {n:,} text: {}",
            "not imported, beside a text .gt.txt of the same page: {n:,} texts: {}",
            len(superseded),
            text,
        )
    if predictions:
        yield n_(
            "not imported, an engine's texts (.pred.txt): {n:,} text: {}",
            "not imported, an engine's texts (.pred.txt): {n:,} texts: {}",
            len(predictions),
            prediction,
        )


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
        files = list(files_under(src, _KINDS))
        if files:
            return src, files
        others = join_names(path.as_posix() for path in Listing(src).files)
        converters = [line.partition(". ")[2] for line in _others(src)]
        raise DataError(
            "expected images with .txt files of the same name; found {}",
            others or _("none"),
            file=src,
            hint=next(filter(None, converters), "")
            or _("Give the folder of the images (jpg, png, tif, webp, jp2, gif, bmp or pdf)"),
        )
    if src.suffix.casefold() in {".pdf", ".tif", ".tiff"}:
        return src.parent, [src]
    problem, hint = _("expected a folder of images with .txt files, a PDF or a TIFF"), ""
    if command := unpacking_command(src):
        problem = _(
            "expected a folder of images with .txt files, a PDF or a TIFF; found an archive"
        )
        hint = _("Unpack it: {}", command)
    elif src.suffix.casefold().lstrip(".") in EXTENSIONS:
        problem = _("expected a folder of images with .txt files, a PDF or a TIFF; found one image")
        hint = _("Give its folder: {}", import_command("pages", src.parent, {}))
    raise DataError(problem, file=src, hint=hint or None)


def _scans(files: list[Path], pdfs: PdfReader, problems: Problems) -> list[Scan]:
    """The scans in files, one for each text."""
    known: dict[Path, Scan] = {}
    for file in files:
        with problems.collecting("images"):
            scan = scan_of(file, pdfs)
            if (other := known.setdefault(scan.stem, scan)) != scan:
                raise DataError(
                    "two images for one text: {} and {}",
                    other.file.name,
                    scan.file.name,
                    file=scan.file.parent,
                    hint="Keep one of them",
                )
    return list(known.values())


def _found(
    scans: list[Scan], texts: Texts, problems: Problems, empty_is_blank: bool
) -> dict[Scan, Pages]:
    """The valid texts of each scan."""
    found: dict[Scan, Pages] = {}
    for scan in scans:
        with problems.collecting("texts"):
            pages = texts.of(scan)
            for file, text in pages.values():
                if not text.strip() and not empty_is_blank:
                    raise DataError(
                        "the text is empty",
                        file=file,
                        hint=(
                            "Write it, or [blank] if the page shows no text. If all pages with "
                            "an empty text are blank: --option blank-pages=yes"
                        ),
                    )
            found[scan] = pages
    return found


def _check_headers(scans: list[Scan], problems: Problems) -> None:
    for file in (scan.file for scan in scans if scan.pages is None):
        with problems.collecting("images"), decoding(plain_file(file), str(file)):
            open_header(file, name=str(file)).close()


def _of(text: Path, stems: Collection[Path]) -> bool:
    """Whether a text belongs to one of these scans."""
    return any(Path(stem) in stems for stem in page_stems(PurePosixPath(text.as_posix())))


def _others(src: Path) -> Iterator[str]:
    """Notes on files of other kinds in the directory, which are not imported."""
    if src.is_dir():
        yield from other_kinds(src, Listing(src).files, frozenset({*_KINDS, "txt"}))


def detect_pages(listing: Listing) -> Detection | None:
    """Recognise images, PDF and TIFF files with texts, and PDF files without."""
    if not listing.src.is_dir():
        return _detect_file(listing)
    stems = {path.with_suffix("") for path in listing.ending("pdf")}
    stems |= {page_of_version(path.with_suffix("")) for path in listing.images}
    files: dict[PurePosixPath, list[PurePosixPath]] = {stem: [] for stem in stems}
    lost = 0
    for text in listing.ending("txt"):
        named = list(page_stems(text))
        owner = next((stem for stem in named if page_of_version(stem) in files), None)
        if owner is None:
            lost += bool(named)
        else:
            files[page_of_version(owner)].append(text)
    paired = sorted(stem for stem, texts in files.items() if texts)
    if not paired:
        return _without_texts(listing)
    if _numbers_alone(listing, [files[stem][0] for stem in paired[:5]]):
        return None
    alone = len(stems) - len(paired)
    missing = _name_missing_texts(alone, len(stems)) if alone else ""
    what = _paired(listing, paired)
    options = {"skip-missing": "yes"} if lost else {}
    return Detection(0.9 * len(paired) / len(stems), what, options, missing)


def _name_missing_texts(count: int, total: int) -> str:
    return _(
        "the .txt file of {} of {} images (or skip them: --option skip-missing=yes)", count, total
    )


def _paired(listing: Listing, paired: Sequence[PurePosixPath]) -> str:
    """The content of a directory, e.g. ``2 PDF files with texts``."""
    pdf_stems = {path.with_suffix("") for path in listing.ending("pdf")}
    tiff_stems = {path.with_suffix("") for path in listing.ending("tif", "tiff")}
    pdfs = sum(stem in pdf_stems for stem in paired)
    tiffs = sum(stem in tiff_stems for stem in paired)
    images = sum(stem not in pdf_stems | tiff_stems for stem in paired)
    parts = [
        n_("{n:,} PDF file", "{n:,} PDF files", pdfs) if pdfs else "",
        n_("{n:,} TIFF file", "{n:,} TIFF files", tiffs) if tiffs else "",
        n_("{n:,} page image", "{n:,} page images", images) if images else "",
    ]
    return _("{} with texts (.txt) of the same name", both(filter(None, parts)))


def _detect_file(listing: Listing) -> Detection | None:
    """Recognise one PDF or TIFF; its texts are searched beside it."""
    if listing.src.suffix.casefold() not in {".pdf", ".tif", ".tiff"}:
        return None
    if listing.src.with_suffix(".txt").is_file():
        what = _("the pages of {} with a .txt file of the same name", listing.src.name)
        return Detection(0.8, what)
    what = _("the pages of {}, without texts", listing.src.name)
    return Detection(0.5, what, {"texts": "no"})


def _without_texts(listing: Listing) -> Detection | None:
    """Recognise PDF files or page-sized images without texts; smaller images may be anything."""
    pdfs = listing.ending("pdf")
    if not pdfs and _page_sized(listing):
        folders = {path.parent for path in listing.images}
        texts = [path for path in listing.ending("txt") if path.parent in folders]
        count = n_("{n:,} image", "{n:,} images", len(listing.images))
        if [path for path in texts if path.stem.casefold() not in _ABOUT]:
            # Texts of other names: the import names them, with the command that renames them.
            return Detection(0.5, _("{} as large as pages, beside texts of other names", count))
        return Detection(0.5, _("{} as large as pages, without texts", count), {"texts": "no"})
    if not pdfs or listing.ending("txt") or listing.images:
        return None
    what = n_("{n} PDF file without texts", "{n} PDF files without texts", len(pdfs))
    return Detection(0.5, what, {"texts": "no"})


def _page_sized(listing: Listing) -> bool:
    """Whether the first images are as large as scans of pages, without other data."""
    images = set(listing.images)
    others = {path.suffix.casefold() for path in listing.files if path not in images}
    if not listing.images or others - _NOTES:
        return False
    for path in listing.images[:5]:
        try:
            with decoding(data := listing.head(path), path.name):
                size = open_header(data, name=path.name).size
        except DataError:
            return False
        if max(size) < _PAGE_SIDE:
            return False
    return True


_PAGE_SIDE = 800
"""Minimum pixels of the longer side of a page's scan; images of characters are smaller."""

_ABOUT = frozenset(
    {"readme", "license", "licence", "copying", "notes", "source", "sources", "about"}
)
"""Names of texts that describe a folder, and not its images."""

_NOTES = frozenset({"", ".txt", ".md"})
"""Suffixes of files that accompany data: licence, source, description."""


def _numbers_alone(listing: Listing, files: list[PurePosixPath]) -> bool:
    """Whether the texts contain only numbers: the boxes of YOLO, not transcriptions."""
    texts = [listing.text(file) for file in files]
    return all(set(text) <= set("0123456789.-e \r\n\t") for text in texts)


READER = Reader(
    "pages",
    "page images, PDF or TIFF files with .txt files",
    LAYOUT,
    read_pages,
    PagesSettings,
    detect_pages,
)


def _item(
    writer: DatasetWriter,
    root: Path,
    scan: Scan,
    number: int,
    image: PageImage,
    text: str,
    pattern: Item,
) -> Item:
    file = scan.file.relative_to(root)
    check_name(file.as_posix(), scan.file)
    within = f"{scan.file}: page {number}" if scan.pages else str(scan.file)
    ref = writer.add_image(image.data, within)
    answer = text.strip("\n\t ")
    about = {"file": file.as_posix()}
    if scan.pages:
        about |= {"page": str(number)} | ({"page_image": image.made} if image.made else {})
        group = file.with_suffix("").as_posix()
    else:
        group = file.parent.as_posix() if file.parent.parts else root.resolve().name
    return replace(
        pattern,
        id=(file.parent / scan.name(number)).as_posix(),
        images=(ref,),
        answer=answer,
        transcription=answer or None,
        group=group,
        metadata=about,
    )

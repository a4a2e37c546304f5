"""Page files of any form: FORMATS ``page-xml``, ``alto`` and ``hocr``, and engines' results.

`import_pages` makes an item of each page; `read_result` reads a page that an engine transcribed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from keju.datasets.line_kinds import FLOW, has_known_kind, parse_kinds
from keju.datasets.pages import (
    OrderChoice,
    Page,
    TextChoice,
    effective_order,
    page_in_reading_order,
    select_lines,
)
from keju.datasets.readers.base import (
    Detection,
    Reader,
    files_under,
    join_names,
    kept_inside,
    plain_file,
    reading,
    source_bytes,
    source_text,
)
from keju.datasets.readers.listing import HEAD, Listing
from keju.datasets.readers.pages.page_xml import ROOTS, Kinds, read_page
from keju.datasets.readers.xml_parsing import BEGINNING, root_name
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_PAGE, mark_blank, task
from keju.errors import DataError, UsageError
from keju.images import EXTENSIONS
from keju.items import ImageRef, Item, Line
from keju.settings import Settings
from keju.texts import _, n_

EXPORT_FOLDERS = frozenset({"page", "alto", "xml", "hocr", "txt"})
"""Directories that exporters create in that of an edition, one per format."""

HOCR_SUFFIXES = ("hocr", "html", "htm", "xhtml")
"""Suffixes of hOCR files, in lower case, without the point."""

_COMPANIONS = frozenset({"mets", "trpDocMetadata"})
"""Root elements of files that exporters write beside the pages."""

_ASPECT = 0.02

TranscriptionTask = Annotated[
    str,
    Meta(
        description="the task that the text answers "
        "(default page_ocr; published: page_level_ocr, T1)"
    ),
]
"""An option of readers: the task of the items."""


_LAYOUT = """\
SRC/                      a folder, with folders in it as deep as you like, or one file
  book1/page001{suffix:11}{form}, one page a file
  book1/page001.jpg       its image, by the name that the file gives or by the file's own name;
                          a page whose image is missing is imported without it
The folder of a page is its group (the unit of independence); a folder called page or alto is
skipped for the one above it."""


class PageSettings(Settings, frozen=True, kw_only=True):
    """The settings of the import of page files."""

    task: TranscriptionTask = OWN_PAGE
    text: Annotated[
        TextChoice,
        Meta(
            description="all lines; body: main text and notes together; main; notes (default all)"
        ),
    ] = "all"
    order: Annotated[
        OrderChoice,
        Meta(
            description="auto: the file's ReadingOrder, else geometry; document; geometry "
            "(default auto)"
        ),
    ] = "auto"
    blank_pages: Annotated[
        bool,
        Meta(description="yes: a page without a line is blank (default no: it is skipped)"),
    ] = False
    kinds: Annotated[
        str,
        Meta(description="what the files' own line types mean, e.g. Glose=note,Vers=main"),
    ] = ""


class AltoSettings(PageSettings, frozen=True, kw_only=True):
    """The settings of the import of ALTO files; `dpi` is in pixels per inch."""

    dpi: Annotated[
        float | None,
        Meta(
            description="resolution of the scans, where the files measure in mm or inches",
            ge=1,
            le=100_000,
        ),
    ] = None


def import_pages(
    src: Path, writer: DatasetWriter, settings: PageSettings, *, form: str
) -> list[str]:
    """Add one item for every page file of a form under `src`; returns notes for the user.

    The answer is the text, one line per column, including empty lines. The metadata of an item
    without image name the missing one. Pages without a selected line are skipped.

    Raises:
        DataError: a file cannot be read as a page, or there is nothing to import.
        UsageError: a setting names an unknown task or kind.
    """
    kind, kinds = task(settings.task), parse_kinds(settings.kinds)
    if [query.form for query in kind.queries] != ["transcription"]:
        raise UsageError(
            "task {!r} does not ask for a transcription; {} does", settings.task, OWN_PAGE
        )
    notes = defaultdict[str, list[str]](list)
    root = src if src.is_dir() else src.parent
    dpi = settings.dpi if isinstance(settings, AltoSettings) else None
    has_items = False
    for file in _page_files(src, form):
        page = read_page(file, kinds, form=form, dpi=dpi)
        inside = file.relative_to(root)
        name = inside.as_posix()
        if settings.text != "all":
            _must_be_told_apart(page, kinds)
        lines = page_in_reading_order(page, order=settings.order)
        wanted = select_lines(lines, settings.text)
        is_blank = settings.blank_pages and not lines
        if not wanted and not is_blank:
            notes[_("skipped, since no line of the wanted kind")].append(name)
            continue
        answer = "\n".join(line.text for line in wanted)
        if is_blank:
            notes[_("imported as blank")].append(name)
        elif not answer.strip():
            notes[_("imported with empty lines alone, so nothing can be scored")].append(name)
        ref, image = None, _image_of(file, page.image_name)
        if image:
            ref = writer.add_image(source_bytes(image), str(image))
            is_inside = image.is_relative_to(root)
            about = {"file": image.relative_to(root).as_posix() if is_inside else image.name}
            lines = _lines_on(lines, page, ref)
        else:
            notes[_("imported without image, since none was found")].append(name)
            size = f"{page.width:g}x{page.height:g}"
            about = {"image": f"missing:{_base_name(page.image_name)}", "page_size": size}
        item = Item(
            id=inside.with_suffix("").as_posix(),
            benchmark=kind.benchmark,
            task=kind.id,
            images=(ref,) if ref else (),
            answer=answer,
            transcription=answer,
            lines=lines,
            group=_edition(root, inside),
            metadata={"order": effective_order(page, settings.order)} | about,
        )
        writer.add(mark_blank(item) if is_blank else item)
        has_items = True
    if not has_items:
        raise DataError("no page to import: none has a line of the selected kind", file=src)
    return [
        n_("{}: {n:,} page, {}", "{}: {n:,} pages, {}", len(names), what, join_names(names))
        for what, names in notes.items()
    ]


def _page_files(src: Path, form: str) -> Iterator[Path]:
    """The files of pages in a source, without those that exporters write beside them."""
    suffixes = HOCR_SUFFIXES if form == "hOCR" else ("xml",)
    paths = list(files_under(src, suffixes)) if src.is_dir() else [src]
    if not paths:
        endings = ", ".join(f".{suffix}" for suffix in suffixes)
        raise DataError("it contains no {} file", endings, file=src, hint="See: keju data formats")
    for path in paths:
        if not src.is_dir() or form == "hOCR" or root_name(_head(path)) not in _COMPANIONS:
            yield path


def _head(path: Path) -> bytes:
    with reading(path), plain_file(path).open("rb") as stream:
        return stream.read(HEAD)


def _must_be_told_apart(page: Page, kinds: Kinds) -> None:
    """Check that all line types are known if lines are selected by kind."""
    for line in page.lines:
        word = line.source_kind
        if line.kind == "other" and not has_known_kind(word, kinds):
            raise DataError(
                "the line type {!r} is unknown, so text and notes cannot be distinguished",
                word,
                file=page.file,
                item=f"line {line.id}",
                hint=_("Give its kind, e.g. kinds={}=main, or import all lines", word),
            )


def _edition(root: Path, inside: Path) -> str:
    """The directory of the edition: above ``page/`` or ``alto/``, the layout of exports."""
    top = root.resolve()
    folder = (top / inside).parent
    if folder.name.lower() in EXPORT_FOLDERS:
        folder = folder.parent
    is_inner = folder != top and folder.is_relative_to(top)
    return folder.relative_to(top).as_posix() if is_inner else folder.name


def _lines_on(lines: tuple[Line, ...], page: Page, image: ImageRef) -> tuple[Line, ...]:
    """Lines of a page with outlines in pixels of its image.

    The image may have another size than the one on which the page was measured, but must have the
    same shape. A page that states no size was measured on the image itself.

    Raises:
        DataError: the image has another shape.
    """
    if not (page.width and page.height):
        return lines
    across, down = image.width / page.width, image.height / page.height
    if min(across, down) <= 0 or abs(across / down - 1) > _ASPECT:
        raise DataError(
            "the page is {:g}x{:g}, but its image has {}x{} pixels",
            page.width,
            page.height,
            image.width,
            image.height,
            file=page.file,
            hint="Use the image from which the page was transcribed",
        )
    return tuple(
        replace(line, polygon=tuple((x * across, y * down) for x, y in line.polygon))
        for line in lines
    )


def _base_name(name: str) -> str:
    """The last part of a file name, path or URL; it is untrusted and never used as a path."""
    plain = name.partition("?")[0] if "://" in name else name
    return re.split(r"[/\\]", plain)[-1].replace("\0", "")


def _image_of(file: Path, image_name: str) -> Path | None:
    """The image of a page: beside its file, or above an export directory.

    Raises:
        DataError: it is a link that leads out.
    """
    suffixes = (*EXTENSIONS, *map(str.upper, EXTENSIONS))
    names = [_base_name(image_name), *(f"{file.stem}.{suffix}" for suffix in suffixes)]
    is_export = file.parent.name.casefold() in EXPORT_FOLDERS
    for folder in file.parents[: 2 if is_export else 1]:
        for path in (folder / name for name in names):
            if path.suffix.casefold().lstrip(".") in EXTENSIONS and path.is_file():
                return kept_inside(path, folder)
    return None


# Results of engines

SUFFIXES = frozenset({"txt", "xml", *HOCR_SUFFIXES})
"""Suffixes of result files, in lower case, without the point."""

MOST_CHARACTERS = 1_000_000
"""Maximum length of the text of a page in characters."""

_ANY_DPI = 254.0
"""Any resolution will do: the page is scaled to the size of its image."""

TEXT = "txt"
"""The form of a file with only the text."""


class PageResult(NamedTuple):
    """A page as transcribed by a program.

    `text` has one row for each line of the file, in its order, without lines that the file labels
    as marginal (header, page number, seal …). `lines` are all of them; none of plain text.
    """

    text: str
    lines: tuple[Line, ...] = ()

    @property
    def marginal(self) -> tuple[Line, ...]:
        """The lines that are not in the text."""
        return tuple(line for line in self.lines if line.text and line.kind not in FLOW)


def form_of(path: Path) -> str:
    """The form of a file with one of `SUFFIXES`; empty if it has none.

    Raises:
        DataError: the file cannot be read.
    """
    suffix = path.suffix.casefold().lstrip(".")
    if suffix == "txt":
        return TEXT
    if suffix in HOCR_SUFFIXES:
        return "hOCR" if b"ocr_page" in _head(path) else ""
    return ROOTS.get(root_name(_head(path)), "")


def read_result(path: Path, form: str, image: ImageRef | None = None) -> PageResult:
    """Read one file, whose form is that of `form_of`.

    The text of PAGE-XML and ALTO is in the order that the file states, else in document order;
    geometry is never used, since the order is part of the program's result. Encodings of text files
    are detected as by an import. A line whose type keju does not know is main text. Outlines are in
    pixels of the `image`; there are none where the file states no size, or is of another image.

    Raises:
        DataError: the file is damaged, has several pages, is too large, or is in no known encoding.
    """
    try:
        page = None if form == TEXT else read_page(path, form=form, dpi=_ANY_DPI)
        # Tesseract and pdftotext end a page with a form feed.
        text = "" if page else source_text(path).strip("\n\f\t ")
    except DataError as error:
        if "--option" not in (error.hint or ""):  # An option of imports.
            raise
        hint = _("Convert the file to UTF-8, for example: iconv -f ENCODING -t UTF-8 FILE > NEW")
        raise DataError(error.problem, file=path, hint=hint) from None
    lines = tuple(
        replace(line, kind="main")
        if line.kind == "other" and not has_known_kind(line.source_kind)
        else line
        for line in (page.lines if page else ())
    )
    if len(text) + sum(len(line.text) + len(line.polygon) for line in lines) > MOST_CHARACTERS:
        raise DataError(
            "more than {:,} characters and points, too many for a page",
            MOST_CHARACTERS,
            file=path,
            hint="Keep one page per file",
        )
    if page is None:
        return PageResult(text)
    if image:
        placed = tuple(replace(line, polygon=()) for line in lines)
        with suppress(DataError):
            placed = _lines_on(lines, page, image) if page.width and page.height else placed
        lines = placed
    text = "\n".join(line.text for line in lines if line.text and line.kind in FLOW)
    return PageResult(text, lines)


# Detection

_SAMPLE = 40
"""The number of files that are opened."""


def xml_roots(listing: Listing) -> Counter[str]:
    """The names of root elements in a sample of the XML files, each with its number of files."""
    paths = listing.ending("xml")
    sample = paths[:: max(1, len(paths) // _SAMPLE)][:_SAMPLE]
    return Counter(root_name(listing.head(path, BEGINNING)) for path in sample)


def _detect(listing: Listing, form: str) -> Detection | None:
    """Recognise pages by the root elements of XML files, or by the class of hOCR's pages."""
    if form == "hOCR":
        html = listing.ending("html", "htm", "xhtml")[:_SAMPLE]
        hocr = (path for path in html if b"ocr_page" in listing.head(path))
        paths = (*listing.ending("hocr"), *hocr)
        pages, rest = len(paths), len(listing.ending("xml", "txt"))
    else:
        paths, roots = listing.ending("xml"), xml_roots(listing)
        pages = sum(count for root, count in roots.items() if ROOTS.get(root) == form)
        ignored = {"", *_COMPANIONS}
        rest = sum(count for root, count in roots.items() if root not in ignored) - pages
    if not pages:
        return None
    images = len(listing.images)
    what = _(
        "{} in {}, {}",
        n_("{n} {} file", "{n} {} files", len(paths), form),
        n_("{n} folder", "{n} folders", len({path.parent for path in paths})),
        n_("{n} image", "{n} images", images) if images else _("no images"),
    )
    return Detection(pages / (pages + rest), what)


def _reader(form: str, what: str, settings: type[PageSettings] = PageSettings) -> Reader[Any]:
    is_hocr = form == "hOCR"
    return Reader(
        form.lower(),
        what,
        _LAYOUT.format(form=form, suffix=".hocr" if is_hocr else ".xml"),
        partial(import_pages, form=form),
        settings,
        partial(_detect, form=form),
        texts=is_hocr,  # XML declares its own encoding.
    )


PAGE_XML = _reader("PAGE-XML", "PAGE-XML, with or without the page images")
ALTO = _reader("ALTO", "ALTO 1 to 4, with or without the page images", AltoSettings)
HOCR = _reader("hOCR", "pages in hOCR 1.2, with or without their images")

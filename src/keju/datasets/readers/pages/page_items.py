"""Conversion of pages to items of a transcription task; shared by PAGE-XML, ALTO and hOCR."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from keju.datasets.line_kinds import has_known_kind, is_specific, parse_kinds
from keju.datasets.pages import (
    OrderChoice,
    Page,
    TextChoice,
    effective_order,
    page_in_reading_order,
    select_lines,
)
from keju.datasets.readers.base import (
    files_under,
    image_files,
    join_names,
    kept_inside,
    source_bytes,
)
from keju.datasets.readers.pages.xml_roots import COMPANIONS, root_of_bytes
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_PAGE, Task, mark_blank
from keju.definitions import task as find_task
from keju.errors import DataError, UsageError
from keju.images import EXTENSIONS
from keju.items import ImageRef, Item, Line, LineKind
from keju.settings import Settings
from keju.texts import Text, _, n_

EXPORT_FOLDERS = frozenset({"page", "alto", "xml", "hocr", "txt"})
"""Directories that exporters create in that of an edition, one per format."""

_ASPECT = 0.02

_NOTES = ("no image", "no text", "no line", "blank")


TranscriptionTask = Annotated[
    str,
    Meta(
        description="the task that the text answers "
        "(default page_ocr; published: page_level_ocr, T1)"
    ),
]
"""An option of readers: the task of the items."""


def page_layout(form: str) -> str:
    """The description of a source of that format, for the command's help."""
    return f"""\
SRC/                      a folder, with folders in it as deep as you like, or one file
  book1/page001.xml       {form}, one page a file
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
    images: Annotated[
        Path | None,
        Meta(description="the folder of the page images, if they are not beside the files"),
    ] = None
    blank_pages: Annotated[
        bool,
        Meta(description="yes: a page without a line is blank (default no: it is skipped)"),
    ] = False
    kinds: Annotated[
        str,
        Meta(description="what the files' own line types mean, e.g. Glose=note,Vers=main"),
    ] = ""


ReadPage = Callable[[Path, Mapping[str, LineKind]], Page]
"""Reads the page in a file, with the user's meanings of line types."""


def transcription_task(name: str) -> Task:
    """The transcription task of that name or id.

    Raises:
        UsageError: it is unknown, or not a transcription task.
    """
    declared = find_task(name)
    if [query.form for query in declared.queries] != ["transcription"]:
        raise UsageError("task {!r} does not ask for a transcription; {} does", name, OWN_PAGE)
    return declared


def import_pages(
    src: Path,
    writer: DatasetWriter,
    settings: PageSettings,
    *,
    read: ReadPage,
    suffixes: Collection[str] = ("xml",),
) -> list[str]:
    """Add one item for every page file under `src`; returns notes for the user.

    The answer is the text, one line per column, including empty lines. The metadata of an item
    without image name the missing one. Pages without a selected line are skipped.
    `read` reads a file of the format; `suffixes` are in lower case, without the point.

    Raises:
        DataError: a file cannot be read as a page, or there is nothing to import.
        UsageError: a setting names an unknown task, kind or folder.
    """
    kind, kinds = transcription_task(settings.task), parse_kinds(settings.kinds)
    if settings.images and not settings.images.is_dir():
        raise UsageError("{}: no such folder of images", settings.images)
    pictures = _Pictures(settings.images)
    noted: dict[str, list[str]] = {what: [] for what in _NOTES}
    added = 0
    for file, page in _pages(src, read, kinds, suffixes):
        inside = file.relative_to(src) if file != src else Path(file.name)
        if settings.text != "all":
            _must_be_told_apart(page, kinds)
        lines = page_in_reading_order(page, order=settings.order)
        wanted = select_lines(lines, settings.text)
        is_blank = settings.blank_pages and not lines
        if not wanted and not is_blank:
            noted["no line"].append(inside.as_posix())
            continue
        if is_blank:
            noted["blank"].append(inside.as_posix())
        elif not any(line.text.strip() for line in wanted):
            noted["no text"].append(inside.as_posix())
        picture = pictures.find(file, inside, page.image_name)
        ref = writer.add_image(source_bytes(picture), str(picture)) if picture else None
        if ref is None:
            noted["no image"].append(inside.as_posix())
        answer = "\n".join(line.text for line in wanted)
        item = Item(
            id=inside.with_suffix("").as_posix(),
            benchmark=kind.benchmark,
            task=kind.id,
            images=(ref,) if ref else (),
            answer=answer,
            transcription=answer,
            lines=_lines_on(ref, lines, page),
            group=_edition(src, inside),
            metadata={"order": effective_order(page, settings.order)}
            | (_about_image(picture, src, settings.images) if picture else _about_missing(page)),
        )
        writer.add(mark_blank(item) if is_blank else item)
        added += 1
    if not added:
        raise DataError("no page to import: none has a line of the selected kind", file=src)
    return [
        _describe_pages(what, count=len(names), names=join_names(names))
        for what, names in noted.items()
        if names
    ]


def _describe_pages(what: str, count: int, names: str) -> Text:
    """The note on pages that were imported or skipped for one reason of `_NOTES`."""
    match what:
        case "no image":
            return n_(
                "imported without image, since none was found: {n:,} page, {}",
                "imported without image, since none was found: {n:,} pages, {}",
                count,
                names,
            )
        case "no text":
            return n_(
                "imported with empty lines alone, so nothing can be scored: {n:,} page, {}",
                "imported with empty lines alone, so nothing can be scored: {n:,} pages, {}",
                count,
                names,
            )
        case "no line":
            return n_(
                "skipped, since no line of the wanted kind: {n:,} page, {}",
                "skipped, since no line of the wanted kind: {n:,} pages, {}",
                count,
                names,
            )
        case _:
            return n_(
                "imported as blank: {n:,} page, {}",
                "imported as blank: {n:,} pages, {}",
                count,
                names,
            )


def _about_image(picture: Path, src: Path, images: Path | None) -> dict[str, str]:
    """The path of an image in the source, or in the directory of images."""
    folders = [src if src.is_dir() else src.parent, *([images] if images else [])]
    found = [picture.relative_to(each) for each in folders if picture.is_relative_to(each)]
    return {"file": found[0].as_posix() if found else picture.name}


def _about_missing(page: Page) -> dict[str, str]:
    size = f"{page.width:g}x{page.height:g}"
    return {"image": f"missing:{_base_name(page.image_name)}", "page_size": size}


def _pages(
    src: Path, read: ReadPage, kinds: Mapping[str, LineKind], suffixes: Collection[str]
) -> Iterator[tuple[Path, Page]]:
    if not src.is_dir():
        yield src, read(src, kinds)
        return
    found = list(files_under(src, suffixes))
    if not found:
        endings = ", ".join(f".{suffix}" for suffix in suffixes)
        raise DataError("it contains no {} file", endings, file=src, hint="See: keju data formats")
    for path in found:
        try:
            page = read(path, kinds)
        except DataError:
            if root_of_bytes(source_bytes(path)) in COMPANIONS:
                continue
            raise
        yield path, page


def _must_be_told_apart(page: Page, kinds: Mapping[str, LineKind]) -> None:
    """Check that all line types are known if lines are selected by kind."""
    for line in page.lines:
        word = line.source_kind
        if line.kind == "other" and is_specific(word) and not has_known_kind(word, kinds):
            raise DataError(
                "the line type {!r} is unknown, so text and notes cannot be distinguished",
                word,
                file=page.file,
                item=f"line {line.id}",
                hint=_("Give its kind, e.g. kinds={}=main, or import all lines", word),
            )


def _edition(src: Path, inside: Path) -> str:
    """The directory of the edition: above ``page/`` or ``alto/``, the layout of exports."""
    folders = list(inside.parts[:-1])
    if folders and folders[-1].lower() in EXPORT_FOLDERS:
        folders.pop()
    if folders:
        return "/".join(folders)
    root = src.resolve().parent if src.is_file() else src.resolve()
    return root.parent.name if root.name.lower() in EXPORT_FOLDERS else root.name


def _lines_on(ref: ImageRef | None, lines: tuple[Line, ...], page: Page) -> tuple[Line, ...]:
    """The lines with outlines in pixels of the image."""
    if ref is None or not (page.width and page.height):
        return lines
    if has_other_shape(page, ref):
        raise DataError(
            "the page is {:g}x{:g}, but its image has {}x{} pixels",
            page.width,
            page.height,
            ref.width,
            ref.height,
            file=page.file,
            hint="Use the image from which the page was transcribed",
        )
    return on_picture(lines, page, ref)


def has_other_shape(page: Page, image: ImageRef) -> bool:
    """Whether a page was measured on another image: its sides have another ratio, or no length."""
    if not (page.width > 0 and page.height > 0):
        return True
    return abs(image.width / page.width * page.height / image.height - 1) > _ASPECT


def on_picture(lines: tuple[Line, ...], page: Page, image: ImageRef) -> tuple[Line, ...]:
    """Outlines in pixels of the stored image, whose size may differ from the file's page."""
    across, down = image.width / page.width, image.height / page.height
    if across == down == 1:
        return lines
    return tuple(
        msgspec.structs.replace(
            line, polygon=tuple((x * across, y * down) for x, y in line.polygon)
        )
        for line in lines
    )


def _base_name(name: str) -> str:
    """The last part of a file name, path or URL; it is untrusted and never used as a path."""
    plain = name.partition("?")[0] if "://" in name else name
    return re.split(r"[/\\]", plain)[-1].replace("\0", "")


class _Pictures:
    """Finds the image of a page: beside its file, above an export directory, or under `images`."""

    def __init__(self, images: Path | None) -> None:
        self._images = images
        self._known: dict[Path, dict[str, list[Path]]] = {}
        self._under: dict[str, list[Path]] = _by_name(image_files(images)) if images else {}

    def find(self, file: Path, inside: Path, image_name: str) -> Path | None:
        """The image, or None.

        Raises:
            DataError: several images under `images` have the name.
        """
        names = [_base_name(image_name), *(f"{file.stem}.{suffix}" for suffix in EXTENSIONS)]
        folders = [file.parent]
        if file.parent.name.casefold() in EXPORT_FOLDERS:
            folders.append(file.parent.parent)
        if self._images is not None:
            folders += [self._images / inside.parent, self._images]
        for folder in folders:
            if found := _named(names, self._in(folder)):
                return found[0]
        found = _named(names, self._under)
        if len(found) > 1:
            raise DataError(
                n_(
                    "{n:,} image is called {}",
                    "{n:,} images are called {}",
                    len(found),
                    found[0].name,
                    hint="Give a folder with the same subfolders as the pages",
                ),
                file=self._images,
            )
        return found[0] if found else None

    def _in(self, folder: Path) -> dict[str, list[Path]]:
        if folder not in self._known:
            files = folder.iterdir() if folder.is_dir() else iter(())
            self._known[folder] = _by_name(
                kept_inside(path, folder) for path in files if _is_picture(path)
            )
        return self._known[folder]


def _named(names: list[str], pictures: Mapping[str, list[Path]]) -> list[Path]:
    return next((pictures[name.casefold()] for name in names if name.casefold() in pictures), [])


def _is_picture(path: Path) -> bool:
    suffix = path.suffix.casefold().lstrip(".")
    return suffix in EXTENSIONS and path.is_file() and not path.name.startswith(".")


def _by_name(paths: Iterator[Path]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in sorted(paths):
        found.setdefault(path.name.casefold(), []).append(path)
    return found

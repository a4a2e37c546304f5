"""FORMAT ``hisdoc``: M5HisDoc, and MTHv2 from which it takes pages: page images with text lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from keju.datasets.pages import Page, page_in_reading_order
from keju.datasets.readers.base import (
    Detection,
    Reader,
    check_name,
    files_under,
    image_files,
    join_names,
    source_bytes,
    source_text,
)
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.page_items import TranscriptionTask, transcription_task
from keju.datasets.store import DatasetWriter
from keju.definitions import OWN_PAGE, Task
from keju.errors import DataError
from keju.images import EXTENSIONS
from keju.items import Item, Line, Point
from keju.settings import Settings
from keju.texts import _, n_

LAYOUT = """\
SRC/                          M5HisDoc, MTHv2, or one subset of them
  M5HisDoc_regular/           and M5HisDoc_hard/
    images/NAME.jpg           the pages
    label_textline/NAME.txt   a text line per line: x1,y1,x2,y2,x3,y3,x4,y4,TEXT
    label_char/NAME.txt       boxes of characters; not imported
  split_train.txt             and split_val.txt, split_test.txt: a NAME per line
  TKH/, MTH1000/, MTH1200/    MTHv2: img/ instead of images/, and TEXT before the coordinates
HisDoc1B (books/*.pdf, annos/*.json) is recognised but not read: its authors publish the names of
the folders, and no public page or program shows what a .json file of it contains."""


class HisDocSettings(Settings, frozen=True, kw_only=True):
    """Which pages of M5HisDoc or MTHv2 are imported, and how."""

    task: TranscriptionTask = OWN_PAGE
    split: Annotated[
        Literal["", "train", "val", "test"],
        Meta(
            description="train, val or test: the pages that split_train.txt … names "
            "(default all pages)"
        ),
    ] = ""
    order: Annotated[
        Literal["released", "geometry"],
        Meta(
            description="released: the order of the lines in the file; geometry (default released)"
        ),
    ] = "released"
    skip_missing: Annotated[
        bool,
        Meta(description="yes: skip pages whose image or text is missing (default no)"),
    ] = False


_TEXTS = "label_textline"
_CHARACTERS = "label_char"
_IMAGES = ("images", "img")

HISDOC1B = (
    "HisDoc1B's layout (books/*.pdf, annos/*.json): no public source shows what annos/*.json "
    "contains, so it is not read"
)
_HISDOC1B_HINT = "Convert the pages to PAGE-XML, or to images with .txt files (FORMAT pages)"


_NUMBERS = 8
_LARGEST = 1e6


class _Page(NamedTuple):
    """A page: the subset's directory, its name in it, and its two files, where they exist."""

    root: Path
    name: str
    image: Path | None
    text: Path | None


def read_hisdoc(src: Path, writer: DatasetWriter, settings: HisDocSettings) -> Iterator[str]:
    """Read one transcription item per page, with its lines and their outlines.

    The order of lines is that of the file: the release has reading order (README), that the file
    has this order is our reading, as in programs that join the lines of MTHv2. No release states
    the book of a page, so a page is a group; its regular and its hard image are one group.

    Raises:
        UsageError: the task is unknown or is not a transcription task.
        DataError: no text lines, HisDoc1B, a page without image or text (unless skipped), a line
            that does not have the layout, a broken image.
    """
    writer.declare(unit="page")
    task = transcription_task(settings.task)
    if not src.is_dir():
        raise DataError(
            "expected a folder with {}/", _TEXTS, file=src, hint="See: keju data formats hisdoc"
        )
    pages = list(_pages(src))
    if not pages:
        raise _nothing(src)
    splits = _splits(src)
    split = settings.split
    if split and not splits:
        raise DataError(
            "split={0}, but there is no split_{0}.txt",
            split,
            file=src,
            hint="See: keju data formats hisdoc",
        )
    wanted = [page for page in pages if split in ("", splits.get(page.name, ""))]
    yield from _note_halves(src, wanted, skip=settings.skip_missing)
    empty = []
    whole = [page for page in wanted if page.image and page.text]
    for page in whole:
        about = {
            "subset": page.root.resolve().name,
            "split": splits.get(page.name, ""),
            "order": "geometry" if settings.order == "geometry" else "stated",
        }
        if item := _item(src, writer, page, task, about):
            writer.add(item)
        else:
            empty.append(f"{_id(src, page)}.txt")
    if len(empty) == len(whole):
        raise DataError(
            "no page with text lines to import", file=src, hint="See: keju data formats hisdoc"
        )
    if empty:
        yield n_(
            "{n:,} page without any text line, skipped: {}",
            "{n:,} pages without any text line, skipped: {}",
            len(empty),
            join_names(empty),
        )
    if splits and (without := sorted({page.name for page in pages} - set(splits))):
        yield n_(
            "{n:,} page in no split: {}",
            "{n:,} pages in no split: {}",
            len(without),
            join_names(without),
        )


def detect_hisdoc(listing: Listing) -> Detection | None:
    """Recognise M5HisDoc or MTHv2 by directory names, HisDoc1B by ``books/`` and ``annos/``."""
    texts = [path for path in listing.ending("txt") if path.parent.name == _TEXTS]
    if texts:
        images = {path.stem for path in listing.images if path.parent.name in _IMAGES}
        roots = Counter(path.parent.parent.name or listing.root.name for path in texts)
        what = n_(
            "M5HisDoc or MTHv2: {n:,} page with text lines in {}",
            "M5HisDoc or MTHv2: {n:,} pages with text lines in {}",
            len(texts),
            join_names(sorted(roots)),
        )
        return Detection(1, what, missing="" if images else _("the images, in images/ or img/"))
    if any(path.parent.name == _CHARACTERS for path in listing.ending("txt")):
        what = _("M5HisDoc with characters alone")
        return Detection(0.9, what, missing=_("the folder {}", _TEXTS))
    books = [path for path in listing.ending("pdf", "djvu") if path.parent.name == "books"]
    annotations = [path for path in listing.ending("json") if path.parent.name == "annos"]
    if annotations and (books or listing.named("book2im.py", "read_anno.py")):
        what = _(
            "HisDoc1B: {}, {}",
            n_("{n:,} book", "{n:,} books", len(books)),
            n_("{n:,} annotation file", "{n:,} annotation files", len(annotations)),
        )
        return Detection(0.9, what, missing=_("{}. {}", HISDOC1B, _HISDOC1B_HINT))
    return None


READER = Reader(
    "hisdoc",
    "page images with text lines of M5HisDoc or MTHv2",
    LAYOUT,
    read_hisdoc,
    HisDocSettings,
    detect_hisdoc,
)


def _nothing(src: Path) -> DataError:
    """The error for a directory that has no text lines."""
    if any(path.parent.name == "annos" for path in files_under(src, {"json"})):
        return DataError(
            "HisDoc1B's layout (books/*.pdf, annos/*.json): no public source shows what "
            "annos/*.json contains, so it is not read",
            file=src,
            hint="Convert the pages to PAGE-XML, or to images with .txt files (FORMAT pages)",
        )
    if any(path.parent.name == _CHARACTERS for path in files_under(src, {"txt"})):
        problem = _(
            "the folder {} is missing; {} does not contain lines",
            _TEXTS,
            _CHARACTERS,
            hint=_("Put {} beside {}", _TEXTS, _CHARACTERS),
        )
        return DataError(problem, file=src)
    return DataError(
        "no .txt file in a folder {}", _TEXTS, file=src, hint="See: keju data formats hisdoc"
    )


def _pages(src: Path) -> Iterator[_Page]:
    """Every page of every subset, by its name."""
    texts: dict[tuple[Path, str], Path] = {}
    for path in files_under(src, {"txt"}):
        if path.parent.name == _TEXTS:
            texts[path.parent.parent, path.stem] = path
        elif path.parent.name == _CHARACTERS:
            import_log().ignored(_CHARACTERS)
    roots = {root for root, _ in texts}
    images: dict[tuple[Path, str], Path] = {}
    for path in image_files(src):
        key = path.parent.parent, path.stem
        if path.parent.name in _IMAGES and key[0] in roots:
            if other := images.get(key):
                problem = _(
                    "two images of one page: {} and {}",
                    other.name,
                    path.name,
                    hint="Keep one of them",
                )
                raise DataError(problem, file=path.parent)
            images[key] = path
    for key in sorted({*texts, *images}):
        yield _Page(*key, images.get(key), texts.get(key))


def _splits(src: Path) -> Mapping[str, str]:
    """The split of each page that a ``split_*.txt`` names."""
    found: dict[str, str] = {}
    for path in files_under(src, {"txt"}):
        split = path.stem.removeprefix("split_")
        if path.parent.name in (_TEXTS, _CHARACTERS) or path.stem != f"split_{split}":
            continue
        for line in source_text(path).split("\n"):
            name = PurePosixPath(line.strip().replace("\\", "/"))
            known = name.suffix.casefold().lstrip(".") in {*EXTENSIONS, "txt"}
            page = name.stem if known else name.name
            if page and found.setdefault(page, split) != split:
                raise DataError(
                    "this page is also in another split",
                    file=path,
                    item=page,
                    hint="Keep each page in one split",
                )
    return found


def _note_halves(src: Path, pages: list[_Page], *, skip: bool) -> Iterator[str]:
    halves = [image or text or root for root, _, image, text in pages if not (image and text)]
    if halves:
        names = join_names(path.relative_to(src).as_posix() for path in halves)
        problem = n_(
            "{n:,} file without their image or text: {}",
            "{n:,} files without their image or text: {}",
            len(halves),
            names,
            hint="Add the missing files, or skip these pages: --option skip-missing=yes",
        )
        if not skip:
            raise DataError(problem, file=src)
        yield _("skipped {}", problem)


def _id(src: Path, page: _Page) -> str:
    return (page.root.relative_to(src) / page.name).as_posix()


def _item(
    src: Path, writer: DatasetWriter, page: _Page, task: Task, about: dict[str, str]
) -> Item | None:
    """The item of a page with both files, with its metadata; None if it has no text line."""
    assert page.image
    assert page.text
    check_name(page.name, page.image)
    lines = lines_of(page.text)
    if not any(line.text.strip() for line in lines):
        return None
    ref = writer.add_image(source_bytes(page.image), str(page.image))
    if about["order"] == "geometry":
        size = {"width": ref.width, "height": ref.height}
        found = Page(file=str(page.text), image_name="", lines=lines, explicit_order=False, **size)
        lines = page_in_reading_order(found, order="geometry")
    answer = "\n".join(line.text for line in lines if line.text.strip())
    return Item(
        id=_id(src, page),
        benchmark=task.benchmark,
        task=task.id,
        images=(ref,),
        answer=answer,
        transcription=answer,
        lines=lines,
        group=page.name,
        metadata={key: value for key, value in about.items() if value},
    )


def lines_of(file: Path) -> tuple[Line, ...]:
    """The lines of a page in the order of its file, each with the outline of four corners.

    In M5HisDoc the text comes after the coordinates, in MTHv2 before them (both seen in code that
    reads the release). A file has one of the two layouts; where every line fits both (texts that
    are numbers), M5HisDoc's is assumed. The text may contain commas.

    Raises:
        DataError: not readable, or a line has neither layout.
    """
    rows = [(n, row) for n, row in enumerate(source_text(file).split("\n"), 1) if row.strip()]
    cells = [row.split(",", _NUMBERS) for _, row in rows]
    after = [_parsed(each[-1], each[:-1]) for each in cells]
    cells = [row.rsplit(",", _NUMBERS) for _, row in rows]
    before = [_parsed(each[0], each[1:]) for each in cells]
    parsed = after if sum(map(bool, after)) >= sum(map(bool, before)) else before
    found: list[Line] = []
    for (number, __), line in zip(rows, parsed, strict=True):
        if line is None:
            raise DataError(
                "expected x1,y1,x2,y2,x3,y3,x4,y4,TEXT, or TEXT and the eight coordinates",
                file=file,
                item=f"line {number}",
                hint="Write coordinates in pixels, separated by commas",
            )
        text, outline = line
        found.append(Line(id=f"l{len(found) + 1}", text=text, polygon=outline))
    return tuple(found)


def _parsed(text: str, numbers: list[str]) -> tuple[str, tuple[Point, ...]] | None:
    """A text and its four corners; None if the numbers are not eight coordinates."""
    if len(numbers) != _NUMBERS:
        return None
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        return None
    if not all(abs(value) < _LARGEST for value in values):
        return None
    return text.strip(), tuple(zip(values[::2], values[1::2], strict=True))

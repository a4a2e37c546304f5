"""Step ``typeset``: new images for transcriptions whose own images may not be shared.

The text of each line is set into its own outline, so that layouts are those of real books and the
reference is exact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from keju.building.dropped import Dropped, write_dropped
from keju.datasets.pages import TextChoice, select_lines
from keju.definitions import query_of
from keju.errors import DataError, UsageError, number_of, unknown_name
from keju.items import Item, Line
from keju.plugins import Settings, StepContext, step
from keju.scoring.memorization import CONTROL_OF
from keju.texts import _, listed, n_
from keju_synthetic.camera import Scan
from keju_synthetic.page_images import DrawingStyle, draw_page_image
from keju_synthetic.typesetting import (
    TypesetOptions,
    embolden_small_type,
    list_typefaces,
    load_typeface,
    typeset_lines,
)
from keju_synthetic.wear import compute_wear

BY_BOOK = "by-book"
_PRINTED = ("song", "ming", "kai")
_SIZE = re.compile(r"(\d{2,6})(?:\.\d+)?x(\d{2,6})(?:\.\d+)?")
_CHUNK = 32


class TypesetSettings(Settings, frozen=True):
    """The typesetting and the wear of the pages."""

    typeface: Annotated[
        str,
        Meta(
            description="song, ming, kai, brush, or by-book: one of the first three for each book."
        ),
    ] = BY_BOOK
    text: Annotated[
        TextChoice, Meta(description="Lines of the answer: body, main, notes, all.")
    ] = "body"
    missing: Annotated[
        Literal["mark", "line"],
        Meta(
            description="For a character without an outline: mark (set □), or line (drop the line)."
        ),
    ] = "mark"
    difficulty: Annotated[float, Meta(description="Amount of wear, 0 to 1.", ge=0, le=1)] = 0.3
    spread: Annotated[
        float, Meta(description="Variation of the difficulty from page to page (±).", ge=0, le=1)
    ] = 0.15
    scan: Annotated[Scan, Meta(description="Kind of scan: colour, grey or bitonal.")] = "colour"
    frames: Annotated[bool, Meta(description="Whether frames and rules are drawn.")] = True
    pixels: Annotated[
        int, Meta(description="Size of an image in pixels.", ge=100_000, le=20_000_000)
    ] = 1_365_984
    quality: Annotated[int, Meta(description="JPEG quality.", ge=1, le=95)] = 80


class UnsetText(Struct, frozen=True):
    """A line, or characters of it, that were not set, with the reason."""

    item: str
    line: str
    text: str
    why: str


class FontUsed(Struct, frozen=True):
    """A font of a typeface that drew, or could have drawn, characters."""

    typeface: str
    hand: str
    family: str
    style: str
    version: str
    licence: str
    sha256: str


class PageJob(Struct, frozen=True):
    """A page to be set; `lines` as JSON."""

    name: str
    lines: bytes
    wide: float
    high: float
    typeface: str
    difficulty: float
    scan: str
    frames: bool
    marked: bool
    pixels: int
    quality: int
    seed: int


class TypesetPage(Struct, frozen=True):
    """A typeset page: JPEG, its lines as JSON, and line, text and reason of everything dropped."""

    data: bytes = b""
    lines: bytes = b""
    left_lines: list[str] = []
    left_texts: list[str] = []
    left_whys: list[str] = []
    error: str = ""


@step(
    "typeset",
    summary="Draw pages again: each line's text set into its own outline, with an exact reference.",
    settings=TypesetSettings,
)
def typeset_pages(context: StepContext, settings: TypesetSettings) -> None:
    """Draw every page whose lines have outlines, and list the dropped pages and characters.

    Raises:
        UsageError: no such typeface.
        PrerequisiteError: its first font is not installed.
        DataError: no item is a page to be transcribed with outlines.
    """
    if settings.typeface not in {BY_BOOK, *list_typefaces()}:
        raise UsageError(unknown_name(settings.typeface, (BY_BOOK, *list_typefaces()), "typeface"))
    dropped: list[Dropped] = []
    unset: list[UnsetText] = []
    pages: list[tuple[Item, PageJob]] = []
    for item in context.iter_items():
        job = _make_job(context, settings, item)
        if isinstance(job, str):
            dropped.append(Dropped(item.id, job, item.task))
        else:
            pages.append((item, job))
    if not pages:
        raise DataError(
            "no item is a transcription with outlines of its lines", hint="Import PAGE-XML or ALTO"
        )
    drawn = context.engine.map(
        "set", [job for _, job in pages], typeset_page, TypesetPage, chunk=_CHUNK
    )
    kept = 0
    for (item, job), page in zip(pages, drawn, strict=True):
        if page.error:
            dropped.append(Dropped(item.id, page.error, item.task))
            continue
        lines = tuple(msgspec.json.decode(page.lines, type=list[Line]))
        answer = "\n".join(line.text for line in select_lines(lines, settings.text))
        if not answer:
            dropped.append(Dropped(item.id, f"no line of it is {settings.text}", item.task))
            continue
        unset += _list_unset(item, page)
        new = _make_item(context, item, job, page, lines)
        context.keep(
            replace(new, answer=answer, transcription=answer),
            note=(
                f"{number_of(len(lines), 'line')} set in {job.typeface}, difficulty "
                f"{job.difficulty:g}"
            ),
        )
        kept += 1
    write_dropped(context.out, dropped)
    context.table("unset", unset, UnsetText)
    context.table("fonts", list(_list_fonts({job.typeface for _, job in pages})), FontUsed)
    _add_notes(context, unset, kept)


def typeset_page(job: PageJob) -> TypesetPage:
    """Set and draw one page."""
    face = load_typeface(job.typeface)
    lines = msgspec.json.decode(job.lines, type=list[Line])
    height = round((job.pixels * job.high / job.wide) ** 0.5)
    look = TypesetOptions(face, framed=job.frames, marked=job.marked)
    page = typeset_lines(lines, (job.wide, job.high), height, look)
    if not page.layout.lines:
        return TypesetPage(error="no line of it can be set")
    wear = compute_wear(job.difficulty)
    scan = msgspec.convert(job.scan, Scan)
    fonts = embolden_small_type(page.layout, face.fonts)
    style = DrawingStyle(fonts, wear, scan, job.quality, brushed=job.typeface == "brush")
    drawn = draw_page_image(page.layout, style, job.seed, job.name)
    return TypesetPage(
        data=drawn.data,
        lines=msgspec.json.encode(drawn.lines),
        left_lines=[each.line for each in page.unset],
        left_texts=[each.text for each in page.unset],
        left_whys=[each.why for each in page.unset],
    )


def _make_job(context: StepContext, settings: TypesetSettings, item: Item) -> PageJob | str:
    """The job of an item, or the reason why it has none."""
    if query_of(item).form != "transcription":
        return "it asks for no transcription"
    if not any(line.polygon for line in item.lines):
        return "none of its lines has an outline"
    if not any(line.text.strip() for line in select_lines(item.lines, settings.text)):
        return f"no line of it is {settings.text}"
    size = _find_page_size(item)
    if size is None:
        return "the size of its page is not known"
    face = settings.typeface
    if face == BY_BOOK:
        face = _PRINTED[int(context.rng("typeface", item.group).integers(len(_PRINTED)))]
    # A control is drawn like its original, except for its alterations.
    name = item.metadata.get(CONTROL_OF, item.id)
    stray = (float(context.rng("wear", name).random()) * 2 - 1) * settings.spread
    return PageJob(
        name=name,
        lines=msgspec.json.encode(item.lines),
        wide=size[0],
        high=size[1],
        typeface=face,
        difficulty=round(min(1.0, max(0.0, settings.difficulty + stray)), 3),
        scan=settings.scan,
        frames=settings.frames,
        marked=settings.missing == "mark",
        pixels=settings.pixels,
        quality=settings.quality,
        seed=int(context.rng("pages").integers(1 << 31)),
    )


def _find_page_size(item: Item) -> tuple[float, float] | None:
    """Width and height of the page in whose pixels the outlines are; None if unknown."""
    if item.images:
        return float(item.images[0].width), float(item.images[0].height)
    found = _SIZE.fullmatch(item.metadata.get("page_size", ""))
    wide, high = (int(found[1]), int(found[2])) if found else (0, 0)
    # Such a strip is not a page.
    return (wide, high) if wide and 1 / 50 < high / wide < 50 else None


def _make_item(
    context: StepContext, item: Item, job: PageJob, page: TypesetPage, lines: tuple[Line, ...]
) -> Item:
    """The item with its new image and lines, without the metadata of its former image."""
    kept = {name: text for name, text in item.metadata.items() if name not in _OF_THE_SOURCE}
    look = {
        "picture": "drawn",
        "typeface": job.typeface,
        "difficulty": f"{job.difficulty:g}",
        "scan": job.scan,
    }
    ref = context.writer.add_image(page.data, f"{item.id}.jpg")
    return replace(
        item, images=(ref,), lines=lines, answer_simplified="", also_accepted=(),
        metadata=kept | look,
    )  # fmt: skip


_OF_THE_SOURCE = frozenset({"image", "page_size"})
"""Metadata that describe the image of the source."""


def _list_unset(item: Item, page: TypesetPage) -> Iterator[UnsetText]:
    for line, text, why in zip(page.left_lines, page.left_texts, page.left_whys, strict=True):
        yield UnsetText(item.id, line, text, why)


def _list_fonts(faces: set[str]) -> Iterator[FontUsed]:
    for name in sorted(faces):
        for hand, font in load_typeface(name).list_records().items():
            yield FontUsed(
                name, hand, font.family, font.style, font.version, font.licence, font.sha256
            )


def _add_notes(context: StepContext, unset: list[UnsetText], kept: int) -> None:
    context.note(
        n_(
            "{n:,} page set, {} dropped",
            "{n:,} pages set, {} dropped",
            kept,
            len(context.dataset) - kept,
        )
    )
    counts = Counter(each.why for each in unset if each.line)
    signs = Counter(sign for each in unset if each.why == "no font has it" for sign in each.text)
    if counts:
        reasons = listed(_count_lines(why, count) for why, count in counts.items())
        context.note(_("of lines: {}", reasons))
    if signs:
        most = "".join(sign for sign, _ in signs.most_common(20))
        context.note(_("characters that no font has: {:d}, among them {}", signs.total(), most))


def _count_lines(why: str, count: int) -> str:
    match why:
        case "no place":
            return _("no place {:d}", count)
        case "no room":
            return _("no room {:d}", count)
        case "no text":
            return _("no text {:d}", count)
        case "no printed sign":
            return _("no printed sign {:d}", count)
        case _:
            return _("no font has it {:d}", count)

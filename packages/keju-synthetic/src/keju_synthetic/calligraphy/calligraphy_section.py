"""The section ``calligraphy``: works with signature and seals, for T8 to T15 of MCS-Bench."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta, field
from PIL.Image import Image

from keju.errors import DataError, unknown_name
from keju.files import read_toml
from keju.items import Item, Line, Record
from keju.messages import message
from keju_synthetic.calligraphy.brush_ink import SCALE, Ink, WritingBrush, write_characters
from keju_synthetic.calligraphy.character_placement import (
    MANNERS,
    Manner,
    Measure,
    TextColumn,
    WrittenText,
    write_columns,
    write_fan,
)
from keju_synthetic.calligraphy.sheet_mounts import (
    Form,
    Material,
    Mount,
    draw_abrasion,
    draw_ground,
    draw_stone_rubbing,
    make_mount,
    reduce_plane,
)
from keju_synthetic.camera import expose
from keju_synthetic.drawing_context import DrawingContext
from keju_synthetic.item_maker import ItemMaker, StoredImage
from keju_synthetic.page_images import SealSpec
from keju_synthetic.page_layout import Rect, convert_forms
from keju_synthetic.paper import Picture
from keju_synthetic.recipe import (
    Amount,
    Difficulty,
    HandSpec,
    Height,
    ImageSpec,
    Places,
    Ratio,
)
from keju_synthetic.seals.impression import press_on_page
from keju_synthetic.texts import DATA, strip_punctuation
from keju_synthetic.wear import Wear, compute_wear

_INK = np.array([0.095, 0.088, 0.085], np.float32)
_SCRIPTS = ("篆书", "楷书", "隶书", "行书", "草书")
_SCHOOLS = ("颜体", "欧体", "赵体", "柳体")

Part = Annotated[float, Meta(ge=0, le=1)]


class SheetImageSpec(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A work of ``data/calligraphy.toml`` as it is to be drawn.

    `length` characters of its text are written in `columns` columns. A couplet has one column a
    strip. `signature` is written below the last column, or beside it where there is no room;
    `joined` is the probability that the brush continues to the next character without leaving
    the paper.
    """

    work: str
    hand: str
    form: Form
    asks: tuple[str, ...]
    length: Places
    columns: Places = 1
    height: Height = 600
    aspect: Ratio = 0.6
    material: Material = "paper"
    difficulty: Difficulty = 0.3
    signature: str = ""
    joined: Part = 0.0
    ruled: bool = False
    seals: tuple[SealSpec, ...] = ()
    wear: dict[str, Amount] = field(default_factory=dict)


class Work(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A famous work: the beginning of its text, and the facts about it in simplified Chinese.

    `other_…` are wrong options. `school` is one of the four schools of regular script, or empty.
    """

    id: str
    title: str
    script: str
    text: str
    author: str = ""
    dynasty: str = ""
    school: str = ""
    other_titles: tuple[str, ...] = ()
    other_authors: tuple[str, ...] = ()
    other_dynasties: tuple[str, ...] = ()
    introduction: str = ""
    appreciation: str = ""


class _Works(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    works: tuple[Work, ...]


@lru_cache(maxsize=1)
def load_works(path: Path = DATA / "calligraphy.toml") -> dict[str, Work]:
    """The known works by id.

    Raises:
        DataError: two entries have the same id, or a script or school is unknown.
    """
    works: dict[str, Work] = {}
    for work in read_toml(path, _Works).works:
        if work.id in works:
            raise DataError(message("synthetic.id-twice"), file=path, item=work.id)
        if work.script not in _SCRIPTS or work.school not in ("", *_SCHOOLS):
            problem = message(
                "synthetic.script-or-school-unknown",
                script=work.script,
                school=work.school,
                known=", ".join((*_SCRIPTS, *_SCHOOLS)),
            )
            raise DataError(problem, file=path, item=work.id)
        works[work.id] = work
    return works


def draw_calligraphy(context: DrawingContext) -> Iterator[Item]:
    """Draw the recipe's works, and yield their items.

    Raises:
        DataError: no such work or hand, a hand of another script, a character that the hand
            cannot write, or a task without data.
    """
    maker = ItemMaker()
    for spec in context.recipe.read_section("calligraphy", SheetImageSpec):
        yield from _make_items(context, spec, maker)


class _Scene(NamedTuple):
    spec: SheetImageSpec
    made: Mount
    wear: Wear
    brush: WritingBrush
    manner: Manner


def _make_items(context: DrawingContext, spec: SheetImageSpec, maker: ItemMaker) -> Iterator[Item]:
    works = load_works()
    if spec.work not in works:
        raise DataError(unknown_name(spec.work, works, "work"), item=spec.id)
    work = works[spec.work]
    hand = context.find_hand(spec.hand, image_id=spec.id)
    if hand.script != work.script:
        problem = message(
            "synthetic.hand-of-other-script",
            work=work.title,
            script=work.script,
            hand=spec.hand,
            written=hand.script,
        )
        raise DataError(problem, item=spec.id)
    text = convert_forms(strip_punctuation(work.text)[: spec.length], hand)
    signature = convert_forms(spec.signature, hand)
    font = context.find_font(spec.hand, text + signature, spec.id)
    scene = _Scene(
        spec,
        make_mount(spec.form, spec.height, spec.aspect),
        compute_wear(spec.difficulty, {"show": 0.0, "worms": 0.0} | spec.wear, item=spec.id),
        WritingBrush(hand, font),
        _choose_manner(spec, work),
    )
    image, lines = _draw_sheet(scene, text, signature, context)
    stored = StoredImage(
        id=spec.id,
        image=context.add_image(image, spec.id),
        group=work.title,
        split=spec.split,
        metadata=_make_metadata(spec, work, hand),
        transcription="\n".join(line.text for line in lines if line.kind != "seal"),
    )
    for name in spec.asks:
        yield _make_item(maker, stored, work, lines, name)


def _choose_manner(spec: SheetImageSpec, work: Work) -> Manner:
    """The manner of the work's script; a rubbing has no dry strokes."""
    manner = MANNERS[work.script]
    return manner._replace(spent=0.0) if spec.form == "rubbing" else manner


def _make_metadata(spec: SheetImageSpec, work: Work, hand: HandSpec) -> dict[str, str]:
    return {
        "work": work.title,
        "author": work.author,
        "dynasty": work.dynasty,
        "script": work.script,
        "form": spec.form,
        "material": spec.material,
        "hand": spec.hand,
        "font": hand.family,
        "difficulty": f"{spec.difficulty:g}",
        "note": "the work's text in a font, not the work",
    } | ({"school": work.school} if work.school else {})


def _make_item(
    maker: ItemMaker, stored: StoredImage, work: Work, lines: tuple[Line, ...], name: str
) -> Item:
    chosen = {
        "T10": (work.author, work.other_authors),
        "T11": (work.dynasty, work.other_dynasties),
        "T12": (work.title, work.other_titles),
    }
    listed = {"T13": (work.script, _SCRIPTS), "T14": (work.school, _SCHOOLS)}
    texts = {"T9": work.appreciation, "T15": work.introduction}
    if name == "T8":
        return maker.make_transcription(stored, name, lines)
    if name in chosen:
        return maker.make_choice(stored, name, *chosen[name])
    if name in listed:
        return maker.make_listed_choice(stored, name, *listed[name])
    if texts.get(name):
        return maker.make_open_question(stored, name, texts[name])
    raise DataError(
        message("synthetic.work-without-data", work=work.title, task=name), item=stored.id
    )


def _draw_sheet(
    scene: _Scene, text: str, signature: str, context: DrawingContext
) -> tuple[Image, tuple[Line, ...]]:
    spec, made, wear = scene.spec, scene.made, scene.wear
    rng = context.rng(spec.id, "calligraphy")
    measure = scene.brush.make_measure()
    body = _place_text(scene, text, measure, rng)
    pieces = [(body, spec.joined)]
    if signature:
        pieces.append((_place_signature(scene, body, signature, measure, rng), 0.0))
    size = (made.width, made.height)
    inks = [
        write_characters(piece.signs, scene.brush, size, rng, joined=joined)
        for piece, joined in pieces
    ]
    page = draw_ground(made, spec.material, wear, rng)
    page = _apply_ink(page, inks, scene, text, rng)
    columns = [column for piece, _ in pieces for column in piece.columns]
    worn = min(1.0, 0.1 + 0.7 * wear.starve)
    for seal in spec.seals:
        middle = (seal.at[0] * made.width, seal.at[1] * made.height)
        page, outline = press_on_page(
            page, seal.cut, middle, round(seal.size * made.height), worn=worn, rng=rng
        )
        columns.append(TextColumn("seal", seal.cut.legend, outline))
    image = expose(page, wear, "colour", rng)
    lines = tuple(
        Line(id=f"l{number:03d}", text=column.text, polygon=column.outline, kind=column.kind)
        for number, column in enumerate(columns, start=1)
    )
    return image, lines


def _place_text(
    scene: _Scene, text: str, measure: Measure, rng: np.random.Generator
) -> WrittenText:
    spec, made, manner = scene.spec, scene.made, scene.manner
    if made.cut is not None:
        return write_fan(text, made.cut, spec.columns, manner, rng)
    share = -(-len(text) // len(made.inner))
    parts = [text[start : start + share] for start in range(0, len(text), share)]
    pieces = [
        write_columns(part, _shrink_for_signature(scene, inner), spec.columns, manner, measure, rng)
        for part, inner in zip(parts, made.inner, strict=True)
    ]
    return WrittenText(
        [sign for piece in pieces for sign in piece.signs],
        [column for piece in pieces for column in piece.columns],
    )


def _shrink_for_signature(scene: _Scene, inner: Rect) -> Rect:
    """The area of a sheet for the text, reduced where a signature is beside it."""
    if not scene.spec.signature or scene.made.form == "couplet":
        return inner
    return inner._replace(x0=inner.x0 + (inner.x1 - inner.x0) * 0.14)


def _place_signature(
    scene: _Scene, body: WrittenText, signature: str, measure: Measure, rng: np.random.Generator
) -> WrittenText:
    """The signature: small, at the left of the last sheet, lower than the text."""
    if scene.made.cut is not None:
        raise DataError(message("synthetic.fan-with-signature"), item=scene.spec.id)
    inner, heart = scene.made.inner[-1], scene.made.hearts[-1]
    wide, high = inner.x1 - inner.x0, inner.y1 - inner.y0
    usual = sorted(sign.em for sign in body.signs)[len(body.signs) // 2]
    pitch = usual * 0.44
    if scene.made.form == "couplet":
        x0, x1 = heart.x0 + wide * 0.04, inner.x0 + wide * 0.02
        region = Rect(x0, inner.y0 + high * 0.36, x1, inner.y1)
    else:
        x0 = inner.x0 + wide * 0.02
        region = Rect(x0, inner.y0 + high * 0.38, x0 + pitch * 1.15, inner.y1)
    region = region._replace(y1=min(region.y1, region.y0 + pitch * 1.3 * len(signature)))
    return write_columns(signature, region, 1, scene.manner, measure, rng, kind="author")


def _apply_ink(
    page: Picture, inks: list[Ink], scene: _Scene, text: str, rng: np.random.Generator
) -> Picture:
    cover = inks[0].cover
    for ink in inks[1:]:
        cover = np.maximum(cover, ink.cover)
    small = reduce_plane(cover, SCALE)
    if scene.made.form == "rubbing":
        grid = _make_grid(scene, text) if scene.spec.ruled else []
        return draw_stone_rubbing(page, small, scene.wear, rng, grid)
    alpha = small * (1 - 0.8 * scene.wear.fade) * (1 - draw_abrasion(small.shape, scene.wear, rng))
    alpha = alpha[..., None]
    return (page * (1 - alpha) + _INK * alpha).astype(np.float32)


def _make_grid(scene: _Scene, text: str) -> list[Rect]:
    """The squares that were ruled on the stone before it was cut."""
    inner, columns = scene.made.inner[0], scene.spec.columns
    rows = -(-len(text) // columns)
    wide, high = (inner.x1 - inner.x0) / columns, (inner.y1 - inner.y0) / rows
    return [
        Rect(inner.x0 + wide * column, inner.y0 + high * row,
             inner.x0 + wide * (column + 1), inner.y0 + high * (row + 1))
        for column in range(columns)
        for row in range(rows)
    ]  # fmt: skip

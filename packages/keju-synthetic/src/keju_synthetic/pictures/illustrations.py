"""The section ``illustrations``: woodblock prints with captions, as in books of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import structs
from PIL import Image, ImageDraw

from keju.errors import DataError, unknown_name
from keju.files import read_toml
from keju.items import Item, Record
from keju_synthetic.camera import Layers, compose_layers, expose, shade
from keju_synthetic.drawing_context import DrawingContext
from keju_synthetic.glyph_masks import SCALE
from keju_synthetic.item_maker import ItemMaker, StoredImage
from keju_synthetic.noise import Plane, to_image, to_plane
from keju_synthetic.page_layout import READ, Rect
from keju_synthetic.paper import add_foxing, add_stains, draw_worm_holes, make_paper
from keju_synthetic.pictures import object_scenes, story_scenes
from keju_synthetic.pictures.landscape_scenes import Counts
from keju_synthetic.pictures.lettering import compute_frame, draw_ink, make_lines, set_writings
from keju_synthetic.pictures.pens import Graver, Pen
from keju_synthetic.pictures.works import (
    Work,
    WorkSpec,
    find_work,
    index_by_id,
    make_work_items,
    number_lines,
)
from keju_synthetic.printing import crack, press
from keju_synthetic.texts import DATA
from keju_synthetic.wear import compute_wear

SCENES: Mapping[str, Callable[[Pen], Counts]] = {
    "red-faced-general": story_scenes.draw_red_faced_general,
    "monkey-king": story_scenes.draw_monkey_king,
    "halberd-general": story_scenes.draw_halberd_general,
    "straw-boats": story_scenes.draw_straw_boats,
    "burning-mountain": story_scenes.draw_burning_mountain,
    "tiger-fight": story_scenes.draw_tiger_fight,
    "winter-shoots": story_scenes.draw_winter_shoots,
    "snow-river": story_scenes.draw_snow_river,
    "maple-bridge": story_scenes.draw_maple_bridge,
    "stork-tower": story_scenes.draw_stork_tower,
    "moon-bed": story_scenes.draw_moon_bed,
    "nine-tails": object_scenes.draw_nine_tails,
    "plantain": object_scenes.draw_plantain,
    "water-wheel": object_scenes.draw_water_wheel,
    "zither": object_scenes.draw_zither,
    "garden-pavilion": object_scenes.draw_garden_pavilion,
    "lotus-plant": object_scenes.draw_lotus_plant,
}
"""The scenes of illustrations, by name."""

_MARGIN = 34


class Print(Work, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A woodblock print.

    `book` is the book that contains it, in simplified Chinese. `head`, `edge` and `below` are
    pixels inside the frame for a heading above the picture, a running title at its right and text
    under it (上圖下文); `ruled` parts the columns of that text.
    """

    book: str
    frame: Literal["single", "double"] = "single"
    head: int = 0
    edge: int = 0
    below: int = 0


class _Prints(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    works: tuple[Print, ...]


def load_prints(path: Path = DATA / "illustrations.toml") -> Mapping[str, Print]:
    """The known illustrations by id.

    Raises:
        DataError: the file is not valid, or two entries have the same id.
    """
    return index_by_id(read_toml(path, _Prints).works, path.name)


def draw_illustrations(context: DrawingContext) -> Iterator[Item]:
    """Draw the recipe's illustrations, and yield their items.

    Raises:
        DataError: a work or scene that is not known, a hand that cannot write its text, or a task
            without data.
    """
    specs = context.recipe.read_section("illustrations", WorkSpec)
    works = load_prints()
    maker = ItemMaker()
    return (
        item for spec in specs for item in _print_work(context, spec, find_work(works, spec), maker)
    )


def _print_work(
    context: DrawingContext, spec: WorkSpec, work: Print, maker: ItemMaker
) -> Iterator[Item]:
    if work.scene not in SCENES:
        raise DataError(unknown_name(work.scene, SCENES, "scene"), item=spec.id)
    wear = compute_wear(spec.difficulty, {"show": 0.0}, item=spec.id)
    wide, high = work.size
    size = (wide + work.edge + 2 * _MARGIN, high + work.head + work.below + 2 * _MARGIN)
    place = Rect(_MARGIN, _MARGIN + work.head, _MARGIN + wide, _MARGIN + work.head + high)
    graver = Graver(wide, high, context.rng(spec.id, "scene"))
    counts = SCENES[work.scene](graver)
    layout = set_writings(context, spec, work, size, place, None)
    block = _draw_block(work, size, place, graver.mask)
    rng = context.rng(spec.id, "print")
    black = press(block, wear, rng, unit_size=SCALE * 0.8, weight=0.05)
    crack(black, round(wear.cracks), rng)
    ink = np.maximum(to_plane(to_image(black).reduce(SCALE)), draw_ink(layout, context, wear, rng))
    sheet_rng = context.rng(spec.id, "sheet")
    shape = (size[1], size[0])
    paper = make_paper(shape, wear, sheet_rng)
    add_foxing(paper, wear, sheet_rng)
    add_stains(paper, structs.replace(wear, stains=wear.stains * 0.3), sheet_rng)
    none: Plane = np.zeros(shape, np.float32)
    layers = Layers(ink, none, none, draw_worm_holes(shape, wear, sheet_rng), none + 1)
    page = shade(compose_layers(paper, layers, wear), layers.sheet, [], sheet_rng)
    lines = number_lines(make_lines(layout))
    stored = StoredImage(
        id=spec.id,
        image=context.add_image(expose(page, wear, "colour", sheet_rng), spec.id),
        group=work.id,
        split=spec.split,
        metadata={
            "work": work.book,
            "title": work.title,
            "scene": work.scene,
            "drawn": ", ".join(f"{number} {name}" for name, number in counts.items()),
            "hand": spec.hand,
            "difficulty": f"{spec.difficulty:g}",
            "note": "drawn by keju in the manner of such books; no copy of a print",
        },
        transcription="\n".join(line.text for line in lines if line.kind in READ),
    )
    for item in make_work_items(stored, work, spec.asks, lines, counts, maker):
        yield _fill_in_book(item, work.book)


def _fill_in_book(item: Item, book: str) -> Item:
    """An item whose question names the book, with its name filled in."""
    if "{book}" not in item.question:
        return item
    return structs.replace(
        item, question=item.question.replace("{book}", book), fields={"book": book}
    )


def _draw_block(work: Print, size: tuple[int, int], place: Rect, scene: Image.Image) -> Image.Image:
    """The whole block: frame, rules, scene, and the boxes of captions."""
    mask = Image.new("L", (size[0] * SCALE, size[1] * SCALE), 0)
    mask.paste(scene, (round(place.x0 * SCALE), round(place.y0 * SCALE)))
    pen = ImageDraw.Draw(mask)
    frame = Rect(_MARGIN, _MARGIN, size[0] - _MARGIN, size[1] - _MARGIN)
    _draw_box(pen, frame, 3.0)
    if work.frame == "double":
        _draw_box(pen, Rect(frame.x0 - 6, frame.y0 - 6, frame.x1 + 6, frame.y1 + 6), 4.0)
    if work.head:
        _draw_rule(pen, (frame.x0, place.y0), (place.x1, place.y0))
    if work.edge:
        _draw_rule(pen, (place.x1, frame.y0), (place.x1, frame.y1))
    if work.below:
        _draw_rule(pen, (frame.x0, place.y1), (place.x1, place.y1))
    for writing in work.writings:
        if writing.boxed:
            box = compute_frame(writing, place)
            pen.rectangle([round(v * SCALE) for v in box], fill=0)
            _draw_box(pen, box, 2.0)
    return mask


def _draw_box(pen: ImageDraw.ImageDraw, box: Rect, width: float) -> None:
    pen.rectangle([round(v * SCALE) for v in box], outline=255, width=round(width * SCALE / 2))


def _draw_rule(
    pen: ImageDraw.ImageDraw, start: tuple[float, float], end: tuple[float, float]
) -> None:
    pen.line([(round(x * SCALE), round(y * SCALE)) for x, y in (start, end)], fill=255, width=3)

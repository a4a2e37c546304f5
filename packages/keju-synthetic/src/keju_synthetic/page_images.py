"""Images of pages: drawn from their layout, with the reference of every line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from PIL import Image, ImageDraw

from keju.items import ImageRef, Line, Point, Record
from keju_synthetic.camera import Layers, compose_layers, encode_jpeg, expose, shade
from keju_synthetic.drawing_context import DrawingContext
from keju_synthetic.glyph_masks import SCALE, Fonts, draw_frame, draw_glyphs, make_blank_mask
from keju_synthetic.noise import Plane, make_generator, to_plane
from keju_synthetic.page_layout import READ, Ink, Layout, collect_characters
from keju_synthetic.page_warp import PageWarp
from keju_synthetic.paper import Picture, add_foxing, add_stains, draw_worm_holes, make_paper
from keju_synthetic.printing import crack, press
from keju_synthetic.recipe import Amount, Difficulty, ImageSpec, Scan, Split
from keju_synthetic.seals.carving import SealDesign
from keju_synthetic.seals.impression import press_on_page
from keju_synthetic.texts import Passage
from keju_synthetic.wear import Wear, compute_wear

Part = Annotated[float, Meta(ge=0, le=1)]


class SealSpec(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A seal on an image.

    `at` is its middle in parts of the image's width and height, `size` its height in parts of
    the image's.
    """

    cut: SealDesign
    at: tuple[Part, Part]
    size: Annotated[float, Meta(ge=0.02, le=1)] = 0.08


class PassageSpec(ImageSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A passage in a hand, and the tasks of its items.

    `difficulty` in 0..1 drives every kind of wear; `wear` overrides single values of it (see
    ``data/wear.toml``).
    """

    passage: str
    hand: str
    asks: tuple[str, ...]
    difficulty: Difficulty
    seals: tuple[SealSpec, ...] = ()
    wear: dict[str, Amount] = msgspec.field(default_factory=dict)


class DrawnPage(NamedTuple):
    """A stored image, or several consecutive ones, with their reference.

    `lines` are the text of each image in reading order, then the lines around it; `script` is
    the name of the script style in simplified Chinese.
    """

    id: str
    images: tuple[ImageRef, ...]
    lines: tuple[Line, ...]
    passage: Passage
    script: str
    split: Split
    asks: tuple[str, ...]
    metadata: dict[str, str]

    @property
    def text(self) -> str:
        """Text and notes in reading order, one column (or half-row of a note) a line."""
        return "\n".join(line.text for line in self.lines if line.kind in READ)


class PageImage(NamedTuple):
    """A finished image as JPEG bytes, and its lines: the text in reading order, then the rest."""

    data: bytes
    lines: tuple[Line, ...]


class DrawingStyle(NamedTuple):
    """The style of a drawing: fonts by hand, seals, wear, scan, print or brush."""

    fonts: Fonts
    seals: tuple[SealSpec, ...]
    wear: Wear
    scan: Scan
    quality: int
    brushed: bool = False


def make_drawn_page(
    context: DrawingContext,
    spec: PassageSpec,
    layouts: Sequence[Layout],
    *,
    scan: Scan = "colour",
    brushed: bool = False,
    metadata: Mapping[str, str],
) -> DrawnPage:
    """Draw consecutive layouts and add their images to the dataset.

    Args:
        context: the drawing context.
        spec: the recipe's entry.
        layouts: the composed layouts, one for each image.
        scan: colour, grey or bitonal.
        brushed: whether the page is written with a brush and not printed from a block.
        metadata: further metadata of the items.

    Raises:
        DataError: no such hand or kind of wear, or a character without an outline.
    """
    passage = context.find_passage(spec.passage, image_id=spec.id)
    hand = context.find_hand(spec.hand, image_id=spec.id)
    wear = compute_wear(spec.difficulty, spec.wear, item=spec.id)
    images, lines = [], []
    for number, layout in enumerate(layouts, start=1):
        for name, characters in collect_characters(layout).items():
            context.find_font(name, characters, spec.id)
        seals = spec.seals if number == 1 else ()
        style = DrawingStyle(context.fonts, seals, wear, scan, context.quality, brushed)
        name = spec.id if number == 1 else f"{spec.id}-{number}"
        drawn = draw_page_image(layout, style, context.recipe.seed, name)
        images.append(context.add_image(drawn.data, name))
        front = f"{number}-" if len(layouts) > 1 else ""
        lines += [msgspec.structs.replace(line, id=front + line.id) for line in drawn.lines]
    return DrawnPage(
        id=spec.id,
        images=tuple(images),
        lines=tuple(lines),
        passage=passage,
        script=hand.script,
        split=spec.split,
        asks=spec.asks,
        metadata={
            "work": passage.work,
            "author": passage.author,
            "dynasty": passage.dynasty,
            "passage": passage.id,
            "hand": spec.hand,
            "font": hand.family,
            "difficulty": f"{spec.difficulty:g}",
            "scan": scan,
            **metadata,
        },
    )


def draw_page_image(layout: Layout, style: DrawingStyle, seed: int, name: str) -> PageImage:
    """Draw a layout; the same arguments give the same bytes.

    Args:
        layout: the composed layout.
        style: fonts, wear and scan.
        seed: the seed of the recipe.
        name: the image's id, from which its random numbers follow.
    """
    size = (layout.width, layout.height)
    wear = style.wear
    bend = _make_warp(size, wear, make_generator(seed, name, "bend"))
    black = _draw_ink(layout, style, make_generator(seed, name, "print"), "black")
    turned = np.roll(black[:, ::-1], round(layout.height * 0.02) * SCALE, axis=0)
    rng = make_generator(seed, name, "sheet")
    shape = (layout.height, layout.width)
    layers = Layers(
        black=_warp_plane(black, bend),
        red=_warp_plane(_draw_ink(layout, style, rng, "red"), bend),
        behind=_warp_plane(turned, bend),
        holes=draw_worm_holes(shape, wear, make_generator(seed, name, "worms")),
        sheet=_warp_plane(to_plane(_draw_sheet(layout, rng)), bend),
    )
    paper = make_paper(shape, wear, rng)
    # Separate generators, so that the damage of a lower difficulty is part of that of a higher one.
    add_foxing(paper, wear, make_generator(seed, name, "foxing"))
    add_stains(paper, wear, make_generator(seed, name, "stains"))
    page, seals = _press_seals(
        compose_layers(paper, layers, wear), style, make_generator(seed, name, "seals")
    )
    rng = make_generator(seed, name, "scan")
    # Microfilm was exposed for the paper: the shadow in the gutter is burnt out.
    gutters = [] if style.scan == "bitonal" else layout.gutters
    page = shade(page, layers.sheet, gutters, rng)
    image = expose(page, wear, style.scan, rng)
    return PageImage(encode_jpeg(image, style.quality), _make_lines(layout, bend, seals))


def _press_seals(
    page: Picture, style: DrawingStyle, rng: np.random.Generator
) -> tuple[Picture, list[tuple[str, tuple[Point, ...]]]]:
    """The page with its seals, and each seal's legend and outline."""
    high, wide = page.shape[:2]
    placed = []
    for seal in style.seals:
        middle = (seal.at[0] * wide, seal.at[1] * high)
        worn = min(1.0, 0.25 + style.wear.starve)
        page, outline = press_on_page(
            page, seal.cut, middle, round(seal.size * high), worn=worn, rng=rng
        )
        placed.append((seal.cut.legend, outline))
    return page, placed


def _make_warp(size: tuple[int, int], wear: Wear, rng: np.random.Generator) -> PageWarp:
    way = 1 if rng.random() < 0.5 else -1
    # The sine of an angle this small is the angle, to the fourth digit.
    slope = way * wear.skew * (0.6 + 0.4 * float(rng.random())) * 0.01745
    return PageWarp(size, slope=slope, depth=wear.warp * size[1] / 1200, rng=rng)


def _draw_ink(layout: Layout, style: DrawingStyle, rng: np.random.Generator, ink: Ink) -> Plane:
    """All ink of a colour: characters of each hand, the strong frame, the thin rules."""
    whole = _draw_characters(layout, style, rng, ink)
    if layout.line_ink != ink or not (layout.bars or layout.rules):
        return whole
    u = _compute_unit_size(layout)
    strong, thin = draw_frame(layout, rng)
    worn, worse = _increase_wear(style.wear, 0.12), _increase_wear(style.wear, 0.34)
    whole = np.maximum(whole, press(strong, worn, rng, unit_size=u, weight=0.05))
    whole = np.maximum(whole, press(thin, worse, rng, unit_size=u, weight=0.10))
    if not style.brushed:
        crack(whole, round(style.wear.cracks), rng)
    return whole


def _draw_characters(
    layout: Layout, style: DrawingStyle, rng: np.random.Generator, ink: Ink
) -> Plane:
    whole = np.zeros((layout.height * SCALE, layout.width * SCALE), np.float32)
    u = _compute_unit_size(layout)
    wear = _soften_wear(style.wear) if style.brushed else style.wear
    masks = draw_glyphs(layout, style.fonts, rng, ink=ink, chips=wear.chips)
    for name, mask in masks.items():
        weight = style.fonts[name][0].weight
        whole = np.maximum(whole, press(mask, wear, rng, unit_size=u, weight=weight))
    return whole


def _soften_wear(wear: Wear) -> Wear:
    """Wear of handwriting: no breaks, and ink that bleeds more and is missing less."""
    return msgspec.structs.replace(
        wear, chips=0.0, rough=wear.rough * 0.6, starve=wear.starve * 0.9, bleed=wear.bleed * 1.3
    )


def _compute_unit_size(layout: Layout) -> float:
    return SCALE * layout.height / 1200


def _increase_wear(wear: Wear, starve: float) -> Wear:
    """Wear of the frame, which is at the block's edge and takes ink badly."""
    return msgspec.structs.replace(wear, starve=wear.starve + starve, rough=wear.rough + 0.12)


def _draw_sheet(layout: Layout, rng: np.random.Generator) -> Image.Image:
    """The mask of the paper, with a slightly wavering edge; it extends beyond the image."""
    mask = make_blank_mask(layout)
    far = 400
    wide, high = mask.size
    x0, _, x1, _ = (round(value * SCALE) for value in layout.paper)
    left = x0 if x0 > 0 else -far
    right = x1 if x1 < wide else wide + far
    steps = 30
    edge = [int(rng.integers(-2, 3)) for _ in range(2 * steps + 2)]
    down = [-far + (high + 2 * far) * step // steps for step in range(steps + 1)]
    outline = [(right + edge[place], y) for place, y in enumerate(down)]
    outline += [(left + edge[-place - 1], y) for place, y in enumerate(reversed(down))]
    ImageDraw.Draw(mask).polygon(outline, fill=255)
    return mask


def _warp_plane(plane: Plane, bend: PageWarp) -> Plane:
    image = Image.fromarray((np.clip(plane, 0, 1) * 255 + 0.5).astype(np.uint8))
    return to_plane(bend.warp_image(image, scale=SCALE).reduce(SCALE))


def _make_lines(
    layout: Layout, bend: PageWarp, seals: list[tuple[str, tuple[Point, ...]]]
) -> tuple[Line, ...]:
    placed = [line for line in layout.lines if line.kind in READ]
    placed += [line for line in layout.lines if line.kind not in READ]
    lines = [
        Line(id="", text=p.text, polygon=bend.warp_box(p.box, p.lean), kind=p.kind) for p in placed
    ]
    lines += [Line(id="", text=text, polygon=ring, kind="seal") for text, ring in seals]
    return tuple(
        msgspec.structs.replace(line, id=f"l{number:03d}")
        for number, line in enumerate(lines, start=1)
    )

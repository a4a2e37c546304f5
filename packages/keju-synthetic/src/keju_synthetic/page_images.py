"""Images of pages: drawn from their layout, with the reference of every line."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np
from PIL import Image

from keju.items import Line
from keju_synthetic.camera import Layers, Scan, compose_layers, encode_jpeg, expose, shade
from keju_synthetic.glyph_masks import SCALE, Fonts, draw_frame, draw_glyphs
from keju_synthetic.noise import Plane, make_generator, to_plane
from keju_synthetic.page_layout import READ, Layout
from keju_synthetic.page_warp import PageWarp
from keju_synthetic.paper import add_foxing, add_stains, draw_worm_holes, make_paper
from keju_synthetic.printing import crack, press
from keju_synthetic.wear import Wear


class PageImage(NamedTuple):
    """A finished image as JPEG bytes, and its lines: the text in reading order, then the rest."""

    data: bytes
    lines: tuple[Line, ...]


class DrawingStyle(NamedTuple):
    """The style of a drawing: fonts by hand, wear, scan, print or brush."""

    fonts: Fonts
    wear: Wear
    scan: Scan
    quality: int
    brushed: bool = False


def draw_page_image(layout: Layout, style: DrawingStyle, seed: int, name: str) -> PageImage:
    """Draw a layout; the same arguments give the same bytes.

    Args:
        layout: the composed layout.
        style: fonts, wear and scan.
        seed: the seed of the step.
        name: the image's id, from which its random numbers follow.
    """
    size = (layout.width, layout.height)
    wear = style.wear
    bend = _make_warp(size, wear, make_generator(seed, name, "bend"))
    ink = _draw_ink(layout, style, make_generator(seed, name, "print"))
    turned = np.roll(ink[:, ::-1], round(layout.height * 0.02) * SCALE, axis=0)
    shape = (layout.height, layout.width)
    layers = Layers(
        ink=_warp_plane(ink, bend),
        behind=_warp_plane(turned, bend),
        holes=draw_worm_holes(shape, wear, make_generator(seed, name, "worms")),
        sheet=_warp_plane(np.ones_like(ink), bend),
    )
    rng = make_generator(seed, name, "sheet")
    # An edge of the paper, outside the image, took these numbers; without them pages would change.
    rng.integers(-2, 3, size=62)
    paper = make_paper(shape, wear, rng)
    # Separate generators, so that the damage of a lower difficulty is part of that of a higher one.
    add_foxing(paper, wear, make_generator(seed, name, "foxing"))
    add_stains(paper, wear, make_generator(seed, name, "stains"))
    page = compose_layers(paper, layers, wear)
    rng = make_generator(seed, name, "scan")
    # Microfilm was exposed for the paper: the shadow in the gutter is burnt out.
    gutters = [] if style.scan == "bitonal" else layout.gutters
    page = shade(page, layers.sheet, gutters, rng)
    image = expose(page, wear, style.scan, rng)
    return PageImage(encode_jpeg(image, style.quality), _make_lines(layout, bend))


def _make_warp(size: tuple[int, int], wear: Wear, rng: np.random.Generator) -> PageWarp:
    way = 1 if rng.random() < 0.5 else -1
    # The sine of an angle this small is the angle, to the fourth digit.
    slope = way * wear.skew * (0.6 + 0.4 * float(rng.random())) * 0.01745
    return PageWarp(size, slope=slope, depth=wear.warp * size[1] / 1200, rng=rng)


def _draw_ink(layout: Layout, style: DrawingStyle, rng: np.random.Generator) -> Plane:
    """All ink: characters of each hand, the strong frame, the thin rules."""
    page = np.zeros((layout.height * SCALE, layout.width * SCALE), np.float32)
    unit = SCALE * layout.height / 1200
    wear = _soften_wear(style.wear) if style.brushed else style.wear
    masks = draw_glyphs(layout, style.fonts, rng, chips=wear.chips)
    for name, mask in masks.items():
        weight = style.fonts[name][0].weight
        page = np.maximum(page, press(mask, wear, rng, unit_size=unit, weight=weight))
    if not (layout.bars or layout.rules):
        return page
    strong, thin = draw_frame(layout, rng)
    worn, worse = _increase_wear(style.wear, 0.12), _increase_wear(style.wear, 0.34)
    page = np.maximum(page, press(strong, worn, rng, unit_size=unit, weight=0.05))
    page = np.maximum(page, press(thin, worse, rng, unit_size=unit, weight=0.10))
    if not style.brushed:
        crack(page, round(style.wear.cracks), rng)
    return page


def _soften_wear(wear: Wear) -> Wear:
    """Wear of handwriting: no breaks, and ink that bleeds more and is missing less."""
    return msgspec.structs.replace(
        wear, chips=0.0, rough=wear.rough * 0.6, starve=wear.starve * 0.9, bleed=wear.bleed * 1.3
    )


def _increase_wear(wear: Wear, starve: float) -> Wear:
    """Wear of the frame, which is at the block's edge and takes ink badly."""
    return msgspec.structs.replace(wear, starve=wear.starve + starve, rough=wear.rough + 0.12)


def _warp_plane(plane: Plane, bend: PageWarp) -> Plane:
    image = Image.fromarray((np.clip(plane, 0, 1) * 255 + 0.5).astype(np.uint8))
    return to_plane(bend.warp_image(image, scale=SCALE).reduce(SCALE))


def _make_lines(layout: Layout, bend: PageWarp) -> tuple[Line, ...]:
    placed = [line for line in layout.lines if line.kind in READ]
    placed += [line for line in layout.lines if line.kind not in READ]
    return tuple(
        Line(
            id=f"l{number:03d}",
            text=line.text,
            polygon=bend.warp_box(line.box, line.lean),
            kind=line.kind,
        )
        for number, line in enumerate(placed, start=1)
    )

"""Writing in a picture: columns of characters where the work has them, and their lines."""

from __future__ import annotations

import numpy as np
from msgspec import structs

from keju.items import Line, LineKind
from keju_synthetic.drawing_context import DrawingContext
from keju_synthetic.glyph_masks import SCALE, draw_glyphs
from keju_synthetic.noise import Plane, to_image, to_plane
from keju_synthetic.page_layout import (
    Glyph,
    Layout,
    PlacedLine,
    Rect,
    Setting,
    collect_characters,
    convert_forms,
    set_column,
)
from keju_synthetic.pictures.works import Work, WorkSpec, Writing
from keju_synthetic.printing import press
from keju_synthetic.wear import Wear


def set_writings(
    context: DrawingContext,
    spec: WorkSpec,
    work: Work,
    size: tuple[int, int],
    place: Rect,
    slip: Rect | None,
) -> Layout:
    """Compose the layout of a work's writing.

    Args:
        context: the drawing context with the hands.
        spec: names the hands.
        work: the work with its writing, in reading order.
        size: width and height of the whole picture.
        place: the drawn field in it.
        slip: where labels go; None sets them like other writing.

    Raises:
        DataError: no such hand, or a character that it cannot write.
    """
    wide, high = size
    layout = Layout(wide, high, Rect(0, 0, wide, high), [], [], [], [], [], [])
    for writing in work.writings:
        name = spec.label_hand if writing.label else spec.hand
        hand = context.find_hand(name, image_id=spec.id)
        x = place.x0 + writing.at[0] * (place.x1 - place.x0)
        top = place.y0 + writing.at[1] * (place.y1 - place.y0)
        em, pitch = writing.em, writing.em * 1.08
        if writing.label and slip is not None:
            pitch = min(em * 1.12, (slip.y1 - slip.y0 - 14) / len(writing.text))
            em = min(em, pitch / 1.02)
            x, top = (slip.x0 + slip.x1) / 2, slip.y0 + 8
        for column in writing.text.splitlines():
            text = convert_forms(column, hand)
            setting = Setting(pitch, em * hand.fill, name)
            set_line = set_row if writing.across else set_column
            glyphs, line = set_line(text, writing.kind, x, top, setting)
            layout.glyphs.extend(glyphs)
            layout.lines.append(line)
            x -= em * writing.leading
    for name, characters in collect_characters(layout).items():
        context.find_font(name, characters, spec.id)
    return layout


def set_row(
    text: str, kind: LineKind, x: float, top: float, setting: Setting
) -> tuple[list[Glyph], PlacedLine]:
    """One row of characters from right to left, the first one around `x`, and its line."""
    half, y = setting.em / 2, top + setting.pitch / 2
    glyphs = [
        Glyph(sign, x - setting.pitch * 1.06 * place, y, setting.em, setting.hand)
        for place, sign in enumerate(text)
    ]
    return glyphs, PlacedLine(kind, text, Rect(glyphs[-1].x - half, y - half, x + half, y + half))


def compute_frame(writing: Writing, place: Rect) -> Rect:
    """The frame around a boxed writing, in pixels of the picture."""
    columns = writing.text.splitlines()
    longest = max(len(column) for column in columns)
    down, over = (1, longest) if writing.across else (longest, len(columns))
    pitch = 1.145 if writing.across else writing.leading
    em = writing.em
    x = place.x0 + writing.at[0] * (place.x1 - place.x0)
    top = place.y0 + writing.at[1] * (place.y1 - place.y0)
    left = x - em * (pitch * (over - 1) + 0.72)
    return Rect(left, top - em * 0.24, x + em * 0.72, top + em * (1.08 * down + 0.24))


def draw_ink(
    layout: Layout, context: DrawingContext, wear: Wear, rng: np.random.Generator
) -> Plane:
    """The characters of a layout as ink on the finished picture, 0..1."""
    whole = np.zeros((layout.height, layout.width), np.float32)
    for name, mask in draw_glyphs(layout, context.fonts, rng, ink="black").items():
        weight = context.fonts[name][0].weight
        ink = press(mask, wear, rng, unit_size=SCALE * 0.8, weight=weight)
        whole = np.maximum(whole, to_plane(to_image(ink).reduce(SCALE)))
    return whole


def make_lines(layout: Layout) -> list[Line]:
    """The lines of a layout in reading order, without ids."""
    lines = []
    for line in layout.lines:
        x0, y0, x1, y1 = (round(value, 1) for value in line.box)
        outline = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
        lines.append(Line(id="", text=line.text, polygon=outline, kind=line.kind))
    return lines


def soften_wear(wear: Wear) -> Wear:
    """Wear of brush writing: smooth edges and hardly any missing ink."""
    return structs.replace(wear, rough=wear.rough * 0.4, starve=wear.starve * 0.2, bleed=0.2)

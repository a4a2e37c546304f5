"""Whole pieces with their inscriptions, and pictures of them and of things that are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageFilter

from keju.errors import DataError
from keju.items import Box
from keju.messages import message
from keju_synthetic.bones.grounds import photo, rubbing
from keju_synthetic.bones.incising import knife, sign_mask, write
from keju_synthetic.bones.inscribing import compose
from keju_synthetic.bones.pieces import Piece, PieceKind, blank_piece
from keju_synthetic.bones.signs import load_signs
from keju_synthetic.bones.tearing import broken
from keju_synthetic.noise import Plane, to_image, unit
from keju_synthetic.paper import make_paper
from keju_synthetic.pictures.birds import standing_crane
from keju_synthetic.pictures.brush import Brush
from keju_synthetic.seals.cutting import Cut
from keju_synthetic.seals.pressing import press_seal
from keju_synthetic.wear import wear_at

_SHRINK = 0.93
_LEAST = 11
"""A character of fewer pixels could not be read."""


class PieceLook(NamedTuple):
    """What a piece is, before chance has a say.

    `size` is width and height in pixels, `side` how high characters are against the piece,
    `cracks` how many crack signs it bears, `leftwards` whether columns follow to the left,
    `lost` how many parts have broken off.
    """

    kind: PieceKind
    size: tuple[int, int]
    side: float
    cracks: int
    leftwards: bool = True
    lost: int = 0


class Draft(NamedTuple):
    """An inscribed piece: each character's box in reading order, and the text of each column."""

    piece: Piece
    boxes: tuple[Box, ...]
    columns: tuple[str, ...]


def draft(name: str, look: PieceLook, texts: Sequence[str], rng: np.random.Generator) -> Draft:
    """A piece with all its texts in one writer's hand, as large as they find room.

    Args:
        name: the picture's id, for messages.
        look: the piece.
        texts: inscriptions in modern characters; each begins a column.
        rng: where chance comes from.

    Raises:
        DataError: a character without a model, or texts that find no room.
    """
    signs = load_signs()
    missing = sorted({char for text in texts for char in text} - signs.keys())
    if missing:
        problem = message("synthetic.stroke-model-missing", characters="".join(missing))
        raise DataError(problem, item=name)
    piece = blank_piece(look.size, look.kind, rng, cracks=look.cracks)
    if look.lost:
        piece = broken(piece, look.lost, rng, depth=look.size[1] * 0.008)
    if not texts:
        return Draft(piece, (), ())
    writer = knife(rng)
    cuts = [[write(signs[char], writer, rng, signs=signs) for char in text] for text in texts]
    side = look.side * look.size[1]
    while side >= _LEAST:
        masks = [[sign_mask(cut, round(side), writer) for cut in passage] for passage in cuts]
        written = compose(
            masks, piece.mask, rng, leftwards=look.leftwards, keep_off=_seams(piece, look)
        )
        if written is not None:
            text = "".join(texts)
            columns = tuple("".join(text[n] for n in column) for column in written.columns)
            return Draft(piece._replace(strokes=written.strokes), written.boxes, columns)
        side *= _SHRINK
    raise DataError(message("synthetic.texts-too-long", count=sum(map(len, texts))), item=name)


def _seams(piece: Piece, look: PieceLook) -> Plane | None:
    """Writers kept off the seams of a shell, not off the cracks of a bone."""
    if look.kind != "plastron":
        return None
    return unit(to_image(piece.lines).filter(ImageFilter.MaxFilter(5)))


def picture_of(
    piece: Piece,
    ground: Literal["rubbing", "photo"],
    rng: np.random.Generator,
    *,
    wear: float,
    grain: float,
    filling: float = 0.0,
) -> Image.Image:
    """A rubbing or a photograph of a piece; see `keju_synthetic.bones.grounds`."""
    if ground == "rubbing":
        return rubbing(piece, rng, wear=wear, grain=grain, lift=0.6 * float(rng.random()))
    return photo(piece, rng, wear=wear, grain=grain, filling=filling)


def strange_picture(
    thing: Literal["seal", "crane"], height: int, rng: np.random.Generator, *, legend: str
) -> Image.Image:
    """A picture that might be taken for an inscription and is none."""
    if thing == "seal":
        wear = wear_at(0.3, {}, item=legend)
        cut = Cut(legend=legend)
        return press_seal(cut, height=height, ground="paper", wear=wear, rng=rng).image
    width = round(height * 0.8)
    pen = Brush(width, height, rng)
    standing_crane(pen, width * 0.5, height * 0.9, height * 0.62)
    light = np.clip(
        make_paper((height, width), wear_at(0.4, {}, item=thing), rng) * pen.light, 0, 1
    )
    return Image.fromarray((light * 255 + 0.5).astype(np.uint8))

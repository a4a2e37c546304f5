"""Inscribed pieces, images of them, and images of negatives without an inscription."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageFilter

from keju.errors import DataError
from keju.items import Box
from keju.messages import message
from keju_synthetic.bones.fragmentation import drop_parts
from keju_synthetic.bones.pieces import Piece, PieceKind, make_blank_piece
from keju_synthetic.bones.placement import place_inscriptions
from keju_synthetic.bones.renderings import draw_photo, draw_rubbing
from keju_synthetic.bones.sign_writing import draw_sign_mask, make_engraver, write_sign
from keju_synthetic.bones.signs import load_signs
from keju_synthetic.noise import Plane, to_image, to_plane
from keju_synthetic.paper import make_paper
from keju_synthetic.pictures.birds import draw_standing_crane
from keju_synthetic.pictures.pens import Brush
from keju_synthetic.seals.carving import SealDesign
from keju_synthetic.seals.impression import press_seal
from keju_synthetic.wear import compute_wear

_SHRINK = 0.93
_LEAST = 11
"""A character of fewer pixels could not be read."""


class PiecePlan(NamedTuple):
    """The properties of a piece that are not drawn at random.

    `size` is width and height in pixels, `side` how high characters are against the piece,
    `cracks` the number of its crack signs, `leftwards` whether columns follow to the left,
    `lost` how many parts have broken off.
    """

    kind: PieceKind
    size: tuple[int, int]
    side: float
    cracks: int
    leftwards: bool = True
    lost: int = 0


class InscribedPiece(NamedTuple):
    """An inscribed piece: each character's box in reading order, and the text of each column."""

    piece: Piece
    boxes: tuple[Box, ...]
    columns: tuple[str, ...]


def inscribe_piece(
    name: str, look: PiecePlan, texts: Sequence[str], rng: np.random.Generator
) -> InscribedPiece:
    """Draw a piece with all its texts by one writer, as large as they fit.

    Args:
        name: the image's id, for errors.
        look: the piece.
        texts: inscriptions in modern characters; each begins a column.
        rng: the random generator.

    Raises:
        DataError: a character without a model, or texts that do not fit.
    """
    signs = load_signs()
    missing = sorted({char for text in texts for char in text} - signs.keys())
    if missing:
        problem = message("synthetic.stroke-model-missing", characters="".join(missing))
        raise DataError(problem, item=name)
    piece = make_blank_piece(look.size, look.kind, rng, cracks=look.cracks)
    if look.lost:
        piece = drop_parts(piece, look.lost, rng, depth=look.size[1] * 0.008)
    if not texts:
        return InscribedPiece(piece, (), ())
    writer = make_engraver(rng)
    cuts = [[write_sign(signs[char], writer, rng, signs=signs) for char in text] for text in texts]
    side = look.side * look.size[1]
    while side >= _LEAST:
        masks = [[draw_sign_mask(cut, round(side), writer) for cut in passage] for passage in cuts]
        written = place_inscriptions(
            masks, piece.mask, rng, leftwards=look.leftwards, keep_off=_mask_seams(piece, look)
        )
        if written is not None:
            text = "".join(texts)
            columns = tuple("".join(text[n] for n in column) for column in written.columns)
            return InscribedPiece(piece._replace(strokes=written.strokes), written.boxes, columns)
        side *= _SHRINK
    raise DataError(message("synthetic.texts-too-long", count=sum(map(len, texts))), item=name)


def _mask_seams(piece: Piece, look: PiecePlan) -> Plane | None:
    """The mask of a shell's seams, which writers avoided; None for bones."""
    if look.kind != "plastron":
        return None
    return to_plane(to_image(piece.lines).filter(ImageFilter.MaxFilter(5)))


def draw_piece(
    piece: Piece,
    ground: Literal["rubbing", "photo"],
    rng: np.random.Generator,
    *,
    wear: float,
    grain: float,
    filling: float = 0.0,
) -> Image.Image:
    """A rubbing or a photograph of a piece; see `keju_synthetic.bones.renderings`."""
    if ground == "rubbing":
        return draw_rubbing(piece, rng, wear=wear, grain=grain, lift=0.6 * float(rng.random()))
    return draw_photo(piece, rng, wear=wear, grain=grain, filling=filling)


def draw_negative(
    thing: Literal["seal", "crane"], height: int, rng: np.random.Generator, *, legend: str
) -> Image.Image:
    """Draw a negative: an image that could be taken for an inscription."""
    if thing == "seal":
        wear = compute_wear(0.3, {}, item=legend)
        cut = SealDesign(legend=legend)
        return press_seal(cut, height=height, ground="paper", wear=wear, rng=rng).image
    width = round(height * 0.8)
    pen = Brush(width, height, rng)
    draw_standing_crane(pen, width * 0.5, height * 0.9, height * 0.62)
    light = np.clip(
        make_paper((height, width), compute_wear(0.4, {}, item=thing), rng) * pen.light, 0, 1
    )
    return Image.fromarray((light * 255 + 0.5).astype(np.uint8))

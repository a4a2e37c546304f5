"""Oracle bones: signs, writers, pieces of bone and shell, their renderings and fragments."""

from keju_synthetic.bones.crops import CropPlan, draw_sign_crop
from keju_synthetic.bones.fragmentation import Fragmentation, cut_fragment, fragment_mask
from keju_synthetic.bones.pieces import Piece, make_blank_piece
from keju_synthetic.bones.placement import Inscription, extract_strokes, place_inscriptions
from keju_synthetic.bones.renderings import draw_hand_copy, draw_photo, draw_rubbing
from keju_synthetic.bones.sign_writing import (
    draw_sign_mask,
    make_copyist,
    make_engraver,
    write_sign,
)
from keju_synthetic.bones.signs import Sign, load_signs

__all__ = [
    "CropPlan",
    "Fragmentation",
    "Inscription",
    "Piece",
    "Sign",
    "cut_fragment",
    "draw_hand_copy",
    "draw_photo",
    "draw_rubbing",
    "draw_sign_crop",
    "draw_sign_mask",
    "extract_strokes",
    "fragment_mask",
    "load_signs",
    "make_blank_piece",
    "make_copyist",
    "make_engraver",
    "place_inscriptions",
    "write_sign",
]

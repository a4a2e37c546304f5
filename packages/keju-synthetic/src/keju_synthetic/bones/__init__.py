"""Oracle bones: signs, hands, pieces of bone and shell, their rubbings, and how they break."""

from keju_synthetic.bones.crops import CropPlan, draw_sign_crop
from keju_synthetic.bones.grounds import draw_hand_copy, draw_photo, draw_rubbing
from keju_synthetic.bones.incising import draw_sign_mask, make_copyist, make_engraver, write_sign
from keju_synthetic.bones.inscribing import Inscription, extract_strokes, place_inscriptions
from keju_synthetic.bones.pieces import Piece, make_blank_piece
from keju_synthetic.bones.signs import Sign, load_signs
from keju_synthetic.bones.tearing import Fragmentation, cut_fragment, fragment_mask

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

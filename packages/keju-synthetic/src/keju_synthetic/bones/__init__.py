"""Oracle bones: signs, hands, pieces of bone and shell, their rubbings, and how they break."""

from keju_synthetic.bones.crops import CropPlan, sign_crop
from keju_synthetic.bones.grounds import hand_copy, photo, rubbing
from keju_synthetic.bones.incising import knife, pen, sign_mask, write
from keju_synthetic.bones.inscribing import Inscription, compose, strokes_in
from keju_synthetic.bones.pieces import Piece, blank_piece
from keju_synthetic.bones.signs import Sign, load_signs
from keju_synthetic.bones.tearing import Torn, fragment, tear

__all__ = [
    "CropPlan",
    "Inscription",
    "Piece",
    "Sign",
    "Torn",
    "blank_piece",
    "compose",
    "fragment",
    "hand_copy",
    "knife",
    "load_signs",
    "pen",
    "photo",
    "rubbing",
    "sign_crop",
    "sign_mask",
    "strokes_in",
    "tear",
    "write",
]

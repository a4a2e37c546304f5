"""Oracle bones: signs, hands, pieces of bone and shell, their rubbings, and how they break."""

from keju.synthesis.bones.crops import CropPlan, sign_crop
from keju.synthesis.bones.grounds import hand_copy, photo, rubbing
from keju.synthesis.bones.incising import knife, pen, sign_mask, write
from keju.synthesis.bones.inscribing import Inscription, compose, strokes_in
from keju.synthesis.bones.pieces import Piece, blank_piece
from keju.synthesis.bones.signs import Sign, load_signs
from keju.synthesis.bones.tearing import Torn, fragment, tear

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

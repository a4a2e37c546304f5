"""Oracle bones: signs, hands, pieces of bone and shell, their rubbings, and how they break."""

from keju.building.bones.crops import CropPlan, sign_crop
from keju.building.bones.grounds import hand_copy, photo, rubbing
from keju.building.bones.incising import knife, pen, sign_mask, write
from keju.building.bones.inscribing import Inscription, compose, strokes_in
from keju.building.bones.pieces import Piece, blank_piece
from keju.building.bones.signs import Sign, load_signs
from keju.building.bones.tearing import Torn, fragment, tear

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

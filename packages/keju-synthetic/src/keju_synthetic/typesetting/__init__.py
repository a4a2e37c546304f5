"""Type set into the outlines of a real page: where its lines lie, in which fonts, in what frame."""

from keju_synthetic.typesetting.beds import Bed, bed_of, parted
from keju_synthetic.typesetting.pages import (
    MARK,
    Look,
    SetPage,
    Unset,
    compose_set,
    inked,
    settable,
)
from keju_synthetic.typesetting.typefaces import Typeface, typeface, typefaces

__all__ = [
    "MARK",
    "Bed",
    "Look",
    "SetPage",
    "Typeface",
    "Unset",
    "bed_of",
    "compose_set",
    "inked",
    "parted",
    "settable",
    "typeface",
    "typefaces",
]

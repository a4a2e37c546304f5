"""Controls against recitation: pages on which something stands that their text never had."""

from keju.building.controls.altering import Alphabet, Alteration, altered, look_alikes
from keju.building.controls.step import STEP

__all__ = ["STEP", "Alphabet", "Alteration", "altered", "look_alikes"]

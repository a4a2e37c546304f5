"""Controls against memorization: pages altered so that they differ from their published text."""

from keju.building.controls.altering import Alphabet, Alteration, altered, look_alikes
from keju.building.controls.step import STEP

__all__ = ["STEP", "Alphabet", "Alteration", "altered", "look_alikes"]

"""Controls against memorization: pages altered so that they differ from their published text."""

from keju.building.perturbing.altering import Alphabet, Alteration, alter_lines, load_look_alikes
from keju.building.perturbing.step import STEP

__all__ = ["STEP", "Alphabet", "Alteration", "alter_lines", "load_look_alikes"]

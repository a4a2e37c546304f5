"""Figures: of runs, datasets and the papers' tables; as SVG, PNG, PDF, and CSV of what is drawn.

Importing this loads altair, which takes a third of a second: import it where figures are made.
"""

from keju.reporting.figures.catalogue import of_dataset, of_papers, of_run
from keju.reporting.figures.datasets import OfDataset
from keju.reporting.figures.drawing import Format, Written, embedded, svg, write_figure
from keju.reporting.figures.figure import Drawn, Figure, Undrawn
from keju.reporting.figures.judges import judges
from keju.reporting.figures.parts import OfRun

__all__ = [
    "Drawn",
    "Figure",
    "Format",
    "OfDataset",
    "OfRun",
    "Undrawn",
    "Written",
    "embedded",
    "judges",
    "of_dataset",
    "of_papers",
    "of_run",
    "svg",
    "write_figure",
]

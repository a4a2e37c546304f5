"""Figures of runs, datasets and the papers' tables, as SVG, PNG, PDF, and CSV of their data.

Importing this loads altair, which takes a third of a second: import it where figures are made.

Raises:
    PrerequisiteError: altair or its converter is not installed.
    UsageError: the address space is limited, which would make the converter abort the process.
"""

from keju.errors import PrerequisiteError
from keju.figures.address_space import check_address_space
from keju.texts import _

check_address_space()

try:
    from keju.figures.catalogue import of_dataset, of_papers, of_run
    from keju.figures.datasets import OfDataset
    from keju.figures.drawing import Format, Written, embedded, svg, write_figure
    from keju.figures.figure import Drawn, Figure, Undrawn
    from keju.figures.in_report import ReportFigure, report_figures
    from keju.figures.judges import judges
    from keju.figures.parts import OfRun
except ModuleNotFoundError as error:
    if error.name not in {"altair", "vl_convert"}:
        raise
    raise PrerequisiteError(_("the drawing of figures"), 'pip install "keju[figures]"') from None

__all__ = [
    "Drawn",
    "Figure",
    "Format",
    "OfDataset",
    "OfRun",
    "ReportFigure",
    "Undrawn",
    "Written",
    "embedded",
    "judges",
    "of_dataset",
    "of_papers",
    "of_run",
    "report_figures",
    "svg",
    "write_figure",
]

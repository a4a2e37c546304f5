"""The public functions of keju in Python: error rates, extraction, datasets, pages and scores.

`docs/api.md` lists the public names. Paths are `str` or `os.PathLike`. A value of the wrong type is
a `TypeError`, an invalid value a `ValueError`, and an invalid file a `keju.errors.KejuError`.
"""

from keju import metrics
from keju.api.bundling import bundle, verify
from keju.api.comparing import Comparison, compare
from keju.api.data import load, read_alto, read_hocr, read_page_xml, reading_order
from keju.api.display import View, show
from keju.api.leaderboards import Leaderboard
from keju.api.running import arun, run
from keju.api.runs import Run, open_run
from keju.api.scores import Results, score
from keju.api.texts import cer, extract
from keju.bundles import Verification
from keju.datasets import Dataset
from keju.datasets.pages import Page
from keju.items import Item, Line
from keju.models.function_model import PythonModel
from keju.plugins import export, metric, model, reader, responses, source, step, writer
from keju.scoring import Extracted

__all__ = [
    "Comparison",
    "Dataset",
    "Extracted",
    "Item",
    "Leaderboard",
    "Line",
    "Page",
    "PythonModel",
    "Results",
    "Run",
    "Verification",
    "View",
    "arun",
    "bundle",
    "cer",
    "compare",
    "export",
    "extract",
    "load",
    "metric",
    "metrics",
    "model",
    "open_run",
    "read_alto",
    "read_hocr",
    "read_page_xml",
    "reader",
    "reading_order",
    "responses",
    "run",
    "score",
    "show",
    "source",
    "step",
    "verify",
    "writer",
]

"""The public functions of keju in Python: error rates, extraction, datasets, pages and scores.

`docs/api.md` lists the public names. Paths are `str` or `os.PathLike`. A value of the wrong type is
a `TypeError`, an invalid value a `ValueError`, and an invalid file a `keju.errors.KejuError`. A
name is imported on first use, so that `keju.cer` does not wait for models and datasets.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keju import metrics as metrics
    from keju.api.bundling import bundle as bundle
    from keju.api.bundling import verify as verify
    from keju.api.comparing import Comparison as Comparison
    from keju.api.comparing import compare as compare
    from keju.api.data import (
        load as load,
    )
    from keju.api.data import (
        read_alto as read_alto,
    )
    from keju.api.data import (
        read_hocr as read_hocr,
    )
    from keju.api.data import (
        read_page_xml as read_page_xml,
    )
    from keju.api.data import (
        reading_order as reading_order,
    )
    from keju.api.display import View as View
    from keju.api.display import show as show
    from keju.api.leaderboards import Leaderboard as Leaderboard
    from keju.api.running import arun as arun
    from keju.api.running import run as run
    from keju.api.runs import Run as Run
    from keju.api.runs import open_run as open_run
    from keju.api.scores import Results as Results
    from keju.api.scores import score as score
    from keju.api.texts import cer as cer
    from keju.api.texts import extract as extract
    from keju.bundles import Verification as Verification
    from keju.datasets import Dataset as Dataset
    from keju.datasets.pages import Page as Page
    from keju.extraction import Reading as Reading
    from keju.items import Item as Item
    from keju.items import Line as Line
    from keju.models.function_model import PythonModel as PythonModel
    from keju.plugins import (
        export as export,
    )
    from keju.plugins import (
        metric as metric,
    )
    from keju.plugins import (
        model as model,
    )
    from keju.plugins import (
        reader as reader,
    )
    from keju.plugins import (
        responses as responses,
    )
    from keju.plugins import (
        source as source,
    )
    from keju.plugins import (
        step as step,
    )
    from keju.plugins import (
        writer as writer,
    )


_MODULES = {
    "Comparison": "keju.api.comparing",
    "Dataset": "keju.datasets",
    "Item": "keju.items",
    "Leaderboard": "keju.api.leaderboards",
    "Line": "keju.items",
    "Page": "keju.datasets.pages",
    "PythonModel": "keju.models.function_model",
    "Reading": "keju.extraction",
    "Results": "keju.api.scores",
    "Run": "keju.api.runs",
    "Verification": "keju.bundles",
    "View": "keju.api.display",
    "arun": "keju.api.running",
    "bundle": "keju.api.bundling",
    "cer": "keju.api.texts",
    "compare": "keju.api.comparing",
    "export": "keju.plugins",
    "extract": "keju.api.texts",
    "load": "keju.api.data",
    "metric": "keju.plugins",
    "model": "keju.plugins",
    "open_run": "keju.api.runs",
    "read_alto": "keju.api.data",
    "read_hocr": "keju.api.data",
    "read_page_xml": "keju.api.data",
    "reader": "keju.plugins",
    "reading_order": "keju.api.data",
    "responses": "keju.plugins",
    "run": "keju.api.running",
    "score": "keju.api.scores",
    "show": "keju.api.display",
    "source": "keju.plugins",
    "step": "keju.plugins",
    "verify": "keju.api.bundling",
    "writer": "keju.plugins",
}
"""The module that defines each public name."""

if not TYPE_CHECKING:  # checkers take the names from the imports above
    __all__ = ["metrics", *_MODULES]  # noqa: PLE0604 - the keys are strings


def __getattr__(name: str) -> object:
    if name == "metrics":
        return import_module("keju.metrics")
    if name not in _MODULES:
        raise AttributeError(f"module 'keju.api' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value

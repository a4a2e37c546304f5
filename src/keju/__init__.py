"""keju (科舉): build, run, score and audit multimodal benchmarks of Chinese classical studies.

The public functions and types of `keju.api` are attributes of this package, imported on first use.
"""

from typing import TYPE_CHECKING

from keju import telemetry

if TYPE_CHECKING:
    from keju.api import (
        Dataset,
        Extracted,
        Item,
        Line,
        Page,
        Results,
        cer,
        extract,
        load,
        read_alto,
        read_hocr,
        read_page_xml,
        reading_order,
        score,
    )

__version__ = "0.1.0"

__all__ = [
    "Dataset",
    "Extracted",
    "Item",
    "Line",
    "Page",
    "Results",
    "__version__",
    "cer",
    "extract",
    "load",
    "read_alto",
    "read_hocr",
    "read_page_xml",
    "reading_order",
    "score",
]

# Before any module of keju imports a library that would contact its vendor.
telemetry.disable()


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'keju' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - costs as much as all of `import keju`

    value = globals()[name] = getattr(import_module("keju.api"), name)
    return value


def __dir__() -> list[str]:
    return __all__

"""The environment that makes or verifies a bundle: Python, platform, versions of packages."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from keju import __version__

PACKAGES = (
    "msgspec", "numpy", "polars", "pyarrow", "rapidfuzz", "opencc-python-reimplemented", "opencc",
    "zhconv", "jieba", "sacrebleu", "rouge-score", "nltk", "torch", "transformers",
    "keju-synthetic",
)  # fmt: skip
"""The packages on which values of scores may depend."""


def describe_environment() -> dict[str, str]:
    """Versions of keju, Python and packages, and the platform without the machine's name."""
    found = {
        "keju": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found

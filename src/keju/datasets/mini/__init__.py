"""The bundled dataset: small, made by us from public-domain texts, CC0-1.0.

It is synthetic: use its scores to check that the pipeline works, not to compare models. A program
that is no longer part of keju drew it (docs/synthetic.md); ``making.json`` names the fonts and
versions that it used.
"""

from __future__ import annotations

from pathlib import Path


def path() -> Path:
    """The directory of the bundled dataset, for `keju.datasets.store.Dataset.open`."""
    return Path(__file__).parent / "data"


def dataset_path(given: Path) -> Path:
    """The directory of a dataset: ``mini`` is the bundled one, unless a directory has that name."""
    return path() if str(given) == "mini" and not given.exists() else given


def short_name(given: Path) -> str:
    """How a command names a dataset: ``mini`` for the bundled one, else its path."""
    return "mini" if given == path() and not Path("mini").exists() else str(given)

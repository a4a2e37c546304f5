"""The bundled set: small, made by us from public-domain texts, free to give away (CC0-1.0).

It is synthetic: use its scores to check that the pipeline works, not to compare models. The package
keju-synthetic draws it from ``recipes/mini.toml`` (``make mini``); ``making.json`` names the fonts
and versions that drew it.
"""

from __future__ import annotations

from pathlib import Path


def path() -> Path:
    """The folder of the bundled dataset, for `keju.datasets.store.Dataset.open`."""
    return Path(__file__).parent / "data"


def dataset_path(given: Path) -> Path:
    """The folder of a dataset: ``mini`` is the bundled set, unless a folder has that name."""
    return path() if str(given) == "mini" and not given.exists() else given

"""Segmentation into words with jieba, for the one official metric that needs it."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

from keju.errors import PrerequisiteError


def words(text: str) -> list[str]:
    """The words that jieba's default mode cuts a text into (MCS-Bench T2).

    Raises:
        PrerequisiteError: jieba is not installed.
    """
    return _cutter()(text)


@cache
def _cutter() -> Callable[[str], list[str]]:
    try:
        # Importing jieba takes pkg_resources along, which warns of its own age.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba  # noqa: PLC0415
    except ImportError:
        raise PrerequisiteError(
            "BLEU over words, which needs jieba,", "pip install jieba==0.42.1"
        ) from None
    jieba.setLogLevel(logging.WARNING)
    folder = _cache_folder()
    if folder:
        # By default jieba unmarshals a file in the shared temporary folder.
        jieba.dt.tmp_dir = str(folder)
    cut: Callable[[str], list[str]] = jieba.lcut
    return cut


def _cache_folder() -> Path | None:
    """Our own folder for the parsed dictionary, or None where none can be made."""
    try:
        base = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(base) if base else Path.home() / ".cache") / "keju"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder

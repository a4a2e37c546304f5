"""Words as jieba's default mode cuts them, for the one metric that needs them (T2)."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache

from keju.errors import PrerequisiteError
from keju.object_stores import cache_folder
from keju.texts import _


# The answers of several models are compared with the same reference.
@lru_cache(maxsize=512)
def words(text: str) -> list[str]:
    """The words that jieba's default mode cuts a text into (T2); a list that all callers share.

    Raises:
        PrerequisiteError: jieba is not installed.
    """
    return _segment()(text)


@cache
def _segment() -> Callable[[str], list[str]]:
    try:
        # Importing jieba takes pkg_resources along, which warns of its own age.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba  # noqa: PLC0415
    except ImportError:
        raise PrerequisiteError(
            _("BLEU over words, which needs jieba,"), 'pip install "keju[official]"'
        ) from None
    jieba.setLogLevel(logging.CRITICAL)
    # By default jieba unmarshals a file in the temporary folder, where anybody can write one. It
    # cannot read or write below os.devnull: it parses its dictionary again, which takes a second.
    jieba.dt.tmp_dir = os.devnull
    with suppress(OSError, RuntimeError):
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        jieba.dt.tmp_dir = str(folder)
    jieba.initialize()
    segment: Callable[[str], list[str]] = jieba.lcut
    return segment

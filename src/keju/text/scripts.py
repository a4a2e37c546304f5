"""Whole texts in simplified or traditional characters, for prompts: phrases decide, as people do.

Scoring never uses this; it compares character by character (`keju.text.normalise`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from keju.items import Script

_CONFIG: dict[Script, str] = {"simplified": "t2s", "traditional": "s2t"}


def in_script(text: str, script: Script) -> str:
    """A text in one of the two scripts (OpenCC, phrases before characters).

    Simplifying loses nothing that a reader needs; the way back is OpenCC's best guess where one
    simplified character stands for several (发 is 發 or 髮). What is in that script already stays.
    """
    return _converter(script)(text)


@cache
def _converter(script: Script) -> Callable[[str], str]:
    import opencc  # noqa: PLC0415

    convert: Callable[[str], str] = opencc.OpenCC(_CONFIG[script]).convert
    return convert

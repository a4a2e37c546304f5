"""Conversion of whole texts to simplified or traditional characters, by phrases.

For prompts and for references that keju writes. Scoring never uses this: `strict` compares
character by character (`keju.text.normalise`), `official` converts as the authors' script does
(`keju.text.conversion`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from keju.items import Script

_MAINLAND = str.maketrans("「」『』鴈鼈覩", "“”‘’雁鳖睹")
_CONFIG: dict[Script, str] = {"simplified": "t2s", "traditional": "s2t"}


def in_script(text: str, script: Script) -> str:
    """A text in one of the two scripts (OpenCC, phrases before characters).

    Simplifying loses no information that a reader needs; the reverse is OpenCC's best guess where
    one simplified character represents several (发 is 發 or 髮). Text in that script already stays.
    """
    return _converter(script)(text)


def simplified_reference(text: str) -> str:
    """A reference for ``answer_simplified``: in simplified characters and mainland quotes.

    OpenCC keeps corner brackets and some variants that mainland orthography replaces.
    """
    return in_script(text, "simplified").translate(_MAINLAND).replace("衣著", "衣着")


@cache
def _converter(script: Script) -> Callable[[str], str]:
    import opencc  # noqa: PLC0415

    convert: Callable[[str], str] = opencc.OpenCC(_CONFIG[script]).convert
    return convert

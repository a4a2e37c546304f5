"""Conversion of whole texts to simplified or traditional characters, by phrases.

`in_script` is for prompts and for references that keju writes, `official_convert` for responses, as
authors' scripts do it. `strict` uses neither: it compares character by character
(`keju.text.normalise`). zhconv is licensed under GPL-2.0-or-later and therefore an extra.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

from keju.errors import PrerequisiteError
from keju.items import Script
from keju.texts import _

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


def conversion_missing() -> str:
    """Why `official_convert` is not available; empty where it is."""
    return "" if find_spec("zhconv") else str(_missing())


def official_convert(value: object) -> str:
    """Convert to mainland simplified with zhconv 1.4.3 ``zh-cn`` as authors' scripts do.

    It maps phrases as well as characters (忌廉 becomes 奶油), so the order of cleaning and
    converting matters.

    Args:
        value: a text, or any other JSON value that a response is. Of a list zhconv joins the texts,
            each converted only where its dictionary has it as a whole; an empty list or object
            becomes an empty text.

    Raises:
        TypeError: zhconv raises it for numbers, null, and lists of anything but text.
        KeyError: zhconv raises it for an object that is not empty.
        PrerequisiteError: zhconv is not installed.
    """
    return _zhconv()(value, "zh-cn")


@cache
def _zhconv() -> Callable[[object, str], str]:
    # Importing zhconv takes 0.1 CPU s, most of it pkg_resources, which prints a deprecation
    # warning.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from zhconv.zhconv import convert  # noqa: PLC0415 - an extra
        except ImportError:
            raise _missing() from None
    function: Callable[[object, str], str] = convert
    return function


def _missing() -> PrerequisiteError:
    return PrerequisiteError(
        _("zhconv (GPL-2.0-or-later), with which official scoring converts responses,"),
        'pip install "keju[official]"',
    )

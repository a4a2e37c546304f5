"""Conversion to mainland simplified, by phrases, as authors' scripts do it with zhconv.

It needs zhconv, which is licensed under GPL-2.0-or-later and therefore an extra.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

from keju.errors import PrerequisiteError
from keju.texts import _


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

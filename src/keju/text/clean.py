"""The two text steps of the MCS-Bench authors' script, as it behaves (quirks included)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache

_NOT_KEPT = re.compile(r"[^\u4e00-\u9fff\w]")


def official_clean(text: str) -> str:
    r"""Delete every character outside ``[\u4e00-\u9fff\w]`` (MCS-Bench, `clean_text`).

    What stays besides common ideographs: letters, digits and ``_`` of every script, kana, 〇 and
    the ideographs beyond the BMP. What goes: □, private use, Kangxi radicals, variation selectors.
    """
    return _NOT_KEPT.sub("", text)


def official_convert(text: str) -> str:
    """Convert to mainland simplified with zhconv 1.4.3 ``zh-cn`` (MCS-Bench, on responses only).

    It maps phrases as well as characters (忌廉 becomes 奶油), so the order of cleaning and
    converting matters.
    """
    return _converter()(text, "zh-cn")


@cache
def _converter() -> Callable[[str, str], str]:
    # Importing zhconv takes 0.1 CPU s, most of it pkg_resources, which warns of its own age.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import zhconv  # noqa: PLC0415

    convert: Callable[[str, str], str] = zhconv.convert
    return convert

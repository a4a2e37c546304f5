"""Conversion to mainland simplified, by phrases, as authors' scripts do it with zhconv.

It needs zhconv, which is licensed under GPL-2.0-or-later and therefore an extra.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib.util import find_spec
from itertools import compress, count
from operator import add
from types import ModuleType

from keju.errors import PrerequisiteError
from keju.text.character_table import CharacterTable
from keju.texts import _

_LOCALE = "zh-cn"
_INSTALL = 'pip install "keju[official]"'


def conversion_missing() -> str:
    """Why `official_convert` is not available; empty where it is."""
    return (
        ""
        if find_spec("zhconv")
        else str(
            PrerequisiteError(
                _("zhconv (GPL-2.0-or-later), with which official scoring converts responses,"),
                _INSTALL,
            )
        )
    )


def official_convert(text: str) -> str:
    """Convert to mainland simplified with zhconv 1.4.3 ``zh-cn`` as authors' scripts do.

    It maps phrases as well as characters (忌廉 becomes 奶油), so the order of cleaning and
    converting matters.

    Raises:
        PrerequisiteError: zhconv is not installed.
    """
    return _converter().convert(text)


def official_convert_value(value: object) -> str:
    """Convert a response that is not text, as the authors' script does with any JSON value.

    zhconv joins the texts of a list, and of an empty list or object it makes an empty text. An
    element is converted only where zhconv's dictionary has it as a whole.

    Raises:
        TypeError: zhconv raises it for numbers, null, and lists of anything but text.
        KeyError: zhconv raises it for an object that is not empty.
        PrerequisiteError: zhconv is not installed.
    """
    # zhconv's own function: `_Converter` iterates over characters, which a list does not have.
    converted: str = _zhconv().convert(value, _LOCALE)
    return converted


def _zhconv() -> ModuleType:
    # Importing zhconv takes 0.1 CPU s, most of it pkg_resources, which prints a deprecation
    # warning.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from zhconv import zhconv  # noqa: PLC0415 - an extra
        except ImportError:
            raise PrerequisiteError(
                _("zhconv (GPL-2.0-or-later), with which official scoring converts responses,"),
                _INSTALL,
            ) from None
    module: ModuleType = zhconv
    return module


class _Converter:
    """zhconv's conversion with zhconv's dictionary: the longest phrase first, from the left.

    `zhconv.convert` iterates over every character in Python. Most begin no phrase, so here runs of
    them are translated at once; the result is the same and faster.
    """

    def __init__(self) -> None:
        zhconv = _zhconv()
        self._words: dict[str, str] = zhconv.getdict(_LOCALE)
        self._beginnings: frozenset[str] = zhconv.pfsdict[_LOCALE]
        self._single = CharacterTable(lambda char: self._words.get(char, char))
        self._pairs = frozenset(word for word in self._beginnings if len(word) == 2)

    def convert(self, text: str) -> str:
        """Convert one text."""
        out = []
        done = 0
        known = map(self._pairs.__contains__, map(add, text, text[1:]))
        for start in compress(count(), known):
            if start >= done:
                end, new = self._longest(text, start)
                if end > start + 1:
                    out.append(text[done:start].translate(self._single) + new)
                    done = end
        out.append(text[done:].translate(self._single))
        return "".join(out)

    def _longest(self, text: str, start: int) -> tuple[int, str]:
        """The end of the longest known word from `start`, and its conversion."""
        found = (start + 1, text[start])
        end = start + 2
        while end <= len(text) and (word := text[start:end]) in self._beginnings:
            if word in self._words:
                found = (end, self._words[word])
            end += 1
        return found


@cache
def _converter() -> _Converter:
    return _Converter()

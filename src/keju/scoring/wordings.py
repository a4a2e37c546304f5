"""Lists of wordings that extraction looks for, read from the TOML files in `patterns/`.

An entry of a file is a list of alternatives (regular expressions) or one expression; ``@name@``
means the entry of that name in the same file. All are matched against `fold` text, so their Han
characters are folded too (着 becomes 著).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from keju.errors import DataError
from keju.files import shipped_toml
from keju.scoring.first_characters import lookahead_of
from keju.text import CharacterTable, normalise

_HAN = re.compile(r"[\u3400-\u9fff]+")
_SHORT = 4_000
_REFERENCE = re.compile(r"@([a-z_]+)@")


def _plain(char: str) -> str:
    """One plain character for a character."""
    found = normalise(char).lower()
    return found if len(found) == 1 else char


_FOLDED = CharacterTable(_plain)


def fold(text: str) -> str:
    """A text of the same length in simplified characters, lower case and ASCII forms."""
    return _fold_short(text) if len(text) < _SHORT else text.translate(_FOLDED)


@lru_cache(maxsize=64)
def _fold_short(text: str) -> str:
    """The same of a sentence, which several rules look at one after the other."""
    return text.translate(_FOLDED)


@cache
def wording(file: str, name: str, around: str = "{}", flags: int = 0) -> re.Pattern[str]:
    """The compiled expression of one entry.

    Args:
        file: the file in `patterns/`, without its ending.
        name: the entry.
        around: an expression with ``{}`` where the entry is put as a group.
        flags: flags of `re.compile`.

    Raises:
        DataError: the file has no such entry.
    """
    text = around.replace("{}", expression(file, name))
    return re.compile(text if flags else lookahead_of(text) + text, flags)


@cache
def expression(file: str, name: str) -> str:
    """One entry as a group of alternatives, references replaced.

    Raises:
        DataError: the file has no such entry.
    """
    try:
        entry = _entries(file)[name]
    except KeyError:
        raise DataError("there is no wording {!r}", name, file=f"{file}.toml") from None
    text = _HAN.sub(
        lambda found: fold(found[0]), entry if isinstance(entry, str) else "|".join(entry)
    )
    return "(?:" + _REFERENCE.sub(lambda found: expression(file, found[1]), text) + ")"


def alternatives(file: str, name: str) -> tuple[str, ...]:
    """The alternatives of one entry, in order."""
    entry = _entries(file)[name]
    return (entry,) if isinstance(entry, str) else tuple(entry)


@cache
def _entries(file: str) -> dict[str, str | list[str]]:
    return shipped_toml("keju.scoring", f"patterns/{file}.toml", dict[str, str | list[str]])

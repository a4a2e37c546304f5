"""Lists of wordings that extraction looks for, read from the TOML files in `patterns/`.

An entry of a file is a list of alternatives (regular expressions) or one expression; ``@name@``
means the entry of that name in the same file. All are matched against `fold` text, so their Han
characters are folded too (着 becomes 著).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from keju.errors import DataError
from keju.files import shipped_toml
from keju.messages import message
from keju.text import CharacterTable, normalise

_HAN = re.compile(r"[\u3400-\u9fff]+")
_SHORT, _MOST_BEGINNINGS = 4_000, 400
_CATEGORIES = {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s"}
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
    return re.compile(text if flags else _first_characters(text) + text, flags)


def _first_characters(text: str) -> str:
    """A lookahead for the characters with which a match can begin; nothing where that is open.

    Most places of a text are ruled out by it at once, before any of many alternatives is tried.
    """
    found = _beginnings(parser.parse(text))
    if found is None or found.empty or not found.chars or len(found.chars) > _MOST_BEGINNINGS:
        return ""
    ahead = "(?=[" + "".join(sorted(found.chars)) + "])"
    return f"(?:^|{ahead})" if found.at_start else ahead


class _Beginnings(NamedTuple):
    """How a match of an expression can begin.

    Attributes:
        chars: the first characters, as parts of a class.
        empty: whether it can be empty.
        at_start: whether it can begin with anything at the beginning of the text.
    """

    chars: frozenset[str] = frozenset()
    empty: bool = False
    at_start: bool = False

    def or_else(self, other: _Beginnings, *, empty: bool) -> _Beginnings:
        """The beginnings of either."""
        return _Beginnings(self.chars | other.chars, empty, self.at_start or other.at_start)


def _beginnings(parsed: Iterable[tuple[Any, Any]]) -> _Beginnings | None:
    """The beginnings of a sequence; None if a match can begin with any character."""
    found = _Beginnings(empty=True)
    for code, value in parsed:
        if str(code) == "AT" and str(value) == "AT_BEGINNING":
            return found.or_else(_Beginnings(at_start=True), empty=False)
        part = _beginnings_of(str(code), value)
        if part is None:
            return None
        found = found.or_else(part, empty=part.empty)
        if not part.empty:
            break
    return found


def _beginnings_of(name: str, value: Any) -> _Beginnings | None:  # noqa: ANN401 - by operation
    found: _Beginnings | None = None
    match name:
        case "AT" | "ASSERT" | "ASSERT_NOT":
            found = _Beginnings(empty=True)
        case "LITERAL":
            found = _Beginnings(frozenset([re.escape(chr(value))]))
        case "IN":
            found = _in_class(value)
        case "SUBPATTERN":
            found = _beginnings(value[-1])
        case "MAX_REPEAT" | "MIN_REPEAT":
            inner = _beginnings(value[2])
            found = inner and inner._replace(empty=inner.empty or not value[0])
        case "BRANCH":
            found = _of_any(map(_beginnings, value[1]))
    return found


def _of_any(branches: Iterable[_Beginnings | None]) -> _Beginnings | None:
    """The beginnings of alternatives; None where one of them may begin with anything."""
    found = _Beginnings()
    for each in branches:
        if each is None:
            return None
        found = found.or_else(each, empty=found.empty or each.empty)
    return found


def _in_class(parts: Iterable[tuple[Any, Any]]) -> _Beginnings | None:
    """The characters of a class in brackets; None if they are many."""
    found: set[str] = set()
    for code, value in parts:
        match str(code):
            case "LITERAL":
                found.add(re.escape(chr(value)))
            case "RANGE" if value[1] - value[0] <= _MOST_BEGINNINGS:
                found.update(re.escape(chr(each)) for each in range(value[0], value[1] + 1))
            case "CATEGORY" if str(value) in _CATEGORIES:
                found.add(_CATEGORIES[str(value)])
            case _:
                return None
    return _Beginnings(frozenset(found))


@cache
def expression(file: str, name: str) -> str:
    """One entry as a group of alternatives, references replaced.

    Raises:
        DataError: the file has no such entry.
    """
    try:
        entry = _entries(file)[name]
    except KeyError:
        raise DataError(
            message("scoring.no-wording-entry", name=name), file=f"{file}.toml"
        ) from None
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

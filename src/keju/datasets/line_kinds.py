"""Mapping of the line types in transcription files to keju's kinds of line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast, get_args

import msgspec

from keju.errors import UsageError
from keju.files import shipped_toml
from keju.items import LineKind

FLOW: frozenset[LineKind] = frozenset({"main", "note", "title", "author"})
"""Kinds that belong to the running text; all others are outside of it."""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unspecific: frozenset[str]
    kinds: dict[LineKind, tuple[str, ...]]


_TABLE = shipped_toml("keju.datasets", "line_kinds.toml", _Table)
_KINDS = {word: kind for kind, words in _TABLE.kinds.items() for word in words}


def kind_of(
    words: Sequence[str], extra: Mapping[str, LineKind] | None = None
) -> tuple[LineKind, str]:
    """The kind of a line, and its innermost meaningful word, from the words that its file uses.

    `words` are types of the regions around the line, outermost first, and its own type last; a
    subtype (``MarginTextZone:note#1``) counts as a word of its own. `extra` are the user's meanings
    of words, which have priority over the table.

    A word for marginal text (margin, page number, seal …) has priority over a word of the running
    text: a title in the centre column is a running title. Otherwise the innermost word decides.
    Words without meaning, and no words at all, give ``main``; only unknown words give ``other``.
    """
    inwards = [word for word in reversed(words) if word]
    word = next(filter(is_specific, inwards), "".join(inwards[:1]))
    kinds = [kind for word in words for kind in _known(word, extra)]
    if kinds:
        return next((kind for kind in reversed(kinds) if kind not in FLOW), kinds[-1]), word
    is_unknown = any(is_specific(part) for word in words for part in _parts(word))
    return ("other" if is_unknown else "main"), word


def has_known_kind(word: str, extra: Mapping[str, LineKind] | None = None) -> bool:
    """Whether a word states a kind of line that keju knows."""
    return bool(_known(word, extra))


def is_specific(word: str) -> bool:
    """Whether a word is more than the default type of lines or regions."""
    return bool(word) and _fold(word) not in _TABLE.unspecific


def parse_kinds(text: str) -> dict[str, LineKind]:
    """Parse a user's own words for types, e.g. ``"Glose=note,正文=main"``; raises `UsageError`."""
    kinds: dict[str, LineKind] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        word, __, kind = map(str.strip, part.partition("="))
        if not word or kind not in get_args(LineKind):
            raise UsageError(
                "option kinds: {!r} does not have the form WORD=KIND, in which KIND is one of {}",
                part,
                ", ".join(get_args(LineKind)),
            )
        kinds[_fold(word)] = cast("LineKind", kind)
    return kinds


def _known(word: str, extra: Mapping[str, LineKind] | None) -> list[LineKind]:
    own = extra or {}
    parts = map(_fold, _parts(word))
    return [kind for part in parts if (kind := own.get(part) or _KINDS.get(part))]


def _parts(word: str) -> list[str]:
    return word.partition("#")[0].split(":")


def _fold(word: str) -> str:
    return "".join(letter for letter in word.casefold() if letter.isalnum())

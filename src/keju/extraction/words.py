"""The word lists of `words.toml` as patterns for folded texts."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib import resources

from keju.text import normalise
from keju.text.han import CharacterTable

_SENTENCE_END = re.compile(r"(?<=[。.!?\n])")
_BUT = re.compile(r"[,;]\s{0,3}(?:但是?|不过|but\b)", re.IGNORECASE)


@cache
def _lists() -> dict[str, list[str]]:
    file = resources.files("keju.extraction").joinpath("words.toml")
    return tomllib.loads(file.read_text("utf-8"))


def pattern_of(kinds: str) -> str:
    """The regular expression of kinds of words, which spaces separate, for a longer one."""
    return "|".join("|".join(_lists()[kind]) for kind in kinds.split())


@cache
def words(kinds: str) -> re.Pattern[str]:
    """The compiled pattern of kinds of words."""
    return re.compile(pattern_of(kinds), re.IGNORECASE | re.MULTILINE)


def has(kinds: str, text: str) -> bool:
    """Whether a folded text has words of one of several kinds."""
    return words(kinds).search(text) is not None


# The first and last sentence of an answer are often the same, or all of it.
@lru_cache(maxsize=16)
def refuses(text: str) -> bool:
    """Whether a folded text says that no answer can be given, without a "but" that gives one."""
    for sentence in _SENTENCE_END.split(text):
        behind = words("soft").sub("", _BUT.split(sentence)[-1])
        if has("refusal doubt", behind):
            return True
    return False


def _fold_character(char: str) -> str:
    normal = normalise(char, "script")
    return normal if len(normal) == 1 and not "①" <= char <= "⑳" else char


_FOLDED = CharacterTable(_fold_character)


# Readers fold the same text again for each kind of words that they look for.
@lru_cache(maxsize=16)
def fold(text: str) -> str:
    """A text of the same length in simplified characters and half-width letters and marks."""
    return text if text.isascii() else text.translate(_FOLDED)

r"""`Newlines`: a literal ``\n`` in released texts (a backslash and an n) as a line break.

Some releases write line breaks in this way. Without conversion, every such break is scored as the
character n.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from keju.texts import Text, n_

NewlineChoice = Literal["auto", "literal", "keep"]
r"""``auto``: in a text in which at least one literal ``\n`` is followed by no Latin letter, every
one is a line break; other texts (``\nabla``) are kept. ``literal``: in every text. ``keep``: in
none."""

_LITERAL = re.compile(r"(?:\\{1,2}r)?\\{1,2}n")
_CLEAR = re.compile(r"\\n(?![A-Za-z])")


class Newlines:
    """Converts literal line breaks by one rule, and counts them."""

    def __init__(self, choice: NewlineChoice = "auto") -> None:
        self._choice = choice
        self._converted = self._breaks = self._kept = 0

    def convert(self, text: str) -> str:
        """The text with line breaks; those at its ends are dropped, as no reading has them."""
        converted, breaks = _LITERAL.subn("\n", text)
        if not breaks:
            return text
        if self._choice == "keep" or (self._choice == "auto" and not has_literal_newline(text)):
            self._kept += 1
            return text
        self._converted += 1
        self._breaks += breaks
        return converted.strip("\n")

    def notes(self) -> Iterator[Text]:
        """Notes on the texts that were converted and those that were kept, with their numbers."""
        if self._converted:
            yield n_(
                "literal \\n read as line breaks: {:,} in {n:,} text (--option newlines=keep keeps "
                "them)",
                "literal \\n read as line breaks: {:,} in {n:,} texts (--option newlines=keep "
                "keeps them)",
                self._converted,
                self._breaks,
            )
        if self._kept:
            yield n_(
                "literal \\n kept in {n:,} text (--option newlines=literal makes them line breaks)",
                "literal \\n kept in {n:,} texts (--option newlines=literal makes them line "
                "breaks)",
                self._kept,
            )


def has_literal_newline(text: str) -> bool:
    r"""Whether a text has a literal ``\n`` that no Latin letter follows.

    One before a letter can be the beginning of a command such as ``\nabla``.
    """
    return bool(_CLEAR.search(text))

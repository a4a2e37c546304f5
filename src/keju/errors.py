"""Error classes, and helpers for messages: each error names the file, the item and a hint."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_WITHOUT_GLYPH = frozenset({"Co", "Cn"})


LONGEST = 1500
"""Maximum length of an error's text; longer ones are shortened in the middle."""


def printable(text: str, *, glyphs: bool = False) -> str:
    """Text as one line without terminal control characters.

    Control characters, line breaks, marks of writing direction and lone surrogates become their
    Python escapes: names and answers come from untrusted files and models. With `glyphs` private
    and unassigned characters are escaped too, which are frequent in a text in the wrong encoding.
    """
    unseen = _UNSEEN | _WITHOUT_GLYPH if glyphs else _UNSEEN
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in unseen else char
        for char in text
    )


def shortened(name: str, most: int = 80) -> str:
    """A name for a message, shortened in the middle if it is very long."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 :]}"


def number_of(count: int, one: str, many: str = "") -> str:
    """A number and its noun: ``1 item``, ``2,000 items``.

    Args:
        count: the number.
        one: the noun, in the singular.
        many: its plural, where that is not the singular with an s.
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def unknown_name(name: str, known: Iterable[str], kind: str) -> str:
    """The text of an error about a name that does not exist: the nearest one, and all names.

    Args:
        name: as the user gave it.
        known: the names that exist.
        kind: what is named, e.g. ``step``.
    """
    names = [each for each in known if each]
    near = get_close_matches(name.casefold(), names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"no {kind} {name!r}.{hint} There are: {', '.join(names) or 'none'}"


class KejuError(Exception):
    """Base class of all deliberate errors of keju; the text is one line for the user."""

    def __init__(self, text: str) -> None:
        line = " ".join(shortened(text, LONGEST).split())
        super().__init__(shortened(printable(line, glyphs=True), LONGEST - 1))


class UsageError(KejuError):
    """The command or call is wrong (exit status 2)."""


class DataError(KejuError):
    """A file or an item in it is not valid.

    Args:
        problem: what is wrong, in a few words.
        file: the file it was found in.
        item: the item (or line, or element) in that file.
        hint: the hint, that is, what the user can do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: Path | str | None = None,
        item: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = None if file is None else str(file)
        self.item = item
        self.hint = hint
        place = ": ".join(part for part in (self.file, item) if part)
        text = f"{place}: {problem}" if place else problem
        super().__init__(f"{text}. {hint}" if hint else text)


class ProblemsError(DataError):
    """Several problems of one source, found together; its text has one line for each.

    Args:
        lines: the problems.
        file: the source.
        hint: the hints of all problems, which the lines contain already.
    """

    def __init__(self, lines: Iterable[str], *, file: Path | str, hint: str | None = None) -> None:
        self.lines = tuple(str(KejuError(line)) for line in lines)
        super().__init__("; ".join(self.lines), file=file, hint=hint)
        self.args = ("\n".join(self.lines),)


class PrerequisiteError(KejuError):
    """A feature needs something that is not installed.

    Args:
        feature: the requested feature, e.g. ``"the OCR engine 'ppocr'"``.
        install: the command or step that provides it.
    """

    def __init__(self, feature: str, install: str) -> None:
        super().__init__(f"{feature} is not available here. Install it with: {install}")

"""Error classes, and helpers for messages: each error names the file, the item and a hint."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

from keju.messages import Message, Translatable, either, language, message, noun

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_WITHOUT_GLYPH = frozenset({"Co", "Cn"})
_SENTENCE = {"en": ". ", "zh": "。"}
_ENDS = (".", "?", "。", "？")


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
        kind: the word for such a name, e.g. ``step``.
    """
    names = [each for each in known if each]
    return message(
        "errors.unknown-name",
        kind=noun(kind),
        name=shortened(name),
        hint=did_you_mean(nearest_names(name, names)),
        known=", ".join(names) or message("errors.none"),
    )


def nearest_names(
    name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.5
) -> list[str]:
    """The known names that are most similar to a name, regardless of case; the nearest one first.

    Args:
        name: as the user gave it.
        known: the names that exist.
        most: the maximum number of names.
        cutoff: the minimum similarity, 0 to 1, as `difflib` computes it.
    """
    folded: dict[str, str] = {}
    for each in filter(None, known):
        folded.setdefault(each.casefold(), each)
    near = get_close_matches(name.casefold(), folded, n=most, cutoff=cutoff)
    return [folded[each] for each in near]


def did_you_mean(names: Iterable[str]) -> str:
    """The sentence ``Did you mean 'a' or 'b'?`` with a space before it; empty without names."""
    near = either(map(repr, names))
    return message("errors.did-you-mean", near=near) if near else ""


class KejuError(Exception, Translatable):
    """Base class of all deliberate errors of keju; the text is one line for the user.

    Args:
        message: what happened: a message with an id, or, in plug-ins, a plain text.
    """

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(self.render(language()))

    @property
    def id(self) -> str:
        """The id of the message, or "" of a plain text."""
        return self.message.id if isinstance(self.message, Message) else ""

    @property
    def fields(self) -> Mapping[str, object]:
        """The values that the message contains, by the names of its fields."""
        return self.message.fields if isinstance(self.message, Message) else {}

    def render(self, chosen: str) -> str:
        """The line in a language, ``en`` or ``zh``; a plain text is the same in each."""
        line = " ".join(shortened(self._whole(chosen), LONGEST).split())
        return shortened(printable(line, glyphs=True), LONGEST - 1)

    def _whole(self, chosen: str) -> str:
        hint = self.message.render_hint(chosen) if isinstance(self.message, Message) else ""
        return _with_hint(_in(chosen, self.message), hint, chosen)


class UsageError(KejuError):
    """The command or call is wrong (exit status 2)."""


class DataError(KejuError):
    """A file or an item in it is not valid.

    Args:
        problem: what is wrong, in a few words.
        file: the file it was found in.
        item: the item (or line, or element) in that file.
        hint: how to fix it, instead of the hint of the message.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: Path | str | None = None,
        item: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.file = None if file is None else str(file)
        self.item = item
        self._hint = hint
        super().__init__(problem)

    @property
    def problem(self) -> str:
        """The problem as a plain text in the current language."""
        return _in(language(), self.message)

    @property
    def hint(self) -> str | None:
        """The hint as a plain text in the current language, or None."""
        return self._advice(language()) or None

    def _advice(self, chosen: str) -> str:
        if self._hint is not None:
            return _in(chosen, self._hint)
        return self.message.render_hint(chosen) if isinstance(self.message, Message) else ""

    def _whole(self, chosen: str) -> str:
        place = "".join(f"{part}: " for part in (self.file, self.item) if part)
        return _with_hint(f"{place}{_in(chosen, self.message)}", self._advice(chosen), chosen)


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
        super().__init__(message("errors.not-installed", feature=feature, install=install))


def english_problem(error: Exception) -> str:
    """The problem in English, as files store it: their content has one language.

    The place and the hint of a `DataError` are omitted.
    """
    if isinstance(error, DataError):
        return _in("en", error.message)
    if isinstance(error, KejuError):
        return error.render("en")
    reason = error.args[0] if error.args else ""
    return reason.render("en") if isinstance(reason, Message) else str(error)


def describe_exception(error: BaseException) -> str:
    """The class of an exception and its words, in one line.

    One without words (``MemoryError``, an ``assert``) is described by its cause too, and one whose
    words are a traceback by the last line of it.
    """
    line = _words_of(error)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if not line and cause is not None and (reason := _words_of(cause)):
        return f"{type(error).__name__} ({type(cause).__name__}: {reason})"
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _words_of(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    if lines and lines[0].startswith("Traceback ("):
        lines = lines[-1:]
    return " ".join(" ".join(lines).split())


def _in(chosen: str, text: str) -> str:
    return text.render(chosen) if isinstance(text, Message) else str(text)


def _with_hint(text: str, hint: str, chosen: str) -> str:
    if not hint:
        return text
    ends, between = text.endswith(_ENDS), _SENTENCE[chosen]
    return f"{text}{between[1:] if ends else between}{hint}"

"""Error classes, and helpers for messages: each error names the file, the item and a hint.

    KejuError                       every deliberate error; its text is one line
    ├── UsageError                  the command or call is wrong (exit status 2)
    ├── DataError                   a file or an item in it is not valid
    │   ├── ProblemsError           several problems of one source, recipe or table of settings
    │   ├── MissingObjectError      an object store has no such object (keju.object_stores)
    │   └── ServerUnavailableError  a library's server failed repeatedly (building.sources)
    ├── PrerequisiteError           something is not installed
    ├── PluginError                 a plug-in is missing or broken (keju.registry)
    └── AskError                    a request got no answer (keju.models)

The metrics raise `keju.metrics.UndefinedMetricError`, a ValueError.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from keju.texts import (
    Text,
    Translatable,
    _,
    either,
    hint_of,
    in_english,
    join_clauses,
    join_lines,
    noun,
    p_,
    recognised,
    translator,
)

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SENTENCE = {"en": ". ", "zh": "。"}
_ENDS = (".", "?", "。", "？")

LONGEST = 1500
"""Maximum length of an error's text; longer ones are shortened in the middle."""


class KejuError(Exception, Translatable):
    """Base class of all deliberate errors of keju; the text is one line for the user, in English.

    Args:
        template: what happened, an English sentence with ``{}`` for the values; or a text that is
            complete, such as one of `keju.texts` or of another library.
        values: the values of its fields.
        file: the file of the problem.
        item: the item (or line, or element) in that file.
        hint: how to correct it, a sentence without a full stop, instead of the hint of the text.
    """

    def __init__(
        self,
        template: str,
        *values: object,
        file: Path | str | None = None,
        item: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem = Text(template, values) if values else recognised(template)
        """The problem, without place and hint."""
        self.template: str = getattr(self.problem, "template", template)
        """The English sentence before its fields are filled; a complete text as it is."""
        self.values: tuple[object, ...] = getattr(self.problem, "values", ())
        self.file = None if file is None else str(file)
        self.item = item
        hint = hint_of(self.problem) if hint is None else hint
        self.hint = recognised(hint) if hint else None
        super().__init__(self.render("en"))

    def render(self, chosen: str) -> str:
        """The line in a language, ``en`` or ``zh``; a text without translation is the same."""
        translate = translator(chosen)
        # An item's own id may be a sentence of the catalogue, and is not translated.
        item = translate(self.item) if isinstance(self.item, Text) else self.item
        place = "".join(f"{part}: " for part in (self.file, item) if part)
        line = f"{place}{translate(self.problem)}"
        if self.hint:
            between = _SENTENCE[chosen]
            line += f"{between[1:] if line.endswith(_ENDS) else between}{translate(self.hint)}"
        line = " ".join(shortened(line, LONGEST).split())
        return shortened(printable(line, glyphs=True), LONGEST - 1)


class UsageError(KejuError):
    """The command or call is wrong (exit status 2)."""


class DataError(KejuError):
    """A file or an item in it is not valid."""


class ProblemsError(DataError):
    """Several problems of one source, recipe or table of settings; the text has a line for each.

    `lines` are the problems, each with its place and hint; `hint` has their hints again.
    """

    def __init__(
        self, lines: Iterable[str], *, file: Path | str | None = None, hint: str | None = None
    ) -> None:
        self.lines = tuple(dict.fromkeys(error_text(KejuError(line)) for line in lines))
        super().__init__(join_clauses(self.lines), file=file, hint=hint)

    def render(self, chosen: str) -> str:
        """The lines in a language."""
        return join_lines(self.lines).render(chosen)


class PrerequisiteError(KejuError):
    """A feature, e.g. ``"the OCR engine 'ppocr'"``, needs something that is not installed.

    `install` is the command or step that provides it.
    """

    def __init__(self, feature: str, install: str) -> None:
        super().__init__(_("{} is not available here. Install it with: {}", feature, install))


def error_text(error: BaseException) -> str:
    """The words of an error, as a text that can be shown in each language."""
    if isinstance(error, KejuError):
        return p_("error", "{}", error)
    reason = error.args[0] if error.args else ""
    return reason if isinstance(reason, str) and isinstance(reason, Translatable) else str(error)


def english_problem(error: Exception) -> str:
    """The problem in English, as files store it, without place and hint of a `DataError`."""
    return in_english(error.problem if isinstance(error, DataError) else error_text(error))


def describe_exception(error: BaseException) -> str:
    """The class of an exception and its words, in one line.

    One without words (``MemoryError``, an ``assert``) is described by its cause too, and one whose
    words are a traceback by the last line of it.
    """
    name, words = type(error).__name__, _words_of(error)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if not words and cause is not None and (reason := _words_of(cause)):
        return f"{name} ({type(cause).__name__}: {reason})"
    return f"{name}: {words}" if words else name


def _words_of(error: BaseException) -> str:
    words = str(error).strip()
    last = words.splitlines()[-1] if words.startswith("Traceback (") else words
    return " ".join(last.split())


def printable(text: str, *, glyphs: bool = False) -> str:
    """Text as one line without terminal control characters.

    Control characters, line breaks, marks of writing direction and lone surrogates become their
    Python escapes: names and answers come from untrusted files and models. With `glyphs` private
    and unassigned characters are escaped too, which are frequent in a text in the wrong encoding.
    """
    if text.isascii() and text.isprintable():
        return text
    unseen = _UNSEEN | {"Co", "Cn"} if glyphs else _UNSEEN
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in unseen else char
        for char in text
    )


def shortened(name: str, most: int = 80) -> str:
    """A name for a message, shortened in the middle if it is very long."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 :]}"


def number_of(count: int, one: str, many: str = "") -> str:
    """A number and its noun: ``1 item``, ``2,000 items``; the plural is `many`, or `one` with s."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def unknown_name(name: str, known: Iterable[str], kind: str) -> str:
    """The text of an error about a name that does not exist: the nearest one, and all names.

    `kind` is the word for such a name, e.g. ``step``.
    """
    names = list(filter(None, known))
    return _(
        "no {} {!r}.{} Choose from: {}",
        noun(kind),
        shortened(name),
        did_you_mean(nearest_names(name, names)),
        ", ".join(names) or _("none"),
    )


def nearest_names(
    name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.5
) -> list[str]:
    """The known names that are most similar to a name, regardless of case; the nearest one first.

    At most `most` names, whose similarity (0 to 1, as `difflib` computes it) is at least `cutoff`.
    """
    names: dict[str, str] = {}
    for candidate in filter(None, known):
        names.setdefault(candidate.casefold(), candidate)
    return [names[near] for near in get_close_matches(name.casefold(), names, most, cutoff)]


def did_you_mean(names: Iterable[str]) -> str:
    """The sentence ``Did you mean 'a' or 'b'?`` with a space before it; empty without names."""
    near = either(map(repr, names))
    return _(" Did you mean {}?", near) if near else ""

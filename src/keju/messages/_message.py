"""`Message`, an id with fields and its text in the current language, and texts joined of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import PurePath
from typing import Self

from keju.messages._catalogues import Translatable, fill, path_text, templates


class Message(str, Translatable):
    """The text of a message in the language that was current when it was made.

    It is a text like any other, and keeps its id and fields, so that it can be shown in another
    language with `render` and asserted by tests without its wording.

    Attributes:
        id: the id, such as ``datasets.image-missing``.
        fields: the values that the text contains.
        hint: what the user can do about it, or "".
    """

    __slots__ = ("fields", "hint", "id")

    id: str
    fields: Mapping[str, object]
    hint: str

    def __new__(cls, name: str, fields: Mapping[str, object]) -> Self:
        """The message with an id and the values of its fields."""
        text, hint = fill(name, fields)
        made = super().__new__(cls, text)
        made.id = name
        made.fields = fields
        made.hint = hint
        return made

    def render(self, chosen: str) -> str:
        """The text in a language, ``en`` or ``zh``."""
        return fill(self.id, self.fields, chosen)[0]

    def render_hint(self, chosen: str) -> str:
        """The hint in a language, or ""."""
        return fill(self.id, self.fields, chosen)[1]

    def __reduce__(self) -> tuple[type[Message], tuple[str, dict[str, object]]]:
        return type(self), (self.id, {key: _plain(value) for key, value in self.fields.items()})


def message(name: str, /, **fields: object) -> Message:
    """A message in the current language.

    Args:
        name: the id, ``<package>.<problem>``.
        fields: the values that its text contains.
    """
    return Message(name, fields)


def _plain(value: object) -> object:
    """A value that another process can read: a message, a number, or a text."""
    if isinstance(value, PurePath):
        return path_text(value)
    return value if isinstance(value, str | int | float | None) else str(value)


class JoinedText(str, Translatable):
    """Texts joined by a separator that depends on the language; messages keep their ids.

    Attributes:
        separator: the id of the message with the separator.
        parts: the texts.
    """

    __slots__ = ("parts", "separator")

    separator: str
    parts: tuple[str, ...]

    def __new__(cls, separator: str, parts: Iterable[str]) -> Self:
        """The texts with the separator of the current language."""
        kept = tuple(parts)
        made = super().__new__(cls, message(separator).join(kept))
        made.separator = separator
        made.parts = kept
        return made

    def render(self, chosen: str) -> str:
        """The joined texts in a language, ``en`` or ``zh``."""
        shown = (
            each.render(chosen) if isinstance(each, Translatable) else each for each in self.parts
        )
        return fill(self.separator, {}, chosen)[0].join(shown)

    def __reduce__(self) -> tuple[type[JoinedText], tuple[str, tuple[str, ...]]]:
        return type(self), (self.separator, self.parts)


class StoredText(str, Translatable):
    """An English text without an id from a file or another package.

    The pages of `keju.translations` translate it by the texts that they recognise.
    """

    __slots__ = ()

    def render(self, chosen: str) -> str:  # noqa: ARG002 - the same in each language
        """The text as it is stored."""
        return str(self)


def recognised(text: str) -> str:
    """A text with an id as it is, and one without as `StoredText`."""
    return text if isinstance(text, Translatable) else StoredText(text)


def has_stored_text(text: object) -> bool:
    """Whether a text is, or contains among its fields, a `StoredText`, which pages translate."""
    if isinstance(text, Message):
        return any(map(has_stored_text, text.fields.values()))
    if isinstance(text, JoinedText):
        return any(map(has_stored_text, text.parts))
    return isinstance(text, StoredText)


def in_english(text: str) -> str:
    """A text in English, for files that have one language."""
    return text.render("en") if isinstance(text, Translatable) else text


def listed(names: Iterable[str]) -> JoinedText:
    """Names as a list: ``a, b, c``."""
    return JoinedText("messages.list", names)


def join_parts(parts: Iterable[str]) -> JoinedText:
    """Parts of one sentence: ``a, b, c``."""
    return JoinedText("messages.comma", parts)


def join_clauses(clauses: Iterable[str]) -> JoinedText:
    """Clauses of one sentence: ``a; b; c``."""
    return JoinedText("messages.semicolon", clauses)


def join_sentences(sentences: Iterable[str]) -> JoinedText:
    """Sentences without their full stops; the last one does not get one."""
    return JoinedText("messages.full-stop", sentences)


def join_lines(lines: Iterable[str]) -> JoinedText:
    """Lines of one text."""
    return JoinedText("messages.new-line", lines)


def hint_of(text: str) -> str:
    """The hint of a message, or "" of a message without one and of a plain text."""
    return text.hint if isinstance(text, Message) else ""


def either(names: Iterable[str]) -> str:
    """Names as alternatives: ``a or b or c``."""
    return _joined("messages.or", names)


def both(names: Iterable[str]) -> str:
    """Names together: ``a and b and c``."""
    return _joined("messages.and", names)


def _joined(name: str, names: Iterable[str]) -> str:
    each = list(names)
    return reduce(lambda first, last: message(name, first=first, last=last), each) if each else ""


def noun(word: str) -> str:
    """The word for a kind of thing, such as ``task``; a word without an entry stays as it is."""
    return message(f"nouns.{word}") if word in templates("nouns", "en") else word

"""`Message`, an id with fields and its text in the current language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Self

from keju.messages._catalogues import fill
from keju.texts import JoinedText, StoredText, Text, Translatable, path_text


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


def has_stored_text(text: object) -> bool:
    """Whether a text is, or contains among its fields, a `StoredText`, which pages translate."""
    if isinstance(text, Message):
        return any(map(has_stored_text, text.fields.values()))
    if isinstance(text, Text):
        return any(map(has_stored_text, text.values))
    if isinstance(text, JoinedText):
        return any(map(has_stored_text, text.parts))
    return isinstance(text, StoredText)

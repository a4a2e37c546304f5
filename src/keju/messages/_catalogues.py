"""Catalogues: the text and the hint of each message id, in each language, with fields in braces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePath
from string import Formatter
from typing import NamedTuple

from keju.texts import Translatable, language, path_text

_EITHER = "|"


class _Part(NamedTuple):
    before: str
    field: str
    conversion: str
    form: str


class Template:
    """A text with fields, such as ``{name!r}``, ``{count:,}`` or ``{count:item|items}``.

    Attributes:
        source: the text with its fields in braces.
        plain: the text if it has no fields, else None.

    Raises:
        ValueError: the text is not a template, or a field is not a plain name.
    """

    def __init__(self, text: str) -> None:
        self.source = text
        self._parts = [
            _Part(before, field or "", conversion or "", form or "")
            for before, field, form, conversion in Formatter().parse(text)
        ]
        for part, (_, field, _, _) in zip(self._parts, Formatter().parse(text), strict=True):
            if field is not None and not field.isidentifier():
                raise ValueError(f"{text!r}: {part.field!r} is not the name of a field")
            if part.conversion not in {"", "r"} or "{" in part.form:
                raise ValueError(f"{text!r}: use {{name}}, {{name!r}} or {{name:form}}")
        plain = "".join(part.before for part in self._parts)
        self.plain = None if any(part.field for part in self._parts) else plain

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields."""
        return frozenset(part.field for part in self._parts if part.field)

    @property
    def empty(self) -> bool:
        """Whether there is no text."""
        return not self._parts

    def fill(self, values: Mapping[str, object], language: str) -> str:
        """The text with its fields; messages among them are shown in the same language.

        Raises:
            KeyError: a field has no value.
        """
        if self.plain is not None:
            return self.plain
        return "".join(
            part.before + (_show(values[part.field], part, language) if part.field else "")
            for part in self._parts
        )


def _show(value: object, part: _Part, language: str) -> str:
    if isinstance(value, Translatable):
        value = value.render(language)
    if isinstance(value, PurePath):
        value = path_text(value)
    if _EITHER in part.form:
        one, _, many = part.form.partition(_EITHER)
        return f"{value:,} {one if value == 1 else many}"
    return format(repr(value) if part.conversion else value, part.form)


class Entry(NamedTuple):
    """The templates of one message; `hint` may be empty.

    `own_pages` is the Chinese text where items are pages of one's own, if it has other words.
    """

    text: Template
    hint: Template
    own_pages: Template


@cache
def _read(package: str, chosen: str) -> Mapping[str, Entry]:
    import tomllib  # noqa: PLC0415 - most commands show no message

    file = Path(__file__).parent / chosen / f"{package}.toml"
    tables = tomllib.loads(file.read_text("utf-8"))
    return {
        name: Entry(*(Template(table.get(key, "")) for key in ("text", "hint", "own_pages")))
        for name, table in tables.items()
    }


def templates(package: str, chosen: str) -> Mapping[str, Entry]:
    """All messages of a package in one language, by their id without the package.

    Raises:
        OSError: the package has no such catalogue.
        ValueError: the catalogue is not valid.
    """
    return _read(package, chosen)


def fill(name: str, fields: Mapping[str, object], chosen: str = "") -> tuple[str, str]:
    """The text and the hint of the message with an id, by default in the current language.

    Raises:
        KeyError: no message has this id, or a field has no value.
    """
    chosen = chosen or language()
    package, _, short = name.partition(".")
    found = templates(package, chosen)[short]
    return found.text.fill(fields, chosen), found.hint.fill(fields, chosen)

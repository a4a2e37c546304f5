"""Templates: a text with fields in braces, filled once and never evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import NamedTuple

_EITHER = "|"


class Translatable:
    """A value that has a text in each language."""

    __slots__ = ()

    def render(self, chosen: str) -> str:
        """The text in a language, ``en`` or ``zh``."""
        raise NotImplementedError


class _Part(NamedTuple):
    before: str
    field: str
    conversion: str
    form: str


class Template:
    """A text with fields, such as ``{name!r}``, ``{count:,}`` or ``{count:item|items}``.

    Attributes:
        source: the text with its fields in braces.

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
        return "".join(
            part.before + (_show(values[part.field], part, language) if part.field else "")
            for part in self._parts
        )


def _show(value: object, part: _Part, language: str) -> str:
    if isinstance(value, Translatable):
        value = value.render(language)
    if _EITHER in part.form:
        one, _, many = part.form.partition(_EITHER)
        return f"{value:,} {one if value == 1 else many}"
    return format(repr(value) if part.conversion else value, part.form)

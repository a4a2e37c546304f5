"""Catalogues: the text and the hint of each message id, in each language, with fields in braces."""

from __future__ import annotations

import locale
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path, PurePath
from string import Formatter
from typing import NamedTuple

LANGUAGES = ("en", "zh")
_EITHER = "|"
_VARIABLES = ("KEJU_LANG", "LC_ALL", "LC_MESSAGES", "LANG")

# `Path` removes one slash of the address of an object store: s3:/BUCKET. A drive has one letter.
_ONE_SLASH = re.compile(r"^([a-z][a-z0-9]+):/(?=[^/])")

_chosen: ContextVar[str | None] = ContextVar("keju_language", default=None)
_registered: dict[str, Path] = {}


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


def path_text(path: PurePath) -> str:
    """A path, or the address that it was made of, as text."""
    return _ONE_SLASH.sub(r"\1://", str(path))


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
def _of_environment() -> str:
    wanted = next(filter(None, map(os.environ.get, _VARIABLES)), "")
    if not wanted and sys.platform == "win32":
        wanted = locale.getlocale()[0] or ""
    return "zh" if wanted.casefold().startswith(("zh", "chinese")) else "en"


def language() -> str:
    """The language of messages: ``zh`` or ``en``.

    ``KEJU_LANG`` decides, or else the locale (``LC_ALL``, ``LC_MESSAGES``, ``LANG``): a value that
    starts with ``zh`` means Chinese, any other means English. On Windows, which does not set
    these, it is the language of the system. The environment is read once.
    """
    return _chosen.get() or _of_environment()


@contextmanager
def using(chosen: str) -> Iterator[None]:
    """Use a language inside a ``with`` block, whatever the environment says.

    Raises:
        ValueError: it is none of `LANGUAGES`.
    """
    if chosen not in LANGUAGES:
        raise ValueError(f"language {chosen!r} is not one of {', '.join(LANGUAGES)}")
    token = _chosen.set(chosen)
    try:
        yield
    finally:
        _chosen.reset(token)


def register(package: str, folder: Path) -> None:
    """Add the catalogues ``en.toml`` and ``zh.toml`` of a folder.

    Args:
        package: what the ids of these messages begin with, before the point.
        folder: the folder of the two files, which are read when they are first needed.
    """
    _registered[package] = folder
    _file.cache_clear()


def registered() -> tuple[str, ...]:
    """The packages that have registered catalogues: benchmarks and plug-ins."""
    return tuple(_registered)


@cache
def _file(package: str, chosen: str) -> Path:
    if package in _registered:
        return _registered[package] / f"{chosen}.toml"
    return Path(__file__).parent / chosen / f"{package}.toml"


@cache
def _read(file: Path) -> Mapping[str, Entry]:
    import tomllib  # noqa: PLC0415 - most commands show no message

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
    return _read(_file(package, chosen))


def fill(name: str, fields: Mapping[str, object], chosen: str = "") -> tuple[str, str]:
    """The text and the hint of the message with an id, by default in the current language.

    Raises:
        KeyError: no message has this id, or a field has no value.
    """
    chosen = chosen or language()
    package, _, short = name.partition(".")
    found = templates(package, chosen)[short]
    return found.text.fill(fields, chosen), found.hint.fill(fields, chosen)

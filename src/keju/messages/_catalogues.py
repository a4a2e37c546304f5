"""Catalogues: the text and the hint of each message id, in each language."""

from __future__ import annotations

import locale
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import NamedTuple

from keju.messages._template import Template

LANGUAGES = ("en", "zh")
_VARIABLES = ("KEJU_LANG", "LC_ALL", "LC_MESSAGES", "LANG")

_chosen: ContextVar[str | None] = ContextVar("keju_language", default=None)
_registered: dict[str, Path] = {}


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


def registered() -> tuple[str, ...]:
    """The packages that have registered catalogues: benchmarks and plug-ins."""
    return tuple(_registered)


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


def entry(name: str, chosen: str) -> Entry:
    """The message with an id.

    Raises:
        KeyError: no message has this id.
    """
    package, _, short = name.partition(".")
    return templates(package, chosen)[short]

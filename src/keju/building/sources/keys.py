"""The keys of ``[[source]]``, derived from each form's settings: for the terminal and the docs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Literal, NamedTuple, get_args, get_origin

import msgspec

from keju.building.settings import description
from keju.building.sources import SOURCES, source_form
from keju.building.sources.saved_pages import Sidecar
from keju.datasets.readers import FORMATS

_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}


class Key(NamedTuple):
    """A key of a table: its type, its default as TOML, and its description.

    `default` is empty where the key is optional, and None where it is required.
    """

    name: str
    takes: str
    default: str | None
    says: str

    @property
    def told(self) -> str:
        """Its type and whether it is required."""
        if self.default is None:
            return f"{self.takes}, needed"
        return f"{self.takes}, else {self.default}" if self.default else self.takes


def keys_of(settings: type[msgspec.Struct]) -> list[Key]:
    """The keys of a table of settings; required ones first."""
    found = [
        Key(each.name, _taken(each.type), _default(each), description(each.type))
        for each in msgspec.structs.fields(settings)
    ]
    return sorted(found, key=lambda key: key.default is not None)


def sources_page() -> str:
    """The page of the docs that lists every form's keys, as Markdown."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield "# Sources of a build and their keys\n"
    yield "What `keju build sources FORM` prints; how sources are used stands in"
    yield "[building.md](building.md#sources). Made by `python -m tools.make_sources_page`."
    for name in SOURCES.builtin:
        form = SOURCES[name]
        yield f"\n## `{name}`: {form.summary}\n"
        yield from _table(form.settings)
        if name == "web":
            yield "\nBeside each page `NAME.html` may lie `NAME.html.toml`:\n"
            yield '```toml\naddress = "https://library.example.org/p"\nlicence = "CC-BY-4.0"\n```\n'
            yield from _table(Sidecar)
    yield "\n## A format of `keju data import`\n"
    yield "`form` is its name: " + ", ".join(f"`{name}`" for name in FORMATS.builtin) + ".\n"
    yield from _table(source_form(next(iter(FORMATS)), place="").settings)


def _table(settings: type[msgspec.Struct]) -> Iterator[str]:
    yield "| key | takes | |\n|---|---|---|"
    for key in keys_of(settings):
        yield f"| `{key.name}` | {key.told.replace('|', 'or')} | {key.says} |"


def _taken(kind: object) -> str:
    """The name of a type in a recipe."""
    parts = [part for part in get_args(kind) if part not in {NoneType, Ellipsis}]
    origin = get_origin(kind)
    if isinstance(kind, type) and kind in _WORDS:
        return _WORDS[kind]
    if hasattr(kind, "__metadata__"):
        return _taken(parts[0])
    if origin is Literal:
        return " | ".join(map(str, parts))
    if origin in {tuple, list}:
        return f"list of {_taken(parts[0])}"
    if origin is dict:
        keys = f" of {', '.join(get_args(parts[0]))}" if get_args(parts[0]) else ""
        return f"table{keys}"
    return " | ".join(_taken(part) for part in parts)


def _default(field: msgspec.structs.FieldInfo) -> str | None:
    if field.required:
        return None
    if field.default in {msgspec.NODEFAULT, None, "", ()}:
        return ""
    return msgspec.json.encode(field.default).decode()

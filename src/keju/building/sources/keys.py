"""The keys of ``[[source]]``, derived from each form's settings: for the terminal and the docs."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Literal, NamedTuple, get_args, get_origin

import msgspec

from keju.settings import get_description
from keju.texts import _


class Key(NamedTuple):
    """A key of a table: its type, its default as TOML, and its description.

    `default` is empty where the key is optional, and None where it is required.
    """

    name: str
    type_name: str
    default: str | None
    summary: str

    @property
    def description(self) -> str:
        """Its type and whether it is required."""
        if self.default is None:
            return _("{}, required", self.type_name)
        return _("{}, default {}", self.type_name, self.default) if self.default else self.type_name


def list_keys(settings: type[msgspec.Struct]) -> list[Key]:
    """List the keys of a table of settings; required ones first."""
    found = [
        Key(each.name, _name_type(each.type), _format_default(each), get_description(each.type))
        for each in msgspec.structs.fields(settings)
    ]
    return sorted(found, key=lambda key: key.default is not None)


def _name_type(kind: object) -> str:
    """Return the name of a type for the writer of a recipe, such as ``list of text``."""
    parts = [part for part in get_args(kind) if part not in {NoneType, Ellipsis}]
    origin = get_origin(kind)
    words = {
        str: _("text"), int: _("whole number"), float: _("number"), bool: _("true or false"),
        Path: _("path"),
    }  # fmt: skip
    if isinstance(kind, type) and kind in words:
        return words[kind]
    if hasattr(kind, "__metadata__"):
        return _name_type(parts[0])
    if origin is Literal:
        return " | ".join(map(str, parts))
    if origin in {tuple, list}:
        return _("list of {}", _name_type(parts[0]))
    if origin is dict:
        keys = ", ".join(get_args(parts[0]))
        return _("table of {}", keys) if keys else _("table")
    return " | ".join(_name_type(part) for part in parts)


def _format_default(field: msgspec.structs.FieldInfo) -> str | None:
    if field.required:
        return None
    if field.default in {msgspec.NODEFAULT, None, "", ()}:
        return ""
    return msgspec.json.encode(field.default).decode()

"""The keys of ``[[source]]``, derived from each form's settings: for the terminal and the docs."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Literal, NamedTuple, get_args, get_origin

import msgspec

from keju.settings import get_description

_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}


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
            return f"{self.type_name}, required"
        return f"{self.type_name}, default {self.default}" if self.default else self.type_name


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
    if isinstance(kind, type) and kind in _WORDS:
        return _WORDS[kind]
    if hasattr(kind, "__metadata__"):
        return _name_type(parts[0])
    if origin is Literal:
        return " | ".join(map(str, parts))
    if origin in {tuple, list}:
        return f"list of {_name_type(parts[0])}"
    if origin is dict:
        keys = f" of {', '.join(get_args(parts[0]))}" if get_args(parts[0]) else ""
        return f"table{keys}"
    return " | ".join(_name_type(part) for part in parts)


def _format_default(field: msgspec.structs.FieldInfo) -> str | None:
    if field.required:
        return None
    if field.default in {msgspec.NODEFAULT, None, "", ()}:
        return ""
    return msgspec.json.encode(field.default).decode()

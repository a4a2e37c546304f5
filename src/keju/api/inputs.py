"""Checks of the arguments of the public functions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from keju.items import Item
from keju.local_paths import check_local

AnyPath = str | os.PathLike[str]


def texts_of(name: str, values: object, wanted: str = "a str or a list of str") -> list[str]:
    """A list of texts, checked."""
    return [
        text_of(f"{name} {place}", value)
        for place, value in enumerate(listed(name, values, wanted))
    ]


def listed(name: str, values: object, wanted: str) -> list[object]:
    """The values of an ordered collection; never the characters of a text or the keys of a dict."""
    if isinstance(values, str | bytes | bytearray | Mapping | Set) or not isinstance(
        values, Iterable
    ):
        raise TypeError(f"{name} is a {type(values).__name__}. Give {wanted}")
    return list(values)


def text_of(name: str, value: object) -> str:
    """The value, if it is a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a {type(value).__name__}, not a str")
    return value


def path_of(value: object) -> Path:
    """A local path."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"a path is a str or os.PathLike, not a {type(value).__name__}")
    name = os.fspath(value)
    if not isinstance(name, str):
        raise TypeError("a path is a str or os.PathLike, not bytes")
    check_local(name)
    return Path(name)


def dataset_path_of(value: object) -> Path:
    """A local path, or the address of a dataset in an object store."""
    from keju.object_stores import is_address  # noqa: PLC0415 - metrics of texts need no store

    return Path(value) if isinstance(value, str) and is_address(value) else path_of(value)


def item_of(name: str, value: object) -> Item:
    """The value, if it is an item."""
    if not isinstance(value, Item):
        raise TypeError(f"{name} is a {type(value).__name__}, not a keju.Item")
    return value

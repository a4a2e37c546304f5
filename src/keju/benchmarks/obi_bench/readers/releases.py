"""`Release`: how a source of OBI-Bench is published, and which source a folder's names show."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache, cached_property
from types import MappingProxyType

import msgspec

from keju.files import shipped_toml
from keju.items import Record

UNDECIPHERED = "undeciphered"


class Release(Record, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """How a source is published. The fields are explained in releases.toml."""

    root: str = ""
    beside: tuple[str, ...] = ()
    undeciphered: str = ""
    file: str = ""
    era: str = ""
    annotated: str = ""
    origins: dict[str, str] = msgspec.field(default_factory=dict)
    eras: dict[str, str] = msgspec.field(default_factory=dict)
    characters: dict[str, str] = msgspec.field(default_factory=dict)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.file or "(?!)")

    def fields(self, name: str) -> dict[str, str]:
        """The data in a file's name: id, origin and era, as far as the source has them."""
        found = self._pattern.match(name)
        return {key: value for key, value in found.groupdict().items() if value} if found else {}

    def era_of(self, code: str) -> str:
        """The name of an era by its code, which may be a number; empty if it is unknown."""
        if code.isascii() and code.isdigit() and int(code) < len(self.eras):
            return list(self.eras.values())[int(code)]
        return self.eras.get(code.upper(), "")


class _Releases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    releases: dict[str, Release]


PLAIN = Release()
"""A source that is published as class folders."""


@cache
def releases() -> Mapping[str, Release]:
    """The releases that have more than class folders, by the source's name."""
    return MappingProxyType(
        shipped_toml("keju.benchmarks.obi_bench.readers", "releases.toml", _Releases).releases
    )


def release_of(source: str) -> Release:
    """How a source is published."""
    return releases().get(source, PLAIN)


def recognised_source(names: Collection[str]) -> str:
    """The source whose release has these files; empty if none is recognised.

    Recognised are HUST-OBC by its folders, EVOBC and OBI Component 20 by the names of their files:
    at least nine in ten must fit. Our reading.

    Args:
        names: paths of images from the folder on, with ``/``.
    """
    if not names:
        return ""
    parts = [name.split("/") for name in names]
    hust = releases()["HUST-OBS"]
    if any({hust.root, hust.undeciphered} & set(each[:-1]) for each in parts):
        fits = sum(bool(hust.fields(each[-1])) for each in parts)
        return "HUST-OBS" if 10 * fits >= 9 * len(parts) else ""
    evobc = releases()["EVOBC"]
    fits = sum(
        bool((found := evobc.fields(each[-1])) and evobc.era_of(found.get("era", "")))
        and found["id"] in each[:-1]
        for each in parts
    )
    if 10 * fits >= 9 * len(parts):
        return "EVOBC"
    component = releases()["OBI Component 20"]
    fits = sum(
        bool(component.fields(each[-1])) and bool(component.characters.keys() & set(each[-2:-1]))
        for each in parts
    )
    return "OBI Component 20" if 10 * fits >= 9 * len(parts) else ""

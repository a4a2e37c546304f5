"""Canonical values of metadata: one for each dynasty, script style and category of books.

Items keep their metadata as the source had it; breakdowns and statistics count by canonical value,
so that 唐 and Tang are in one row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from keju.files import shipped_toml
from keju.items import Record
from keju.text import normalise

_ENDING = re.compile(r"(?<=.)(?:时代|时期|朝|代|类)$")
_IDLE = frozenset({"the", "dynasty", "dynasties", "period"})


class Value(Record, frozen=True, kw_only=True):
    """One value of a kind of metadata, with its names in both languages."""

    id: str
    chinese: str
    english: str

    @property
    def label(self) -> str:
        """Both names, such as ``唐 Tang``."""
        return f"{self.chinese} {self.english.replace('_', ' ')}"


def canonical(kind: str, name: str) -> Value | None:
    """The value of a name; None where the table does not contain it.

    Args:
        kind: the metadata's key: dynasty, period (of the dynasties), script or category.
        name: the value as the source spells it, in Chinese or English.
    """
    table = _table()
    return table[kind].get(_plain(name)) if kind in table else None


def value_label(kind: str, name: str) -> str:
    """A value of metadata as breakdowns show it: both canonical names, else the name as it is."""
    found = canonical(kind, name)
    return name if found is None else found.label


@cache
def _table() -> Mapping[str, Mapping[str, Value]]:
    """Values by kind and plain name."""
    declared = shipped_toml("keju.datasets", "values.toml", dict[str, dict[str, Any]])
    kinds: dict[str, str] = declared.pop("kinds")
    by_name: dict[str, dict[str, Value]] = {}
    for kind, values in declared.items():
        names = by_name.setdefault(kind, {})
        for value_id, (chinese, english, *others) in values.items():
            value = Value(id=value_id, chinese=chinese, english=english)
            for name in (chinese, english, *others):
                if names.setdefault(_plain(name), value) is not value:
                    raise ValueError(f"values.toml: {kind} {name!r} means two values")
    return {key: by_name[kind] for key, kind in kinds.items()}


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """A name without the characters that do not distinguish values."""
    folded = normalise(name).casefold()
    words = "".join(char if char.isalnum() else " " for char in folded).split()
    return _ENDING.sub("", "".join(word for word in words if word not in _IDLE))

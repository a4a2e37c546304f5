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
from keju.text import normalise

_ENDING = re.compile(r"(?<=.)(?:时代|时期|朝|代|类)$")
_IDLE = frozenset({"the", "dynasty", "dynasties", "period"})


def value_label(kind: str, name: str) -> str:
    """A value of metadata as breakdowns show it: ``唐 Tang``, else the name as it is.

    `kind` is the metadata's key: dynasty, period (of the dynasties), script or category; `name` is
    the value as the source spells it, in Chinese or English.
    """
    return _load_labels().get(kind, {}).get(_plain(name), name)


@cache
def _load_labels() -> Mapping[str, Mapping[str, str]]:
    """The Chinese and English name of each value, by kind and plain name."""
    declared = shipped_toml("keju.datasets", "values.toml", dict[str, dict[str, Any]])
    kinds: dict[str, str] = declared.pop("kinds")
    labels: dict[str, dict[str, str]] = {kind: {} for kind in declared}
    for kind, values in declared.items():
        for chinese, english, *spellings in values.values():
            label = f"{chinese} {english.replace('_', ' ')}"
            for name in (chinese, english, *spellings):
                if labels[kind].setdefault(_plain(name), label) != label:
                    raise ValueError(f"values.toml: {kind} {name!r} means two values")
    return {key: labels[kind] for key, kind in kinds.items()}


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """A name without the characters that do not distinguish values."""
    folded = normalise(name).casefold()
    words = "".join(char if char.isalnum() else " " for char in folded).split()
    return _ENDING.sub("", "".join(word for word in words if word not in _IDLE))

"""Repetition within a text: the share that does not repeat earlier text."""

from __future__ import annotations

import re

from keju.text.han import is_han

RUN = 10
"""Han characters or words in a row that count as a repetition; titles and phrases are shorter."""

_WORD = re.compile(r"[^\W_]+")


def unrepeated_share(text: str) -> float:
    """The share of a text's Han characters and words that does not repeat an earlier run.

    A run is ten of them in a row; marks and spaces between them are ignored. A text of three equal
    parts has a share of about a third, ordinary prose of 1. Shorter texts always have 1.
    """
    units = _units(text)
    if len(units) <= RUN:
        return 1.0
    seen: set[tuple[str, ...]] = set()
    again = bytearray(len(units))
    for start in range(len(units) - RUN + 1):
        run = tuple(units[start : start + RUN])
        if run in seen:
            again[start : start + RUN] = b"\x01" * RUN
        else:
            seen.add(run)
    return 1 - sum(again) / len(units)


def _units(text: str) -> list[str]:
    units: list[str] = []
    for word in _WORD.findall(text.casefold()):
        plain = ""
        for character in word:
            if is_han(character):
                units += [plain, character] if plain else [character]
                plain = ""
            else:
                plain += character
        if plain:
            units.append(plain)
    return units

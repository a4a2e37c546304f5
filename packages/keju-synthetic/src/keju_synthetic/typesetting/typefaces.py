"""Typefaces: chains of fonts; each one draws the characters that those before it cannot draw."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from keju.errors import PrerequisiteError, UsageError, unknown_name
from keju.files import read_toml
from keju.items import Record
from keju_synthetic.fonts import Font, FontRecord, HandSpec, find_font, find_missing_characters

_TABLE = Path(__file__).parents[1] / "data" / "typefaces.toml"


class _Typefaces(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    chains: dict[str, tuple[str, ...]]
    hands: dict[str, HandSpec]


class Typeface(NamedTuple):
    """The installed fonts of a chain, by the name of their hand, in order; and the missing ones.

    The first font of a chain is always installed.
    """

    name: str
    fonts: dict[str, tuple[HandSpec, Font]]
    absent: tuple[str, ...]

    def assign_hands(self, text: str) -> dict[str, str]:
        """The hand for each character of a text, without the characters that none can write.

        A character that the first hand writes in another form (its `forms`) is left to the
        next hand, because the reference is the source's form.
        """
        found: dict[str, str] = {}
        left = "".join(dict.fromkeys(text))
        for name, (hand, font) in self.fonts.items():
            ours = "".join(sign for sign in left if sign not in hand.forms)
            missing = set(find_missing_characters(font, ours))
            found |= {sign: name for sign in ours if sign not in missing}
            left = "".join(sign for sign in left if sign not in found)
        return found

    def list_records(self) -> dict[str, FontRecord]:
        """The record of each font, by the name of its hand."""
        return {name: font.record for name, (_, font) in self.fonts.items()}


def list_typefaces() -> tuple[str, ...]:
    """The names of all typefaces."""
    return tuple(_load_table().chains)


@cache
def load_typeface(name: str) -> Typeface:
    """A typeface with its installed fonts.

    Raises:
        UsageError: there is no typeface of that name.
        PrerequisiteError: the font that comes first is not installed.
    """
    table = _load_table()
    chain = table.chains.get(name)
    if chain is None:
        raise UsageError(unknown_name(name, list_typefaces(), "typeface"))
    fonts: dict[str, tuple[HandSpec, Font]] = {}
    absent = []
    for place, each in enumerate(chain):
        hand = table.hands[each]
        try:
            fonts[each] = (hand, find_font(hand.family, hand.style, hand.licence))
        except PrerequisiteError:
            if place == 0:
                raise
            absent.append(hand.family)
    return Typeface(name, fonts, tuple(absent))


@cache
def _load_table() -> _Typefaces:
    return read_toml(_TABLE, _Typefaces)

"""Difficulty: one number in 0..1 becomes the amount of each kind of wear."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from keju.files import read_toml
from keju.items import Record

_DIAL = Path(__file__).parent / "data" / "wear.toml"


class Wear(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Amounts of each kind of wear; ``data/wear.toml`` explains them beside their values."""

    rough: float
    chips: float
    starve: float
    bleed: float
    cracks: float
    fade: float
    show: float
    stains: float
    foxing: float
    worms: float
    age: float
    skew: float
    warp: float
    blur: float
    detail: float
    grain: float


@cache
def _load_dial() -> dict[str, tuple[float, float, float]]:
    return read_toml(_DIAL, dict[str, tuple[float, float, float]])


def compute_wear(difficulty: float) -> Wear:
    """The wear at `difficulty` (0..1)."""
    values = {}
    for name, (easy, middle, hard) in _load_dial().items():
        low, high, part = (
            (easy, middle, difficulty * 2)
            if difficulty < 0.5
            else (middle, hard, difficulty * 2 - 1)
        )
        values[name] = low + (high - low) * part
    return msgspec.convert(values, type=Wear)

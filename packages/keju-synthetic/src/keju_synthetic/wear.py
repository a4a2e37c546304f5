"""Difficulty: one number in 0..1 becomes the amount of each kind of wear."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec

from keju.errors import DataError
from keju.files import read_toml
from keju.items import Record
from keju.messages import message
from keju_synthetic.texts import DATA


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


@lru_cache(maxsize=1)
def _load_dial(path: Path) -> dict[str, tuple[float, float, float]]:
    return read_toml(path, dict[str, tuple[float, float, float]])


def compute_wear(difficulty: float, overrides: dict[str, float], *, item: str) -> Wear:
    """The wear at `difficulty` (0..1), with single values set by `overrides`.

    Raises:
        DataError: an override is not a kind of wear.
    """
    values = {}
    for name, (easy, middle, hard) in _load_dial(DATA / "wear.toml").items():
        low, high, part = (
            (easy, middle, difficulty * 2)
            if difficulty < 0.5
            else (middle, hard, difficulty * 2 - 1)
        )
        values[name] = low + (high - low) * part
    try:
        return msgspec.convert(values | overrides, type=Wear)
    except msgspec.ValidationError as error:
        raise DataError(message("synthetic.wear-invalid", reason=str(error)), item=item) from None

"""Price files, which the user edits because vendors change prices often, and machine hours."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path

import msgspec

from keju.errors import DataError, UsageError
from keju.files import read_toml, shipped_toml
from keju.running.tokens import match_name

EXAMPLE = "example"
"""Given in place of a file, this name means the bundled file, which states when it was last
checked."""

_SHIPPED = "prices.toml"
_MILLION = 1_000_000
_HOURLY = re.compile(r"([^\W\d_]*|[€$£¥])\s*(\d+(?:\.\d+)?)\s*([^\W\d_]*|[€$£¥])\s*(?:/\s*h)?")


def read_machine_price(text: str) -> tuple[float, str] | None:
    """The price and the currency that `--machine-price` states, such as ``0.20EUR/h``.

    None if the text is empty; the currency is empty if none is given.

    Raises:
        UsageError: it is not a price.
    """
    if not text:
        return None
    price = _HOURLY.fullmatch(text.strip())
    if not price or (price[1] and price[3]):
        raise UsageError(
            "--machine-price {!r} is not a price for an hour. Write it as 0.20/h or 0.20EUR/h", text
        )
    value = float(price[2])
    if not isfinite(value):
        raise UsageError("--machine-price {!r} is too large", text)
    return value, price[1] or price[3]


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of a million tokens of the models whose names match a pattern."""

    names: tuple[str, ...]
    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price of these tokens."""
        return (self.input * input_tokens + self.output * output_tokens) / _MILLION


class Prices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A price file: its currency, the day or month of the look-up, and the prices."""

    currency: str
    seen: str = ""
    models: tuple[Price, ...] = ()

    def price(self, model: str) -> Price | None:
        """The price of a model, or None where the file has none for it."""
        return match_name(model, ((price.names, price) for price in self.models))


def read_prices(path: Path) -> Prices:
    """Read a price file; ``example`` means the bundled one.

    Raises:
        UsageError: there is no such file.
        DataError: it is not a price file, or a price is below 0.
    """
    shipped = str(path) == EXAMPLE
    if not shipped and not path.is_file():
        raise UsageError("{}: no such price file. See an example with: --prices {}", path, EXAMPLE)
    if shipped:
        prices = shipped_toml("keju.running", _SHIPPED, Prices)
    else:
        form = f"Its form is that of keju/running/{_SHIPPED}"
        prices = read_toml(path, Prices, what="a price file", hint=form)
    for price in prices.models:
        if not (0 <= price.input < _MILLION and 0 <= price.output < _MILLION):
            raise DataError(
                "a price must be 0 or more for a million tokens",
                file=path,
                item=", ".join(price.names),
            )
    return prices

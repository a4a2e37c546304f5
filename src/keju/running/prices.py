"""Price files, which the user edits because vendors change prices often, and machine hours.

`CostEstimator` estimates the tokens and money of requests to one model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.errors import DataError, UsageError
from keju.files import read_toml, shipped_toml
from keju.items import Request, Usage
from keju.models import Fit
from keju.running.tokens import match_name, request_tokens, text_tokens

EXAMPLE = "example"
"""Given in place of a file, this name means the bundled file, which states when it was last
checked."""

_SHIPPED = "prices.toml"
_MILLION = 1_000_000
_HOURLY = re.compile(r"([^\W\d_]*|[€$£¥])\s*(\d+(?:\.\d+)?)\s*([^\W\d_]*|[€$£¥])\s*(?:/\s*h)?")


class MachinePrice(NamedTuple):
    """The price of a machine for an hour; the currency is empty if none was given."""

    value: float
    currency: str = ""


def read_machine_price(text: str) -> MachinePrice | None:
    """The price that `--machine-price` states, such as ``0.20EUR/h``; None if it is empty.

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
    return MachinePrice(value, price[1] or price[3])


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


UNLIMITED_OUTPUT = 1024
"""Assumed tokens of an answer in a reservation, where neither --max-tokens nor an earlier answer
gives a number."""

NO_USAGE = Usage()
"""No tokens that a server did not count."""

_MAY_BE_PAID = frozenset({"timeout", "connection", "bad-response"})


def may_be_paid(kind: str) -> bool:
    """Whether a request that failed in this way may have been charged nevertheless."""
    return kind in _MAY_BE_PAID


def add_usage(first: Usage, second: Usage) -> Usage:
    """The sum of two estimates; a count that is unknown in both stays unknown."""
    if NO_USAGE in (first, second):
        return second if first == NO_USAGE else first
    return Usage(
        input_tokens=(first.input_tokens or 0) + (second.input_tokens or 0),
        output_tokens=(first.output_tokens or 0) + (second.output_tokens or 0),
    )


class CostEstimator:
    """Cost estimate: tokens and money of requests to one model.

    `paid`: the model is behind an endpoint; others run on this machine and are free. `price` is
    None where it is free or not known.

    Args:
        identity: the model's identity.
        prices: the prices of a price file.
    """

    def __init__(self, identity: Mapping[str, str], prices: Prices | None = None) -> None:
        self.paid = "endpoint" in identity
        self.price = prices.price(identity.get("model", "")) if prices and self.paid else None
        self._identity = identity
        self._highest_cost = 0.0

    def expected(self, request: Request) -> Usage:
        """Tokens that a request may take; an image that no known rule counts is not included."""
        identity = self._identity
        text, images = request_tokens(request, identity.get("model", ""), Fit.of(identity))
        system, limit = identity.get("system_prompt", ""), identity.get("max_tokens", "")
        return Usage(
            input_tokens=text + text_tokens(system) + (images or 0),
            output_tokens=int(limit) if limit.isdecimal() else UNLIMITED_OUTPUT,
        )

    def expected_cost(self, request: Request) -> float:
        """The maximum cost of a request, or that of the most expensive answer if it is higher."""
        return max(self.cost(self.expected(request)), self._highest_cost) if self.price else 0.0

    def charged(self, usage: Usage, uncounted: Usage) -> float:
        """The cost of an answer by the server's count, and the estimate of what it lacks."""
        cost = self.cost(usage) + self.cost(uncounted)
        self._highest_cost = max(self._highest_cost, cost)
        return cost

    def uncounted(self, request: Request, usage: Usage) -> Usage:
        """The tokens of an answer that its server did not count, or counted wrongly.

        Args:
            request: the request.
            usage: the server's count.
        """
        if not self.paid or None not in (usage.input_tokens, usage.output_tokens):
            return NO_USAGE
        expected = self.expected(request)
        return Usage(
            input_tokens=expected.input_tokens if usage.input_tokens is None else None,
            output_tokens=expected.output_tokens if usage.output_tokens is None else None,
        )

    def cost(self, usage: Usage) -> float:
        """The cost of these tokens; 0 without a price."""
        if self.price is None:
            return 0.0
        return self.price.of(usage.input_tokens or 0, usage.output_tokens or 0)

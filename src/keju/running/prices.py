"""Price files, which the user edits because vendors change prices often, and machine hours.

`CostEstimator` estimates the tokens and money of requests, and `spent_so_far` sums those of a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.errors import DataError, UsageError
from keju.files import read_jsonl, read_toml, shipped_toml
from keju.items import Record, Request, Usage
from keju.models import Fit
from keju.running.tokens import request_tokens, text_tokens
from keju.runs import RunFolder

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
        name = model.rpartition("/")[2].casefold()
        return next(
            (
                price
                for price in self.models
                if any(fnmatchcase(name, each.casefold()) for each in price.names)
            ),
            None,
        )


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
        found = shipped_toml("keju.running", _SHIPPED, Prices)
    else:
        form = f"Its form is that of keju/running/{_SHIPPED}"
        found = read_toml(path, Prices, what="a price file", hint=form)
    for price in found.models:
        if not (0 <= price.input < _MILLION and 0 <= price.output < _MILLION):
            raise DataError(
                "a price must be 0 or more for a million tokens",
                file=path,
                item=", ".join(price.names),
            )
    return found


UNLIMITED_OUTPUT = 1024
"""Assumed tokens of an answer in a reservation, where neither --max-tokens nor an earlier answer
gives a number."""

NO_USAGE = Usage()
"""No tokens that a server did not count."""

_MAY_BE_PAID = frozenset({"timeout", "connection", "bad-response"})


def may_be_paid(kind: str) -> bool:
    """Whether a request that failed in this way may have been charged nevertheless."""
    return kind in _MAY_BE_PAID


def add_usage(one: Usage, other: Usage) -> Usage:
    """The sum of two estimates; a count that is unknown in both stays unknown."""
    if one is other:  # Both are empty: nearly every answer is counted.
        return one
    if not _is_counted(one) or not _is_counted(other):
        return one if _is_counted(one) else other
    return Usage(
        input_tokens=(one.input_tokens or 0) + (other.input_tokens or 0),
        output_tokens=(one.output_tokens or 0) + (other.output_tokens or 0),
    )


def _is_counted(usage: Usage) -> bool:
    return usage.input_tokens is not None or usage.output_tokens is not None


class CostEstimator:
    """Cost estimate: tokens and money of requests to one model.

    Args:
        identity: the model's identity; one without an endpoint runs on this machine and is free.
        prices: the prices of a price file.
    """

    def __init__(self, identity: Mapping[str, str], prices: Prices | None = None) -> None:
        self.paid = "endpoint" in identity
        self._name = identity.get("model", "")
        self._fit = Fit.of(identity)
        self._system_tokens = text_tokens(identity.get("system_prompt", ""))
        self._prices = prices
        digits = identity.get("max_tokens", "")
        self._most_output = int(digits) if digits.isdecimal() else UNLIMITED_OUTPUT
        self._highest_cost = 0.0

    @cached_property
    def price(self) -> Price | None:
        """The price of the model's tokens, or None where it is free or not known."""
        return self._prices.price(self._name) if self._prices and self.paid else None

    def expected(self, request: Request) -> Usage:
        """Tokens that a request may take; an image that no known rule counts is not included."""
        text, images = request_tokens(request, self._name, self._fit)
        sent = text + self._system_tokens + (images or 0)
        return Usage(input_tokens=sent, output_tokens=self._most_output)

    def expected_cost(self, request: Request) -> float:
        """The maximum cost of a request, or that of the most expensive answer if it is higher."""
        if self.price is None:
            return 0.0
        return max(self.cost(self.expected(request)), self._highest_cost)

    def charged(self, usage: Usage, uncounted: Usage) -> float:
        """The cost of an answer by the server's count, and the estimate of what it lacks."""
        if self.price is None:
            return 0.0
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


class _Used(Record, frozen=True, kw_only=True):
    """The part of a stored response that has a cost."""

    model: str
    usage: Usage = Usage()
    uncounted: Usage = Usage()


def spent_so_far(
    folder: RunFolder, identities: Mapping[str, Mapping[str, str]], prices: Prices
) -> float:
    """The cost of the responses in a run: the tokens that servers counted, and the estimate.

    Requests that were in flight when a run was killed left no response and are not included.

    Args:
        folder: the run.
        identities: those of all models that answered or transcribed, by name.
        prices: the prices of a price file.

    Raises:
        DataError: a stored line is damaged.
    """
    estimators = {name: CostEstimator(identity, prices) for name, identity in identities.items()}
    spent = 0.0
    for path in (*folder.response_files(), *folder.reading_files()):
        for response in read_jsonl(path, _Used, appended=True):
            if estimator := estimators.get(response.model):
                spent += estimator.cost(response.usage) + estimator.cost(response.uncounted)
    return spent


def check_priced(identities: Mapping[str, Mapping[str, str]], prices: Prices) -> None:
    """Check that the price of every model is known, because the cost is limited.

    Raises:
        UsageError: the price file has no price for a model.
    """
    for name, identity in identities.items():
        estimator = CostEstimator(identity, prices)
        if estimator.paid and estimator.price is None:
            raise UsageError(
                "--max-cost: the price file has no price for {}. Add one, in the form of: keju run "
                "--prices example",
                name,
            )

"""How a run sends requests: `Policy`, the options; `Slots` and `Budget`, which enforce them.

`CostEstimator` estimates the tokens and money of requests to one model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from time import monotonic

from keju.errors import UsageError
from keju.items import Record, Request, Usage
from keju.models import Answer, AskError, Fit, Model
from keju.running.prices import Prices
from keju.running.tokens import request_tokens, text_tokens
from keju.runs import RunFolder
from keju.texts import Text, _

_MINUTE, _BURST = 60.0, 1.0


class RetryPolicy(Record, frozen=True, kw_only=True):
    """When a request is sent again, and when a model is stopped.

    `attempts` is the maximum number of times that a request is sent; responses with status 429 or
    503 do not count, so that a busy server makes the run slow but does not make it fail. `deadline`
    is the maximum number of seconds from the first attempt to the last, including waits; `timeout`
    the maximum for one attempt. Waits start at `first_wait` seconds and double up to
    `longest_wait`; each is shortened at random by up to half. A model is stopped after `dead_after`
    consecutive requests that failed because of its server.
    """

    attempts: int = 6
    deadline: float = 1800.0
    timeout: float = 600.0
    first_wait: float = 0.5
    longest_wait: float = 60.0
    dead_after: int = 10


class Policy(Record, frozen=True, kw_only=True):
    """How a run sends requests; None sets no limit.

    `concurrency` is the maximum number of requests in flight to each model; None leaves it to the
    model. `per_minute` is the rate of each model behind an endpoint.
    `max_cost` is the money that everything in the run directory may cost, in the currency of
    `prices`. `retry_failed` sends again what failed in an earlier session. `replace` drops stored
    responses whose request is not made any more; otherwise they are an error. `batch` submits
    requests to the vendor's batch endpoints and collects the results that are ready. `retry`
    applies to each request of this session.
    """

    concurrency: int | None = None
    per_minute: float | None = None
    max_cost: float | None = None
    prices: Prices | None = None
    retry_failed: bool = False
    replace: bool = False
    batch: bool = False
    retry: RetryPolicy = RetryPolicy()

    def check(self) -> None:
        """Check the values.

        Raises:
            UsageError: a value is not valid, or money is limited without prices.
        """
        for name, value, lowest in (
            ("concurrency", self.concurrency, 1),
            ("max-cost", self.max_cost, 0),
        ):
            if value is not None and not lowest <= value < inf:
                raise UsageError("--{} must be {} or more, not {:g}", name, lowest, value)
        for name, value in (("timeout", self.retry.timeout), ("per-minute", self.per_minute)):
            if value is not None and not 0 < value < inf:
                raise UsageError("--{} must be more than 0, not {:g}", name, value)
        if self.max_cost is not None and self.prices is None:
            raise UsageError(
                "--max-cost needs a price file: --prices FILE (see: keju run --prices example)"
            )


class Slots:
    """Slots for requests in flight to a model, whose number follows the capacity of its server.

    The rule is TCP's (additive increase, multiplicative decrease): a response of 429 or 503 halves
    the number, but those that were already in flight at the last halving do not halve it again; as
    many successes as there are slots add one. After the first success the limit is the ceiling,
    because most servers support what their users set.

    There are at most `ceiling` slots, and `first` (default: as many) before the first success. With
    `per_minute`, a token bucket of one second's requests spreads them over the minute.
    """

    def __init__(
        self, ceiling: int, *, first: int | None = None, per_minute: float | None = None
    ) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self.stopped = False  # permanently
        self._limit = float(min(ceiling, first or ceiling))
        self._proven = first is None
        self._halved_at = 0.0
        self._closed_until = 0.0
        # One second more than a minute, because a full bucket is emptied before its refill begins.
        self._interval = (_MINUTE + _BURST) / per_minute if per_minute else 0.0
        self.opens_at = 0.0
        """When the rate allows the next request."""
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._end = asyncio.Event()

    @property
    def limit(self) -> int:
        """Slots at present, from 1 to the ceiling."""
        return int(self._limit)

    @property
    def slowed(self) -> bool:
        """Whether there are fewer slots than the ceiling because the server was overloaded."""
        return bool(self._halved_at) and self.limit < self.ceiling

    @property
    def seconds_closed(self) -> float:
        """Seconds for which the server accepts no more requests; 0 where it accepts them."""
        return max(0.0, self._closed_until - monotonic())

    async def enter(self) -> bool:
        """Wait for a slot and take it; false if there will be none."""
        async with self._turn:  # One caller waits for a slot, the others for their turn.
            while not self.stopped:
                now = monotonic()
                opens_at = max(self._closed_until, self.opens_at)
                if self.in_flight + 1 <= self._limit and now >= opens_at:
                    self.in_flight += 1
                    self.opens_at = max(self.opens_at, now - _BURST) + self._interval
                    return True
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(opens_at - now if opens_at > now else None):
                        await self._changed.wait()
        return False

    def leave(self) -> None:
        """Release a slot."""
        self.in_flight -= 1
        self._changed.set()

    async def rest(self, seconds: float) -> bool:
        """Wait this many seconds; false if the slots were stopped meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._end.wait()
        return not self.stopped

    def succeeded(self) -> None:
        """A request was answered: increase the limit slowly, at the first success to the ceiling.

        A server that was slowed before keeps its lower limit.
        """
        if not self._proven and not self._halved_at:
            self._limit = float(self.ceiling)
        self._proven = True
        self._limit = min(float(self.ceiling), self._limit + 1 / self._limit)
        self._changed.set()

    def failed(self) -> None:
        """A request failed permanently: before the first success, its slot is not used again."""
        if not self._proven:
            self._limit = max(1.0, self._limit - 1)

    def overloaded(self, sent_at: float, wait: float | None) -> None:
        """The server rejected a request of `sent_at`, and perhaps all for `wait` seconds."""
        if sent_at >= self._halved_at:
            self._limit, self._halved_at = max(1.0, self._limit / 2), monotonic()
        self._closed_until = max(self._closed_until, monotonic() + (wait or 0.0))

    def stop(self) -> None:
        """Provide no more slots; all callers that wait for one, or rest, return at once."""
        self.stopped = True
        self._end.set()
        self._changed.set()


@dataclass
class Budget:
    """The money of a run: the maximum cost of a request is reserved before it is sent.

    When the answer arrives, its cost replaces the reservation. So requests in flight never spend
    together more than `max_cost` (None sets no limit), and near its end they are sent one by one.
    """

    max_cost: float | None = None
    currency: str = ""
    spent: float = 0.0
    used_up: Text | str = ""
    _reserved: float = 0.0
    _reservations: int = 0
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    async def reserve(self, cost: float, slots: Slots) -> bool:
        """Reserve a cost as soon as it fits; false if it never will, or the slots were stopped."""
        while self.max_cost is not None and self.spent + self._reserved + cost > self.max_cost:
            if self.used_up or slots.stopped:
                return False
            if not self._reservations:
                self.used_up = _(
                    "the limit --max-cost {:g} {} is reached: {:.4f} are spent, and the next "
                    "request may cost {:.4f}",
                    self.max_cost,
                    self.currency,
                    self.spent,
                    cost,
                    hint="Run the same command with a higher --max-cost to continue",
                )
                return False
            self._settled.clear()
            await self._settled.wait()
        if self.used_up or slots.stopped:
            return False
        self._reserved += cost
        self._reservations += 1
        return True

    def settle(self, reserved: float, cost: float) -> None:
        """Replace a reservation by what was charged."""
        self._reserved -= reserved
        self._reservations -= 1
        self.spent += cost
        self._settled.set()


UNLIMITED_OUTPUT = 1024
"""Assumed tokens of an answer in a reservation, where neither --max-tokens nor an earlier answer
gives a number."""

NO_USAGE = Usage()
"""No tokens that a server did not count."""

_MAY_BE_PAID = frozenset({"timeout", "connection", "bad-response"})


def may_be_paid(kind: str) -> bool:
    """Whether a request that failed in this way may have been charged nevertheless."""
    return kind in _MAY_BE_PAID


class CostEstimator:
    """Estimates tokens and money of requests to one model.

    `paid`: the model is behind an endpoint; others run on this machine and are free. `price` is
    None where it is free or not known.
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
        return max(self.cost(self.expected(request)), self._highest_cost)

    def charged(
        self, request: Request, outcome: Answer | AskError, reserved: float, before: Usage
    ) -> tuple[float, Usage]:
        """The cost of an attempt, and the tokens that no server counted of it and those `before`.

        An attempt that may have been charged nevertheless costs what was reserved at least.
        """
        if isinstance(outcome, AskError):
            if not may_be_paid(outcome.kind):
                return 0.0, before
            estimate = self.expected(request)
            cost = max(reserved, self.cost(estimate))
        else:
            estimate = self.uncounted(request, outcome.usage)
            cost = self.cost(outcome.usage) + self.cost(estimate)
            self._highest_cost = max(self._highest_cost, cost)
        counts = [
            (getattr(before, name) or 0) + (getattr(estimate, name) or 0) or None
            for name in ("input_tokens", "output_tokens")
        ]
        return cost, Usage(input_tokens=counts[0], output_tokens=counts[1])

    def uncounted(self, request: Request, usage: Usage) -> Usage:
        """The tokens of an answer that are not in its server's count."""
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


def remaining_budget(
    folder: RunFolder,
    models: Iterable[Model],
    earlier: Mapping[str, Mapping[str, str]],
    policy: Policy,
) -> Budget:
    """The rest of a budget after the cost of all stored responses; unlimited without prices.

    Tokens that servers did not count have their estimate. Requests that were in flight when a run
    was killed left no response and are not included. `models` get requests now, `earlier` are the
    identities of other models.

    Raises:
        UsageError: money is limited, and the price of a model is not known.
    """
    prices = policy.prices
    if prices is None:
        return Budget()
    estimators = {name: CostEstimator(identity, prices) for name, identity in earlier.items()}
    for model in models:
        estimator = estimators[model.name] = CostEstimator(model.identity, prices)
        if policy.max_cost is not None and estimator.paid and estimator.price is None:
            raise UsageError(
                "--max-cost: the price file has no price for {}. Add one, in the form of: keju run "
                "--prices example",
                model.name,
            )
    spent = 0.0
    for response in chain(folder.responses(), folder.readings()):
        if paid := estimators.get(response.model):
            spent += paid.cost(response.usage) + paid.cost(response.uncounted)
    return Budget(policy.max_cost, prices.currency, spent)

"""Budget tracking of a run: money, requests and hours. A run stops cleanly when one is used up.

Before a request is sent, its maximum cost is reserved: its input tokens as `keju plan` counts them
and as many output tokens as the model may write, or the cost of the most expensive answer so far,
whichever is more. When the answer arrives, the server's own count replaces it. So requests in
flight never spend together more than the budget allows, and near the end of a budget they are sent
one by one. Requests that failed and may have been charged nevertheless (no answer in time, a broken
connection, an unreadable response) count as reserved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from math import isfinite
from time import monotonic

from keju.errors import UsageError
from keju.files import read_jsonl
from keju.items import Record, Request, Usage
from keju.models import Fit
from keju.running.prices import Price, Prices
from keju.running.tokens import request_tokens, text_tokens
from keju.runs import RunFolder
from keju.texts import Text, _

UNLIMITED_OUTPUT = 1024
"""Assumed tokens of an answer in a reservation, where neither --max-tokens nor an earlier answer
gives a number."""

_NONE = Usage()
_MAY_BE_PAID = frozenset({"timeout", "connection", "bad-response"})


def may_be_paid(kind: str) -> bool:
    """Whether a request that failed in this way may have been charged nevertheless."""
    return kind in _MAY_BE_PAID


def is_counted(usage: Usage) -> bool:
    """Whether a server reported how many tokens it took."""
    return usage.input_tokens is not None or usage.output_tokens is not None


def add_usage(one: Usage, other: Usage) -> Usage:
    """The sum of two estimates; a count that is unknown in both stays unknown."""
    if not is_counted(one) or not is_counted(other):
        return one if is_counted(one) else other
    return Usage(
        input_tokens=(one.input_tokens or 0) + (other.input_tokens or 0),
        output_tokens=(one.output_tokens or 0) + (other.output_tokens or 0),
    )


class Budget(Record, frozen=True, kw_only=True):
    """The limits of a run; None sets no limit.

    `max_cost` is in the currency of `prices` and covers everything in the run directory, so that
    repeating the command spends no more. `max_requests` counts every request sent, including
    repeated attempts, and `max_hours` is wall time; both apply to one call of the command.
    """

    max_cost: float | None = None
    max_requests: int | None = None
    max_hours: float | None = None
    prices: Prices | None = None

    @property
    def limited(self) -> bool:
        """Whether any limit is set."""
        return (self.max_cost, self.max_requests, self.max_hours) != (None, None, None)

    def check(self) -> None:
        """Check the limits.

        Raises:
            UsageError: a limit is not a number or below 0, or money is limited without prices.
        """
        for name in ("max_cost", "max_requests", "max_hours"):
            number = getattr(self, name)
            if number is not None and not (isfinite(number) and number >= 0):
                raise UsageError("--{} must be 0 or more, not {:g}", name.replace("_", "-"), number)
        if self.max_cost is not None and self.prices is None:
            raise UsageError(
                "--max-cost needs a price file: --prices FILE (see: keju plan --prices example)"
            )


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
        said = identity.get("max_tokens", "")
        self._most_output = int(said) if said.isdecimal() else UNLIMITED_OUTPUT

    @cached_property
    def price(self) -> Price | None:
        """The price of the model's tokens, or None where it is free or not known."""
        return self._prices.price(self._name) if self._prices and self.paid else None

    def expected(self, request: Request) -> Usage:
        """Tokens that a request may take; an image that no known rule counts is not included."""
        text, images = request_tokens(request, self._name, self._fit)
        sent = text + self._system_tokens + (images or 0)
        return Usage(input_tokens=sent, output_tokens=self._most_output)

    def uncounted(self, request: Request, outcome: Usage | str) -> Usage:
        """The tokens that an attempt may have cost and that no server counted, or counted wrongly.

        Args:
            request: the request.
            outcome: the server's count, or the kind of failure.
        """
        if not self.paid or (isinstance(outcome, str) and not may_be_paid(outcome)):
            return Usage()
        expected = self.expected(request)
        if isinstance(outcome, str):
            return expected
        return Usage(
            input_tokens=expected.input_tokens if outcome.input_tokens is None else None,
            output_tokens=expected.output_tokens if outcome.output_tokens is None else None,
        )

    def cost(self, usage: Usage) -> float:
        """The cost of these tokens; 0 without a price."""
        if self.price is None:
            return 0.0
        return self.price.of(usage.input_tokens or 0, usage.output_tokens or 0)


class BudgetTracker:
    """Budget tracker: the rest of a budget, shared by all models of a run.

    Args:
        budget: the limits. Hours count from the creation of the tracker.
        spent: the cost of the run so far.
    """

    def __init__(self, budget: Budget, spent: float = 0.0) -> None:
        self.budget = budget
        self.spent = spent
        self.requests = 0
        self.used_up: Text | str = ""
        self._ends = monotonic() + 3600 * budget.max_hours if budget.max_hours is not None else None
        self._reserved: dict[int, float] = {}
        self._highest_cost: dict[CostEstimator, float] = {}
        self._settled = asyncio.Event()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the hours are used up, or None if they are not limited."""
        return None if self._ends is None else max(0.0, self._ends - monotonic())

    async def take(
        self, estimator: CostEstimator, request: Request, waiting: Callable[[], bool]
    ) -> int | None:
        """Reserve the maximum cost of a request as soon as it fits the budget.

        Args:
            estimator: the model's cost estimate.
            request: the request to send.
            waiting: false once the run stops; then nothing is reserved.

        Returns:
            The number of the reservation; None if the request must not be sent.
        """
        most = self.budget.max_cost
        while waiting():
            cost = self._expected(estimator, request)
            if self.used_up or self._is_over():
                return None
            if most is None or self.spent + sum(self._reserved.values()) + cost <= most:
                self.requests += 1
                self._reserved[self.requests] = cost
                return self.requests
            if not self._reserved:
                self._set_used_up(
                    _(
                        "the limit --max-cost {:g} {} is reached: {:.4f} are spent, and the next "
                        "request may cost {:.4f}",
                        most,
                        self._currency,
                        self.spent,
                        cost,
                        hint="Run the same command with a higher --max-cost to continue",
                    )
                )
                return None
            self._settled.clear()
            await self._settled.wait()
        return None

    def settle(
        self, reservation: int, estimator: CostEstimator, usage: Usage, uncounted: Usage = _NONE
    ) -> None:
        """Replace the reservation of a request with the cost of its answer.

        Args:
            reservation: the number that `take` returned.
            estimator: the model's cost estimate.
            usage: the server's count; if it is empty, the reservation counts.
            uncounted: the estimate of what the server did not count.
        """
        reserved = self._reserved.pop(reservation)
        cost = estimator.cost(usage) + estimator.cost(uncounted) if is_counted(usage) else reserved
        self.spent += cost
        self._highest_cost[estimator] = max(cost, self._highest_cost.get(estimator, 0.0))
        self._settled.set()

    def release(self, reservation: int, kind: str = "") -> None:
        """Release the reservation of a request without an answer.

        Count what may have been charged.
        """
        reserved = self._reserved.pop(reservation)
        self.spent += reserved if may_be_paid(kind) else 0.0
        self._settled.set()

    def wake(self) -> None:
        """End all waiting because the run stops."""
        self._settled.set()

    def out_of_time(self) -> None:
        """End all waiting because the hours are used up."""
        self._set_used_up(_("the limit --max-hours {:g} is reached", self.budget.max_hours))

    @property
    def _currency(self) -> str:
        return self.budget.prices.currency if self.budget.prices else ""

    def _expected(self, estimator: CostEstimator, request: Request) -> float:
        if self.budget.max_cost is None or estimator.price is None:
            return 0.0
        return max(
            estimator.cost(estimator.expected(request)), self._highest_cost.get(estimator, 0.0)
        )

    def _is_over(self) -> bool:
        if self.budget.max_requests is not None and self.requests >= self.budget.max_requests:
            self._set_used_up(_("the limit --max-requests {} is reached", self.budget.max_requests))
            return True
        return False

    def _set_used_up(self, why: Text) -> None:
        self.used_up = self.used_up or why
        self._settled.set()


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


def check_priced(estimators: Iterable[tuple[str, CostEstimator]], budget: Budget) -> None:
    """Check that the price of every model is known if the cost is limited.

    Raises:
        UsageError: the price file has no price for a model.
    """
    if budget.max_cost is None:
        return
    for name, estimator in estimators:
        if estimator.paid and estimator.price is None:
            raise UsageError(
                "--max-cost: the price file has no price for {}. Add one, in the form of: keju "
                "plan --prices example",
                name,
            )

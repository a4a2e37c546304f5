"""`Sender`: sends the requests of model queues concurrently, with retries, and stores responses.

::

    jobs ─▶ Slots.enter ─▶ Budget.reserve ─▶ Model.answer ─▶ Budget.settle ─▶ keep ─▶ queue.note

Money is reserved and settled only for a model whose price is known. Tokens are estimated only where
money is limited, or a server did not count them.

Each queue has as many workers as its model may have requests in flight. A worker takes the next job
of the queue's iterator when it is free, so a million requests take no memory. Engines that compute
on this machine run one after another, so that each has the whole machine and its time can be
measured. Retries are implemented here and not with a retry library, because waiting does not
concern a single request: a Retry-After header holds back all requests to that model, and a stop
ends every wait at once.
"""

from __future__ import annotations

import asyncio
import random
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from time import monotonic
from typing import Any, NamedTuple

from keju.console import Console
from keju.datasets.store import Dataset
from keju.errors import (
    DataError,
    PrerequisiteError,
    UsageError,
    describe_exception,
    english_problem,
)
from keju.items import Failure, Request, Response, Status, Usage
from keju.models import Answer, AskError, Model
from keju.models.decoding import not_sent
from keju.running.contents import LazyImages
from keju.running.limits import NO_USAGE, Budget, CostEstimator, Policy, RetryPolicy, Slots
from keju.running.requests import Slot
from keju.running.run_summary import ModelSummary
from keju.running.store import Head
from keju.running.timing import Stopwatch
from keju.texts import _, n_

FIRST = 5
"""The most requests in flight to a model until its first answer, so that an error that affects
every request is found at the cost of a few."""

SAME_MESSAGE_LIMIT, FAILURE_LIMIT = 5, 25
"""The number of failures with one message, and with any, that stop a model before any success."""

UNREACHABLE_ATTEMPTS = 3
"""The maximum number of attempts where nothing answers at the address and the run has no answer of
the model: the address is probably wrong, so the error appears within seconds."""

_SERVER_FAILURES = frozenset({"auth", "rate", "server", "timeout", "connection"})
_REPEATED_FAILURES = frozenset(
    {"auth", "bad-request", "bad-response", "engine", "unreadable-image"}
)
"""Kinds of failures that the same request would have again."""

_WITH_DIGITS = re.compile(r"[\w.:-]*\d[\w.:-]*")

_OF_REQUEST, _OF_ANSWER = (
    [name for name in Response.__struct_fields__ if name in of.__struct_fields__]
    for of in (Request, Answer)
)
"""The fields of a response that its request and its answer have too."""


class Job(NamedTuple):
    """A request and its key; with a failure, it is not sent and is stored as failed.

    `source_sha256` is the hash of the file that has the answer, where answers are files.
    """

    request: Request
    key: str
    source_sha256: str = ""
    failure: Failure | None = None


class ModelQueue:
    """A model queue: the requests that one model has still to answer, with their progress.

    Of a model that computes on this machine, only one request is in flight until its first answer,
    and it is timed from there.

    `total` is the number of jobs. `summary` has the counts of the stored responses that remain
    valid, `outdated` are those to be dropped before the first request is sent.
    """

    def __init__(
        self,
        model: Model,
        jobs: Iterator[Job],
        *,
        total: int,
        policy: Policy,
        summary: ModelSummary | None = None,
        outdated: Mapping[Slot, Head] | None = None,
    ) -> None:
        self.model, self.jobs, self.total = model, jobs, total
        self.outdated = outdated or {}
        self.summary = summary or ModelSummary(model=model.name)
        statuses = self.summary.statuses
        self.summary.left, self.summary.planned = total, statuses.total() + total
        self.succeeded = statuses.total() > statuses["failed"] + statuses["filtered"]
        """Whether the run has an answer of this model, of this session or an earlier one."""
        self.doing = ""
        """A word for the progress display if the model does something other than answer."""
        self.paid = "endpoint" in model.identity
        """Whether the model is behind an endpoint; others run on this machine and are free."""
        self.prices = policy.prices
        self.limits_money = policy.max_cost is not None
        self.stopwatch: Stopwatch | None = None
        """Of a model that computes on this machine, from its first request on."""
        ceiling = policy.concurrency or model.concurrency
        self.slots = Slots(
            ceiling,
            first=1 if model.local else ceiling if self.succeeded else FIRST,
            per_minute=policy.per_minute if self.paid else None,
        )
        self.halted_by: Failure | None = None
        self.closed_by = ""
        self._failed_in_a_row = 0
        self._repeated_failures: Counter[str] = Counter()
        """Failures before the first success that the same requests would have again, by message."""

    @cached_property
    def cost(self) -> CostEstimator:
        """Estimates tokens and money where they are limited, or no server counts them."""
        return CostEstimator(self.model.identity, self.prices)

    @property
    def is_waiting(self) -> bool:
        """Whether an engine of this machine waits for other engines to finish first."""
        return self.model.local and self.stopwatch is None

    def note(self, response: Response, dead_after: int, pages: int = 1) -> None:
        """Count a response to a request with `pages` images.

        The model is stopped after `dead_after` failures of its server in a row, and before its
        first success after fewer that the same requests would have again.
        """
        summary, error = self.summary, response.error
        summary.left -= 1
        summary.asked += 1
        summary.attempts += response.attempts
        summary.statuses[response.status] += 1
        for names, noted_names in (
            (response.refused, summary.refused),
            (not_sent(self.model.identity, response.decoding), summary.not_sent),
        ):
            noted_names += [name for name in names if name not in noted_names]
        if self.stopwatch is not None:
            self.stopwatch.note(response, pages)
        if response.status == "failed" and error is not None:
            summary.failures[error.kind] += 1
            self.slots.failed()
            self._stop_after_failures(error, dead_after, response.attempts)
            return
        self._failed_in_a_row = 0
        if error is None:
            self.succeeded = True
            self.slots.succeeded()

    def _stop_after_failures(self, failure: Failure, dead_after: int, attempts: int) -> None:
        kind, message = failure.kind, failure.message
        self._failed_in_a_row = self._failed_in_a_row + 1 if kind in _SERVER_FAILURES else 0
        if (count := self._failed_in_a_row) >= dead_after:
            reason = _("{} requests in a row failed. The last message: {}", count, message)
            self.halt(reason, failure)
        if attempts and kind in _REPEATED_FAILURES and not self.succeeded:
            # Numbers and names with digits (tokens, ids of requests, sizes) are not compared.
            self._repeated_failures[_WITH_DIGITS.sub("#", message)] += 1
            count, most = self._repeated_failures.total(), max(self._repeated_failures.values())
            if most >= SAME_MESSAGE_LIMIT or count >= FAILURE_LIMIT:
                reason = _(
                    "{} requests failed and none succeeded. The last message: {}", count, message
                )
                self.halt(reason, failure)

    def halt(self, why: str, failure: Failure | None = None) -> None:
        """Stop the model; its other requests stay without a response, and are sent later."""
        if not self.slots.stopped:
            self.summary.halted, self.halted_by = why, failure
            self.slots.stop()


@dataclass
class Sender:
    """Sends the requests of model queues, and gives each response to `keep` at once.

    `dataset` has the images; None where requests have none.
    """

    dataset: Dataset | None
    queues: Sequence[ModelQueue]
    keep: Callable[[Response], None]
    retry: RetryPolicy
    budget: Budget = field(default_factory=Budget)

    async def run(self) -> None:
        """Send requests until none is left, all models are stopped or the budget is spent.

        Raises:
            KejuError: a response cannot be stored, or a model reports that it cannot work at all.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for queue in self.queues:
                    workers = 0 if queue.model.local else min(queue.slots.ceiling, queue.total)
                    for _worker in range(workers):
                        group.create_task(self._work(queue))
                # Engines of this machine run one after another.
                for queue in self.queues:
                    if queue.model.local and queue.total:
                        await self._time(queue)
        except BaseExceptionGroup as group_error:
            error: BaseException = group_error
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            raise error from None

    def stop(self) -> None:
        """Send no more requests; `run` returns when those in flight have been answered."""
        for queue in self.queues:
            queue.slots.stop()

    async def _time(self, queue: ModelQueue) -> None:
        """Send the requests to an engine of this machine, and time it."""
        queue.stopwatch = Stopwatch()
        async with asyncio.TaskGroup() as group:
            for _worker in range(min(queue.slots.ceiling, queue.total)):
                group.create_task(self._work(queue))

    async def _work(self, queue: ModelQueue) -> None:
        # The iterator is shared: each worker takes the next job that is still free.
        for job in queue.jobs:
            response = await self._response(queue, job)
            if response is None:
                return
            self.keep(response)
            queue.note(response, self.retry.dead_after, len(job.request.images))
            if queue.slots.stopped:
                return

    async def _response(self, queue: ModelQueue, job: Job) -> Response | None:
        """Send a request until it is answered or has failed; None if the queue stopped before."""
        model, request, deadline = queue.model, job.request, self.retry.deadline
        if job.failure is not None:
            return response_of(model, job, AskError(job.failure.kind, job.failure.message))
        has_price = queue.prices is not None and queue.cost.price is not None
        first_sent, attempts, counted = 0.0, 0, 0
        failure, estimate = None, NO_USAGE
        while await queue.slots.enter():
            reserved = await self._reserve(queue, request) if has_price else 0.0
            if reserved is None:
                break
            sent_at = monotonic()
            first_sent, attempts = first_sent or sent_at, attempts + 1
            outcome = await self._attempt(model, request, deadline - sent_at + first_sent)
            queue.slots.leave()
            seconds = monotonic() - sent_at
            usage = outcome.usage if isinstance(outcome, Answer) else NO_USAGE
            if has_price or (queue.paid and None in (usage.input_tokens, usage.output_tokens)):
                charged, estimate = queue.cost.charged(request, outcome, reserved, estimate)
                if has_price:
                    self.budget.settle(reserved, charged)
            if isinstance(outcome, Answer):
                return response_of(model, job, outcome, seconds, attempts, estimate)
            failure = outcome
            counted += not failure.overloaded
            if failure.overloaded and not self._slow_down(queue, failure, sent_at):
                break
            wait = self._wait(queue, failure, attempts, counted)
            if wait is None or monotonic() - first_sent + wait >= deadline:
                return response_of(model, job, failure, seconds, attempts, estimate)
            queue.summary.waited += wait
            if not await queue.slots.rest(wait):
                break
        if failure is not None:
            # The request would have been sent again if the run had not stopped before.
            queue.summary.trouble.setdefault(failure.kind, str(failure))
        return None

    async def _reserve(self, queue: ModelQueue, request: Request) -> float | None:
        """Reserve the cost of a request that has a slot; None, without the slot, if it is too high.

        Nothing is estimated where money is not limited.
        """
        money = queue.cost.expected_cost(request) if queue.limits_money else 0.0
        if await self.budget.reserve(money, queue.slots):
            return money
        queue.slots.leave()
        if self.budget.used_up:
            self.stop()
        return None

    async def _attempt(self, model: Model, request: Request, deadline: float) -> Answer | AskError:
        """Send a request once; its deadline is in `deadline` seconds."""
        seconds = max(0.001, min(self.retry.timeout, deadline))
        images = LazyImages(self.dataset, request.images) if self.dataset is not None else ()
        try:
            async with asyncio.timeout(seconds):
                return await model.answer(request, images)
        except AskError as error:
            return error
        except TimeoutError:
            return AskError("timeout", _("no answer within {:.0f} s", seconds), retryable=True)
        except (PrerequisiteError, UsageError):
            raise
        except DataError as error:
            return AskError("unreadable-image", str(error))
        except Exception as error:  # noqa: BLE001  an engine that breaks on one page must not end the run
            return AskError("engine", describe_exception(error)[:300])

    def _slow_down(self, queue: ModelQueue, failure: AskError, sent_at: float) -> bool:
        """Send fewer requests to an overloaded server; false if it asks to wait for too long."""
        wait, most = failure.retry_after, self.retry.deadline
        if wait is None or wait <= most:
            queue.closed_by = str(failure)
            queue.slots.overloaded(sent_at, wait)
            return True
        clock = datetime.now().astimezone() + timedelta(seconds=wait)
        reason = _(
            "the server asks to wait until {}, and keju waits at most {:g} minutes: {}",
            f"{clock:%Y-%m-%d %H:%M}",
            most / 60,
            str(failure),
        )
        queue.halt(reason)
        return False

    def _wait(
        self, queue: ModelQueue, failure: AskError, attempts: int, counted: int
    ) -> float | None:
        """Seconds until the next attempt; None if there is none.

        `attempts` is their number so far, `counted` the number of those that count.
        """
        retry, most = self.retry, self.retry.attempts
        if failure.unreachable and not queue.succeeded:
            most = min(most, UNREACHABLE_ATTEMPTS)
        if not failure.retryable or counted >= most:
            return None
        wait = min(retry.longest_wait, retry.first_wait * 2.0 ** min(attempts - 1, 30))
        wait *= random.uniform(0.5, 1.0)  # noqa: S311
        # The random part keeps rejected requests from all returning at the same moment.
        return wait if failure.retry_after is None else failure.retry_after + min(wait, 1.0)


@dataclass
class Interruption:
    """Stops a run: the first interruption stops sending, the second does not wait for responses.

    `signals`: SIGINT and SIGTERM interrupt; false inside an event loop of the caller's. `count` is
    the number of interruptions.
    """

    signals: bool = True
    count: int = 0
    _act: Callable[[], object] = int

    def interrupt(self) -> None:
        """Interrupt the run, from any thread, also before a request is sent."""
        self.count += 1
        self._act()

    @contextmanager
    def watching(
        self, sender: Sender, task: asyncio.Task[None], console: Console | None
    ) -> Iterator[None]:
        """Let interruptions stop the sender, and then cancel its task."""

        def act() -> None:
            if self.count > 1:
                task.cancel()
                return
            sender.stop()
            in_flight = sum(queue.slots.in_flight for queue in sender.queues)
            if console and in_flight:
                text = n_(
                    "Stopping. Waiting for {n:,} answer under way; press Ctrl-C again to stop "
                    "without them.",
                    "Stopping. Waiting for {n:,} answers under way; press Ctrl-C again to stop "
                    "without them.",
                    in_flight,
                )
                console.print(text, highlight=False, soft_wrap=True)

        loop = asyncio.get_running_loop()
        self._act = lambda: loop.call_soon_threadsafe(act)
        if self.count:
            act()
        handlers: dict[signal.Signals, Any] = {}
        try:
            # Not available outside the main thread; there Ctrl-C cancels at once.
            with suppress(ValueError):
                for number in (signal.SIGINT, signal.SIGTERM) if self.signals else ():
                    handlers[number] = signal.signal(number, lambda *_: self.interrupt())
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            self._act = int


def response_of(
    model: Model,
    job: Job,
    outcome: Answer | AskError,
    seconds: float = 0.0,
    attempts: int = 0,
    uncounted: Usage = NO_USAGE,
) -> Response:
    """The response to store for a job: its answer, or why there is none."""
    error = None
    if isinstance(outcome, AskError):
        error = Failure(kind=outcome.kind, message=english_problem(outcome))
        status: Status = "filtered" if outcome.kind == "refused" else "failed"
        outcome = Answer(text="", status=status, decoding=None)
    shared = {name: getattr(job.request, name) for name in _OF_REQUEST}
    shared |= {name: getattr(outcome, name) for name in _OF_ANSWER}
    return Response(
        key=job.key,
        model=model.name,
        uncounted=uncounted,
        seconds=round(seconds, 3),
        attempts=attempts,
        error=error,
        source_sha256=job.source_sha256,
        **shared,
    )

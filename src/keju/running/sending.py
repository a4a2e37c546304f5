"""`Sender`: sends the requests of model queues concurrently, with retries, and stores responses.

::

    jobs ─▶ Slots.enter ─▶ Budget.reserve ─▶ Model.answer ─▶ Budget.settle ─▶ keep ─▶ queue.note

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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import NamedTuple

from keju.datasets.store import Dataset
from keju.errors import (
    DataError,
    PrerequisiteError,
    UsageError,
    describe_exception,
    english_problem,
)
from keju.items import Failure, Request, Response, Status, Usage
from keju.models import Answer, AskError, Model, capabilities_of, computes_here
from keju.models.decoding import not_sent
from keju.running.failures import FailureWatch
from keju.running.key import Slot
from keju.running.limits import Budget, Policy, RetryPolicy, Slots
from keju.running.model_options import LazyImages
from keju.running.prices import NO_USAGE, CostEstimator, add_usage, may_be_paid
from keju.running.store import Head
from keju.running.timing import Stopwatch
from keju.texts import _

FIRST = 5
"""The most requests in flight to a model until its first answer, so that an error that affects
every request is found at the cost of a few."""

UNREACHABLE_ATTEMPTS = 3
"""The maximum number of attempts where nothing answers at the address and the run has no answer of
the model: the address is probably wrong, so the error appears within seconds."""


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

    A model that computes on this machine has a stopwatch: no other such model runs at the same
    time, only one request is in flight until its first answer, and it is timed from there.

    Args:
        model: the model.
        jobs: the requests to send.
        total: the number of jobs.
        policy: the limits.
        kept: the stored responses that remain valid, by status and kind of failure.
        not_asked: the number of requests that the model does not get, by reason.
        outdated: the stored responses to be dropped before the first request is sent.
    """

    def __init__(
        self,
        model: Model,
        jobs: Iterator[Job],
        *,
        total: int,
        policy: Policy,
        kept: Counter[Head] | None = None,
        not_asked: Counter[str] | None = None,
        outdated: Mapping[Slot, Head] | None = None,
    ) -> None:
        self.model, self.jobs, self.total = model, jobs, total
        self.kept = kept or Counter()
        self.not_asked = not_asked or Counter()
        self.outdated = outdated or {}
        self.doing = ""
        """A word for the progress display if the model does something other than answer."""
        self.cost = CostEstimator(model.identity, policy.prices)
        self.limits_money = policy.max_cost is not None
        self.limits_tokens = policy.tokens_per_minute is not None and self.cost.paid
        here = computes_here(model.name) and not capabilities_of(model).elsewhere
        self.stopwatch = Stopwatch() if here else None
        self.succeeded = any(not head.kind for head in self.kept)
        """Whether the run has an answer of this model, of this session or an earlier one."""
        ceiling = policy.concurrency or model.concurrency
        self.slots = Slots(
            ceiling,
            first=1 if here else ceiling if self.succeeded else FIRST,
            per_minute=policy.per_minute if self.cost.paid else None,
            tokens_per_minute=policy.tokens_per_minute if self.cost.paid else None,
        )
        self.first_done: tuple[float, int] | None = None
        self.statuses: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.attempts = 0
        self.waited = 0.0
        self.halted: str = ""
        self.halted_by: Failure | None = None
        self.diagnosis = ""
        self.refused: set[str] = set()
        self.not_sent: set[str] = set()
        self.closed_by = ""
        self.trouble: dict[str, str] = {}
        self.ignored_usage: list[str] = []
        self._watch = FailureWatch(succeeded=self.succeeded)

    @property
    def done(self) -> int:
        """Requests that are answered or have failed permanently."""
        return self.statuses.total()

    @property
    def answered(self) -> bool:
        """Whether a request that was sent in this session has a response that is not a failure."""
        return self.done > self.statuses["failed"]

    @property
    def left(self) -> int:
        """Requests that are still to be sent."""
        return self.total - self.done

    @property
    def waiting(self) -> bool:
        """Whether the queue waits for other engines to finish first."""
        return self.stopwatch is not None and not self.stopwatch.started

    def tokens(self, request: Request) -> int:
        """Approximate number of tokens that a request takes, where tokens are limited; else 0."""
        if not self.limits_tokens:
            return 0
        expected = self.cost.expected(request)
        return (expected.input_tokens or 0) + (expected.output_tokens or 0)

    def note(self, response: Response, dead_after: int, pages: int = 1) -> None:
        """Count a response to a request with `pages` images.

        Stops the model if its failures show that no more requests should be sent.
        """
        self.statuses[response.status] += 1
        if self.stopwatch is not None:
            self.stopwatch.note(response, pages)
        if self.first_done is None and response.attempts:
            self.first_done = monotonic(), self.done
        self.attempts += response.attempts
        self.refused.update(response.refused)
        self.not_sent.update(not_sent(self.model.identity, response.decoding))
        if response.error is None:
            self.succeeded = True
            self.slots.proven()
        elif response.status == "failed":
            self.failures[response.error.kind] += 1
            self.slots.failed()
        if why := self._watch.note(response, dead_after):
            self.halt(why, response.error)

    def halt(self, why: str, failure: Failure | None = None) -> None:
        """Stop the model; its other requests stay without a response, and are sent later."""
        if not self.slots.stopped:
            self.halted, self.halted_by = why, failure
            self.slots.stop()


class Sender:
    """Sends the requests of model queues and stores each response at once.

    Args:
        dataset: where the images are stored; None where requests have none.
        queues: the model queues.
        keep: stores a response.
        retry: attempts, timeouts and waits.
        budget: the rest of the run's money; None sets no limit.
    """

    def __init__(
        self,
        dataset: Dataset | None,
        queues: Sequence[ModelQueue],
        keep: Callable[[Response], None],
        retry: RetryPolicy,
        budget: Budget | None = None,
    ) -> None:
        self.queues = queues
        self._dataset = dataset
        self._keep = keep
        self._retry = retry
        self._budget = budget or Budget()

    @property
    def in_flight(self) -> int:
        """The number of requests that have been sent and not been answered."""
        return sum(queue.slots.in_flight for queue in self.queues)

    async def run(self) -> None:
        """Send requests until none is left, all models are stopped or the budget is spent.

        Raises:
            KejuError: a response cannot be stored, or a model reports that it cannot work at all.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for queue in self.queues:
                    if queue.stopwatch is None:
                        self._start(queue, group)
                group.create_task(self._one_after_another())
        except BaseExceptionGroup as errors:
            error: BaseException = errors
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            raise error from None

    def stop(self) -> None:
        """Send no more requests; `run` returns when those in flight have been answered."""
        for queue in self.queues:
            queue.slots.stop()

    def _start(self, queue: ModelQueue, group: asyncio.TaskGroup) -> None:
        for __ in range(min(queue.slots.ceiling, queue.total)):
            group.create_task(self._work(queue))

    async def _one_after_another(self) -> None:
        """Run the engines of this machine one after another."""
        for queue in self.queues:
            if queue.stopwatch is not None and queue.total:
                queue.stopwatch.start()
                async with asyncio.TaskGroup() as group:
                    self._start(queue, group)
                queue.stopwatch.stop()

    async def _work(self, queue: ModelQueue) -> None:
        # The iterator is shared: each worker takes the next job that is still free.
        for job in queue.jobs:
            response = await self._response(queue, job)
            if response is None:
                return
            self._keep(response)
            queue.note(response, self._retry.dead_after, len(job.request.all_images))
            if queue.slots.stopped:
                return

    async def _response(self, queue: ModelQueue, job: Job) -> Response | None:
        """Send a request until it is answered or has failed; None if the queue stopped before."""
        if job.failure is not None:
            return response_of(queue.model, job, AskError(job.failure.kind, job.failure.message))
        request, retry, failure = job.request, self._retry, None
        first_sent, attempts, counted, uncounted = 0.0, 0, 0, NO_USAGE
        while (money := await self._admitted(queue, request)) is not None:
            sent = monotonic()
            first_sent, attempts = first_sent or sent, attempts + 1
            outcome = await self._attempt(queue.model, request, retry.deadline - sent + first_sent)
            queue.slots.leave()
            seconds = monotonic() - sent
            if isinstance(outcome, Answer):
                uncounted = add_usage(uncounted, self._settle(queue, request, outcome, money))
                return response_of(queue.model, job, outcome, seconds, attempts, uncounted)
            failure = outcome
            paid = queue.cost.paid and may_be_paid(failure.kind)
            self._budget.settle(money, money if paid else 0.0)
            if paid:
                uncounted = add_usage(uncounted, queue.cost.expected(request))
            if not failure.overloaded:
                counted += 1
            elif not self._slow_down(queue, failure, sent):
                break
            wait = self._wait(queue, failure, attempts, counted, monotonic() - first_sent)
            if wait is None:
                return response_of(queue.model, job, failure, seconds, attempts, uncounted)
            queue.waited += wait
            if not await queue.slots.rest(wait):
                break
        if failure is not None:
            # The request would have been sent again if the run had not stopped before.
            queue.trouble.setdefault(failure.kind, str(failure))
        return None

    async def _admitted(self, queue: ModelQueue, request: Request) -> float | None:
        """Wait until a request may be sent; the money reserved for it, or None if it may not."""
        if not await queue.slots.enter(queue.tokens(request)):
            return None
        money = queue.cost.expected_cost(request) if queue.limits_money else 0.0
        if await self._budget.reserve(money, queue.slots):
            return money
        queue.slots.leave()
        if self._budget.used_up:
            self.stop()
        return None

    def _settle(self, queue: ModelQueue, request: Request, answer: Answer, money: float) -> Usage:
        """Replace a reservation by an answer's cost; the tokens that its server did not count."""
        usage, uncounted = answer.usage, queue.cost.uncounted(request, answer.usage)
        self._budget.settle(money, queue.cost.charged(usage, uncounted))
        more = 0
        if queue.limits_tokens and usage.input_tokens is not None:
            more = usage.input_tokens + (usage.output_tokens or 0) - queue.tokens(request)
        queue.slots.succeeded(more)
        if answer.ignored_usage:
            queue.ignored_usage.append(answer.ignored_usage)
        return uncounted

    async def _attempt(self, model: Model, request: Request, left: float) -> Answer | AskError:
        """Send a request once; `left` are the seconds until its deadline."""
        seconds = max(0.001, min(self._retry.timeout, left))
        images = LazyImages(self._dataset, request.all_images) if self._dataset is not None else ()
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

    def _slow_down(self, queue: ModelQueue, failure: AskError, sent: float) -> bool:
        """Send fewer requests; false, and the model is stopped, if the wait is too long."""
        wait, most = failure.retry_after, self._retry.deadline
        if wait is None or wait <= most:
            queue.closed_by = str(failure)
            queue.slots.overloaded(sent, wait)
            return True
        clock = datetime.now().astimezone() + timedelta(seconds=wait)
        queue.halt(
            _(
                "the server asks to wait until {}, and keju waits at most {:g} minutes: {}",
                f"{clock:%Y-%m-%d %H:%M}",
                most / 60,
                str(failure),
            )
        )
        return False

    def _wait(
        self, queue: ModelQueue, failure: AskError, attempts: int, counted: int, spent: float
    ) -> float | None:
        """Seconds until the next attempt; None if there is none."""
        retry = self._retry
        most = retry.attempts
        if failure.unreachable and not queue.succeeded:
            most = min(most, UNREACHABLE_ATTEMPTS)
        if not failure.retryable or counted >= most:
            return None
        wait = min(retry.longest_wait, retry.first_wait * 2.0 ** min(attempts - 1, 30))
        wait *= random.uniform(0.5, 1.0)  # noqa: S311
        if failure.retry_after is not None:
            # The random part keeps rejected requests from all returning at the same moment.
            wait = failure.retry_after + min(wait, 1.0)
        return wait if spent + wait < retry.deadline else None


def response_of(
    model: Model,
    job: Job,
    outcome: Answer | AskError,
    seconds: float = 0.0,
    attempts: int = 0,
    uncounted: Usage = NO_USAGE,
) -> Response:
    """The response to store for a job: its answer, or why there is none."""
    request, error = job.request, None
    if isinstance(outcome, AskError):
        error = Failure(kind=outcome.kind, message=english_problem(outcome))
        status: Status = "filtered" if outcome.kind == "refused" else "failed"
        outcome = Answer(text="", status=status, decoding=None)
    return Response(
        key=job.key,
        item=request.item,
        model=model.name,
        benchmark=request.benchmark,
        task=request.task,
        status=outcome.status,
        query=request.query,
        setting=request.setting,
        script=request.script,
        wording=request.wording,
        round=request.round,
        candidate=request.candidate,
        box_convention=request.box_convention,
        examples=tuple(example.item for example in request.examples),
        text=outcome.text,
        not_text=outcome.not_text,
        thinking=outcome.thinking,
        finish_reason=outcome.finish_reason,
        usage=outcome.usage,
        uncounted=uncounted,
        seconds=round(seconds, 3),
        attempts=attempts,
        error=error,
        lines=outcome.lines,
        source_sha256=job.source_sha256,
        decoding=outcome.decoding,
        refused=outcome.refused,
        served_model=outcome.served_model,
        fingerprint=outcome.fingerprint,
    )

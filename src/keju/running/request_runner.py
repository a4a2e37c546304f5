"""The request runner: sends requests to several models concurrently, with retries.

Engines that compute on this machine run one after another, so that each has the whole machine and
its time can be measured.

Requests come from an iterator, and each worker takes the next one when it is free. Nothing is
queued, so a hundred thousand requests take no memory. Retries are implemented here and not with a
retry library, because waiting does not concern a single request: a Retry-After header holds back
all requests to that model, and a stop ends every wait at once.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from time import monotonic

from keju.datasets.store import Dataset
from keju.errors import DataError, PrerequisiteError, UsageError, describe_exception
from keju.items import Failure, Request, Response, Usage
from keju.models import Answer, AskError, Model, capabilities_of, computes_here
from keju.models.decoding import not_sent
from keju.running.budget import Budget, BudgetTracker, CostEstimator, add_usage
from keju.running.failures import FailureWatch
from keju.running.outcomes import Job, response_of
from keju.running.policy import RetryPolicy
from keju.running.prices import Prices
from keju.running.request_images import LazyImages
from keju.running.store import RequestId, StoredResponse
from keju.running.throttle import RateLimits, Throttle
from keju.running.timing import Stopwatch
from keju.texts import _

_NONE = Usage()
FIRST = 5
"""The most requests in flight to a model until its first answer, so that an error that affects
every request is found at the cost of a few."""

UNREACHABLE_ATTEMPTS = 3
"""The maximum number of attempts where nothing answers at the address and the run has no answer of
the model: the address is probably wrong, so the error appears within seconds."""


class ModelQueue:
    """A model queue: the requests that one model has still to answer, with their progress.

    A model that computes on this machine has a stopwatch: no other such model runs at the same
    time, only one request is in flight until its first answer, and it is timed from there.

    Args:
        model: the model.
        jobs: the requests to send.
        total: the number of jobs.
        ceiling: the maximum number of requests in flight.
        limits: the model's limits per minute, if it is behind an endpoint.
        prices: the prices of a price file.
        succeeded: whether the run already has an answer of this model.
    """

    def __init__(
        self,
        model: Model,
        jobs: Iterator[Job],
        *,
        total: int,
        ceiling: int,
        limits: RateLimits | None = None,
        prices: Prices | None = None,
        succeeded: bool = False,
    ) -> None:
        self.model = model
        self.estimator = CostEstimator(model.identity, prices)
        self.doing = ""
        """A word for the progress display if the model does something other than answer."""
        self.jobs = jobs
        self.total = total
        self.stored = 0
        """Requests whose stored response is kept; the progress display counts them too."""
        here = computes_here(model.name) and not capabilities_of(model).elsewhere
        self.stopwatch = Stopwatch() if here else None
        first = 1 if self.stopwatch else ceiling if succeeded else FIRST
        limits = limits if self.estimator.paid else None
        self.throttle = Throttle(ceiling, limits, first=first)
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
        self.failed_before: dict[RequestId, StoredResponse] = {}
        """The stored failures among the jobs; each stays stored until it has another response."""
        self._watch = FailureWatch(succeeded=succeeded)

    @property
    def done(self) -> int:
        """Requests that are answered or have failed permanently."""
        return self.statuses.total()

    @property
    def answered(self) -> bool:
        """Whether a request that was sent in this session has a response that is not a failure."""
        return self.done > self.statuses["failed"]

    @property
    def succeeded(self) -> bool:
        """Whether the run has an answer of this model, of this session or an earlier one."""
        return self._watch.succeeded

    @property
    def left(self) -> int:
        """Requests that are still to be sent."""
        return self.total - self.done

    @property
    def waiting(self) -> bool:
        """Whether the queue waits for other engines to finish first."""
        return self.stopwatch is not None and not self.stopwatch.started

    def is_open(self) -> bool:
        """Whether more requests are to be sent."""
        return not self.throttle.stopped

    def tokens(self, request: Request) -> int:
        """Approximate number of tokens that a request takes, where tokens are limited; else 0."""
        return _sum(self.estimator.expected(request)) if self.throttle.limits.tokens else 0

    def count(self, request: Request, answer: Answer) -> None:
        """Replace the expected tokens of a request with the server's count."""
        usage = answer.usage
        if answer.ignored_usage:
            self.ignored_usage.append(answer.ignored_usage)
        if self.throttle.limits.tokens and usage.input_tokens is not None:
            self.throttle.counted(_sum(usage) - self.tokens(request))

    def stop_if_wait_exceeds(self, failure: AskError, most: float) -> bool:
        """Stop the model, and return true, if its server asks to wait longer than `most` seconds.

        Its requests stay without a response, so that the same command asks them later.
        """
        wait = failure.retry_after
        if wait is None or wait <= most:
            return False
        if not self.throttle.stopped:
            self.halted = _(
                "the server asks to wait until {}, and keju waits at most {:g} minutes: {}",
                _clock(wait),
                most / 60,
                str(failure),
            )
            self.throttle.stop()
        return True

    def record_unfinished(self, failure: AskError) -> None:
        """Record why a request would have been sent again if the run had not stopped before."""
        self.trouble.setdefault(failure.kind, str(failure))

    def note(self, response: Response, dead_after: int, pages: int = 1) -> None:
        """Count a response to a request with `pages` images.

        Stops the model if its failures show that no more requests should be sent.
        """
        self.statuses[response.status] += 1
        if self.stopwatch is not None:
            self.stopwatch.note(response, pages)
        if self.first_done is None and response.attempts:
            self.first_done = monotonic(), self.done
        self.failed_before.pop(RequestId.of(response), None)
        self.attempts += response.attempts
        self.refused.update(response.refused)
        self.not_sent.update(not_sent(self.model.identity, response.decoding))
        if response.error is None:
            self.throttle.proven()
        if response.error is not None and response.status == "failed":
            self.failures[response.error.kind] += 1
            self.throttle.failed()
        halted = self._watch.note(response, dead_after)
        if halted and not self.throttle.stopped:
            self.halted, self.halted_by = halted, response.error
            self.throttle.stop()


class RequestRunner:
    """Request runner: sends the requests of model queues and stores each response at once.

    Args:
        dataset: where the images are stored; None where requests have none.
        queues: the model queues.
        keep: stores a response.
        retry: attempts, timeouts and waits.
        tracker: the rest of the run's budget; None sets no limit.
    """

    def __init__(
        self,
        dataset: Dataset | None,
        queues: Sequence[ModelQueue],
        keep: Callable[[Response], None],
        retry: RetryPolicy,
        tracker: BudgetTracker | None = None,
    ) -> None:
        self.queues = queues
        self._dataset = dataset
        self._keep = keep
        self._retry = retry
        self._tracker = tracker or BudgetTracker(Budget())

    async def run(self) -> None:
        """Send requests until none is left, all models are stopped or the budget is spent.

        Raises:
            KejuError: a response cannot be stored, or a model reports that it cannot work at all.
        """
        hours = self._tracker.seconds_left
        bell = asyncio.get_running_loop().call_later(hours, self._out_of_time) if hours else None
        if hours == 0:
            self._out_of_time()
        try:
            async with asyncio.TaskGroup() as group:
                for queue in self.queues:
                    if queue.stopwatch is None:
                        self._start(queue, group)
                group.create_task(self._one_after_another())
        except BaseExceptionGroup as group_of_errors:
            raise _first(group_of_errors) from None
        finally:
            if bell:
                bell.cancel()

    def stop(self) -> None:
        """Send no more requests; `run` returns when those in flight have been answered."""
        for queue in self.queues:
            queue.throttle.stop()
        self._tracker.wake()

    def _out_of_time(self) -> None:
        self._tracker.out_of_time()
        self.stop()

    @property
    def in_flight(self) -> int:
        """The number of requests that have been sent and not been answered."""
        return sum(queue.throttle.in_flight for queue in self.queues)

    def _start(self, queue: ModelQueue, group: asyncio.TaskGroup) -> None:
        for __ in range(min(queue.throttle.ceiling, queue.total)):
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
            if job.failure is not None:
                failed = AskError(job.failure.kind, job.failure.message)
                response: Response | None = response_of(queue.model, job, failed, 0.0, 0)
            else:
                response = await self._ask(queue, job)
            if response is None:
                return
            self._keep(response)
            queue.note(response, self._retry.dead_after, len(job.request.all_images))
            if queue.throttle.stopped:
                return

    async def _ask(self, queue: ModelQueue, job: Job) -> Response | None:
        """Send a request until it is answered or has failed; None if the queue stopped before."""
        first, attempts, counted, uncounted = 0.0, 0, 0, _NONE
        failure: AskError | None = None
        while (reservation := await self._admitted(queue, job.request)) is not None:
            started = monotonic()
            first = first or started
            attempts += 1
            outcome = await self._sent(queue, job.request, reservation, first)
            seconds = monotonic() - started
            brought = outcome.usage if isinstance(outcome, Answer) else outcome.kind
            uncounted = add_usage(uncounted, queue.estimator.uncounted(job.request, brought))
            if isinstance(outcome, Answer):
                return response_of(queue.model, job, outcome, seconds, attempts, uncounted)
            failure = outcome
            if outcome.overloaded and queue.stop_if_wait_exceeds(outcome, self._retry.deadline):
                break
            if outcome.overloaded:
                queue.closed_by = str(outcome)
                queue.throttle.overloaded(started, outcome.retry_after)
            else:
                counted += 1
            wait = self._wait(queue, outcome, attempts, counted, monotonic() - first)
            if wait is None:
                return response_of(queue.model, job, outcome, seconds, attempts, uncounted)
            queue.waited += wait
            if not await queue.throttle.rest(wait):
                break
        if failure is not None:
            queue.record_unfinished(failure)
        return None

    async def _admitted(self, queue: ModelQueue, request: Request) -> int | None:
        """Wait until a request may be sent; return its reservation, or None if it may not."""
        if not await queue.throttle.enter(
            tokens=queue.tokens(request), images=len(request.all_images)
        ):
            return None
        reservation = await self._tracker.take(queue.estimator, request, queue.is_open)
        if reservation is None:
            queue.throttle.leave()
            if self._tracker.used_up:
                self.stop()
        return reservation

    async def _sent(
        self, queue: ModelQueue, request: Request, reservation: int, first: float
    ) -> Answer | AskError:
        try:
            answer = await self._attempt(queue.model, request, first)
        except AskError as error:
            self._tracker.release(reservation, error.kind)
            return error
        finally:
            queue.throttle.leave()
        queue.throttle.succeeded()
        uncounted = queue.estimator.uncounted(request, answer.usage)
        self._tracker.settle(reservation, queue.estimator, answer.usage, uncounted)
        queue.count(request, answer)
        return answer

    async def _attempt(self, model: Model, request: Request, first: float) -> Answer:
        left = self._retry.deadline - (monotonic() - first)
        seconds = max(0.001, min(self._retry.timeout, left))
        try:
            async with asyncio.timeout(seconds):
                return await model.answer(request, self._images(request))
        except TimeoutError:
            raise AskError(
                "timeout", _("no answer within {:.0f} s", seconds), retryable=True
            ) from None
        except (AskError, PrerequisiteError, UsageError):
            raise
        except DataError as error:
            raise AskError("unreadable-image", str(error)) from None
        except Exception as error:  # noqa: BLE001  an engine that breaks on one page must not end the run
            raise AskError("engine", describe_exception(error)[:300]) from None

    def _images(self, request: Request) -> Sequence[bytes]:
        refs = request.all_images
        return LazyImages(self._dataset, refs) if self._dataset and refs else ()

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


def _clock(seconds: float) -> str:
    """The local time in `seconds` seconds, for display."""
    return (datetime.now().astimezone() + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M")


def _first(error: BaseException) -> BaseException:
    """The first error of a group of errors, which may contain groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _sum(usage: Usage) -> int:
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)

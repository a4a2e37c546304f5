"""`Policy`: how a run sends its requests, and `RetryPolicy`, its part about failures."""

from __future__ import annotations

from keju.items import Record
from keju.running.budget import Budget
from keju.running.throttle import RateLimits


class RetryPolicy(Record, frozen=True, kw_only=True):
    """When a request is sent again, and when a model is stopped.

    `attempts` is the maximum number of times that a request is sent; responses with status 429 or
    503 do not count, so that a busy server makes the run slow but does not make it fail. `deadline`
    is the maximum number of seconds from the first attempt to the last, including waits; `timeout`
    the maximum for one attempt. Waits start at `first_wait` seconds and double up to
    `longest_wait`; each is shortened at random by up to half. Where nothing answers at the address
    and the run has no answer of the model, a request is sent at most three times. A model is
    stopped after `dead_after` consecutive requests that failed because of its server, and after
    five failures with the same message before the first success (see `FailureWatch`).
    """

    attempts: int = 6
    deadline: float = 1800.0
    timeout: float = 600.0
    first_wait: float = 0.5
    longest_wait: float = 60.0
    dead_after: int = 10


class Policy(Record, frozen=True, kw_only=True):
    """How a run sends requests.

    `concurrency` is the maximum number of requests in flight to each model; None leaves it to the
    model. `retry_failed` sends again what failed in an earlier session. `drop_changed` drops the
    responses to items that changed or are no longer in the dataset; otherwise they are an error.
    `batch` submits requests to the vendor's batch endpoints and collects the results that are
    ready. `retry` applies to each request of this session, `limits` are the limits per minute of
    each model behind an endpoint, and `budget` those of the whole run.
    """

    concurrency: int | None = None
    retry_failed: bool = False
    drop_changed: bool = False
    batch: bool = False
    retry: RetryPolicy = RetryPolicy()
    limits: RateLimits = RateLimits()
    budget: Budget = Budget()

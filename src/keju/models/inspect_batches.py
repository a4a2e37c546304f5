"""Batches through Inspect, with workarounds for its batcher.

Inspect's batcher runs in this process: it collects requests, submits them, polls them and
distributes the results. Three problems of version 0.3.285 are corrected here:

- a submission that the server rejects ends its worker, and later requests wait for ever: the worker
  is started again;
- a line of OpenAI's results with an error makes the whole batch fail, including answers that were
  paid for: such a line becomes the failure of its own request;
- it prints its progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from keju.errors import UsageError
from keju.models.base import AskError
from keju.models.http_client import Wire
from keju.models.replies import error_in_batch, error_of_status

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig

PROVIDERS = ("anthropic", "google", "grok", "openai", "together")
"""Providers whose batches Inspect supports; it sends requests to others directly, at the full
price."""

OPENAI_FORM = ("openai", "together", "grok")
"""Providers whose batches have the endpoints of the OpenAI API."""

SIZE, MOST = 100, 1000
"""Requests in a batch, and in all batches together: their images stay in memory until the end."""

TICK = 15.0
"""Seconds between two polls, and before a batch that is not full is submitted."""

_NO_ENDPOINT = frozenset({404, 405, 501})
_PROBE_SECONDS = 30.0
_LINES = "_parse_jsonl_line"


class Workers:
    """A replacement of the task group in which Inspect runs its batcher, which restarts it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start_soon(self, work: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """Run it until it finishes, restarting it whenever it fails."""
        task = asyncio.get_running_loop().create_task(_again(work, *arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Cancel running work."""
        for task in self._tasks:
            task.cancel()


async def _again(work: Callable[..., Awaitable[None]], *arguments: object) -> None:
    while True:
        try:
            await work(*arguments)
        except Exception:  # noqa: BLE001  the requests of this batch already have the error
            await asyncio.sleep(TICK)
        else:
            return


def check_provider(name: str, provider: str) -> None:
    """Check that a provider has batches.

    Raises:
        UsageError: Inspect would send its requests directly.
    """
    if provider not in PROVIDERS:
        raise UsageError(
            "--batch: {}: Inspect supports batches of {} only. Remove --batch, or use openai: "
            "for a server with batch endpoints of its own",
            name,
            ", ".join(PROVIDERS),
        )


async def check_endpoints(name: str, address: str, key: str) -> None:
    """Check that a user's own server has batch endpoints; otherwise Inspect would wait for it.

    Args:
        name: the model.
        address: the base URL; empty for the vendor's, which is not checked.
        key: sent as the bearer token, if there is one.

    Raises:
        UsageError: ``GET /batches`` of the OpenAI API does not exist.
    """
    if not address:
        return
    wire = Wire(f"{address}/batches?limit=1", _PROBE_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        status = (await wire.exchange("GET", "", headers=headers)).status
    except AskError:
        return
    finally:
        await wire.close()
    if status in _NO_ENDPOINT:
        raise UsageError(
            "--batch: {}: the server at {} has no batch endpoints (GET /batches: HTTP {}). Run "
            "the same command without --batch; what is stored is kept",
            name,
            address,
            status,
        )


def batch_config() -> GenerateConfig:
    """Configuration that sends requests in batches; Inspect retries submissions and polls twice."""
    from inspect_ai.model import BatchConfig, GenerateConfig  # noqa: PLC0415

    _correct_batcher()
    batch = BatchConfig(size=SIZE, max_size=SIZE, max_batches=MOST, send_delay=TICK, tick=TICK)
    return GenerateConfig(batch=batch, max_retries=2)


def work_in(workers: Workers) -> None:
    """Make Inspect run its batcher in `workers`, in this task's context."""
    from inspect_ai._util.background import set_background_task_group  # noqa: PLC0415

    set_background_task_group(workers)


@cache
def _correct_batcher() -> None:
    from inspect_ai.model._providers import _openai_batch  # noqa: PLC0415
    from inspect_ai.model._providers.util import batch_log  # noqa: PLC0415

    batch_log.set_batch_log_callback(str)  # accepts the messages and prints nothing
    batcher = _openai_batch.OpenAIBatcher
    parse = getattr(batcher, _LINES)

    def parsed(self: object, line: dict[str, Any]) -> tuple[str, object]:
        wrong = _error_of(line)
        return parse(self, line) if wrong is None else (str(line.get("custom_id", "")), wrong)

    setattr(batcher, _LINES, parsed)


def _error_of(line: dict[str, Any]) -> AskError | None:
    """The error in a line of results, or None."""
    reply, error = line.get("response") or {}, line.get("error")
    status = reply.get("status_code", 200) if isinstance(reply, dict) else 0
    if error:
        return error_in_batch(error)
    if status == 200:
        return None
    return error_of_status(status, reply.get("body"), {})

"""`BatchSubmitter` and `BatchWaiter`: the two ways in which a model answers batches of requests.

A submitter's batches are submitted by keju and collected by a later command. A waiter submits them
itself, and its answers arrive while the process waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from keju.items import Request
    from keju.models.base import Answer
    from keju.models.decoding import Parameters
    from keju.models.openai_batches import Batches

MOST_LINES, MOST_BYTES = 50_000, 190_000_000
"""The limits of one file: 50,000 requests, and a little less than 200 MB."""

_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_NOT_PROCESSED = frozenset({"batch_expired", "batch_cancelled"})


class Batch(Struct):
    """A batch as the server describes it."""

    id: str
    status: str = ""
    output_file_id: str | None = None
    error_file_id: str | None = None
    metadata: dict[str, str] | None = None
    errors: Any = None

    @property
    def ended(self) -> bool:
        """Whether it will give no more results."""
        return self.status in _ENDED


class _Reply(Struct):
    status_code: int = 200
    body: msgspec.Raw = msgspec.Raw(b"null")


class Result(Struct):
    """One line of a batch's results: an HTTP reply, or an error instead."""

    custom_id: str
    response: _Reply | None = None
    error: Any = None

    @property
    def unasked(self) -> bool:
        """Whether the batch ended before this request was processed."""
        code = self.error.get("code") if isinstance(self.error, dict) else None
        return self.response is None and str(code) in _NOT_PROCESSED


class BatchSubmitter(Protocol):
    """A model whose requests are written to files that keju submits as batches."""

    @property
    def parameters(self) -> Parameters:
        """The decoding parameters that are sent now."""

    @parameters.setter
    def parameters(self, known: Parameters) -> None: ...

    def batches(self) -> Batches:
        """The batch endpoints of the model's server."""

    async def batch_line(self, name: str, request: Request, images: Sequence[bytes]) -> bytes:
        """A request as a line of a batch's file, with the caller's name for it.

        Raises:
            AskError: an image cannot be read.
        """

    def batch_answer(self, result: Result, sent: Parameters) -> Answer:
        """The answer in a line of a batch's results.

        Raises:
            AskError: it contains none.
        """


class BatchWaiter(Protocol):
    """A model that submits its requests as batches itself and waits for the answers."""

    @property
    def batch_capacity(self) -> int:
        """The maximum number of requests in all batches together."""

    def check_batch_provider(self) -> None:
        """Check that the provider supports batches.

        Raises:
            UsageError: it does not.
        """

    async def check_batches(self) -> None:
        """Check that the server has batch endpoints.

        Raises:
            UsageError: it has none.
        """

    def in_batches(self) -> None:
        """Send all further requests in batches.

        Raises:
            UsageError: the provider does not support batches.
        """

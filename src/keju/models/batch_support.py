"""`BatchSubmitter`: a model whose requests can be submitted as batches and collected later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from keju.items import Request
    from keju.models.base import Answer
    from keju.models.decoding import Parameters

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

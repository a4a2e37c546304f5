"""The batch endpoints of the OpenAI API: upload a file of requests, download a file of replies.

Half the price and up to a day's wait: ``POST /files``, ``POST /batches``, ``GET /batches/ID``,
``GET /files/ID/content``. A line of the file names its request by `custom_id`; replies come in any
order. Each batch has a tag of ours in its metadata, by which a batch is found whose creation was
not confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, TypeVar

import aiohttp
import msgspec
from msgspec import Struct

from keju.items import Request
from keju.models.base import Answer, AskError
from keju.models.http_client import MOST_BYTES, Wire
from keju.models.replies import error_of_object, error_of_status, excerpt, json_value
from keju.texts import _

if TYPE_CHECKING:
    from keju.models.decoding import Parameters
    from keju.models.openai import OpenAICompatible

_TAG = "keju"

_T = TypeVar("_T")
_CUSTOM_ID = re.compile(rb'"custom_id"\s*:\s*"([\w-]+)"')
_PAGE = 100
_PAGES = 20


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
        return self.status in {"completed", "failed", "expired", "cancelled"}


class _Reply(Struct):
    status_code: int = 200
    body: Any = None


class Result(Struct):
    """One line of a batch's results: an HTTP reply, or an error instead."""

    custom_id: str
    response: _Reply | None = None
    error: Any = None

    @property
    def unasked(self) -> bool:
        """Whether the batch ended before this request was processed."""
        code = self.error.get("code") if isinstance(self.error, dict) else None
        return self.response is None and str(code) in {"batch_expired", "batch_cancelled"}


class _File(Struct):
    id: str


class _Listed(Struct):
    data: list[Batch]
    has_more: bool = False


class Batches:
    """The batches of one model at its server.

    Its methods raise `AskError` where the server does not do what they ask, and `line` where an
    image cannot be read.

    Args:
        model: the model.
        wire: the connections to its server.
        read: reads a reply to a request with some parameters.
    """

    def __init__(
        self, model: OpenAICompatible, wire: Wire, read: Callable[[bytes, Parameters], Answer]
    ) -> None:
        self.model, self._wire, self._read = model, wire, read

    async def line(self, name: str, request: Request, images: Sequence[bytes]) -> bytes:
        """A request as a line of a batch's file, with the caller's name for it."""
        body = await self.model.body(request, images)
        about = msgspec.json.encode(
            {"custom_id": name, "method": "POST", "url": "/v1/chat/completions"}
        )
        return b"".join((about[:-1], b',"body":', *body, b"}\n"))

    def answer(self, result: Result, sent: Parameters) -> Answer:
        """The answer in a line of a batch's results.

        Args:
            result: the line.
            sent: the parameters with which the batch was submitted.
        """
        reply = result.response
        if reply is None or reply.body is None:
            failure = error_of_object(result.error or "the batch gave no reply")
            if failure.kind == "bad-response":
                failure = AskError("server", excerpt(failure.server_message))
            raise failure
        if not 200 <= reply.status_code < 300:
            raise error_of_status(reply.status_code, reply.body, {})
        return self._read(msgspec.json.encode(reply.body), sent)

    async def submit(self, file: Path, tag: str) -> Batch:
        """Upload a file of requests and start a batch."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        with file.open("rb") as stream:
            form.add_field(
                "file", stream, filename=f"{tag}.jsonl", content_type="application/jsonl"
            )
            stored = await self._ask("POST", "/files", _File, form)
        fields = {
            "input_file_id": stored.id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_TAG: tag},
        }
        return await self._ask("POST", "/batches", Batch, [msgspec.json.encode(fields)])

    async def look(self, name: str) -> Batch:
        """The state of a batch."""
        return await self._ask("GET", f"/batches/{name}", Batch)

    async def tagged(self, tag: str) -> Batch | None:
        """The batch with a tag of ours, searched among the last 2,000."""
        after = ""
        for __ in range(_PAGES):
            page = await self._ask("GET", f"/batches?limit={_PAGE}{after}", _Listed)
            for batch in page.data:
                if batch.metadata and batch.metadata.get(_TAG) == tag:
                    return batch
            if not page.has_more or not page.data:
                return None
            after = f"&after={page.data[-1].id}"
        return None

    async def results(self, batch: Batch, folder: Path) -> BatchResults:
        """All lines of a batch's results, replies and errors, in a temporary file.

        Args:
            batch: one that has ended.
            folder: where the file is.
        """
        file = TemporaryFile(dir=folder)  # noqa: SIM115 - see `BatchResults.close`
        for name in filter(None, (batch.output_file_id, batch.error_file_id)):
            await self._wire.send("GET", f"/files/{name}/content", store=file.write)
            file.write(b"\n")
        return BatchResults(file, batch, self._wire.secrets.hide_bytes)

    async def _ask(
        self,
        method: str,
        path: str,
        shape: type[_T],
        data: list[bytes] | aiohttp.FormData | None = None,
    ) -> _T:
        reply = await self._wire.send(method, path, data)
        try:
            return msgspec.convert(json_value(reply), shape)
        except ValueError as error:
            problem = _("the reply to {} {}: {}", method, path, error)
            raise AskError("bad-response", problem) from None


class BatchResults:
    """The lines of a batch's results in a temporary file, found by the name of their request.

    Results have gigabytes, so only the place of each line is in memory.

    Args:
        file: the lines; `close` removes it.
        batch: the batch.
        hide: returns a line without keys.

    Raises:
        AskError: a line names no request.
    """

    def __init__(
        self, file: IO[bytes], batch: Batch, hide: Callable[[bytes], bytes] = bytes
    ) -> None:
        self._file, self._batch, self._hide = file, batch, hide
        self._places: dict[str, int] = {}
        place = file.seek(0)
        while line := file.readline(MOST_BYTES):
            if line.strip():
                self._places[result_in(hide(line), batch).custom_id] = place
            place += len(line)

    def __iter__(self) -> Iterator[str]:
        """The names of the requests that have a line."""
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, name: str) -> Result:
        """The line of a request; the last of several."""
        self._file.seek(self._places[name])
        return result_in(self._hide(self._file.readline(MOST_BYTES)), self._batch)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


def result_in(line: bytes, batch: Batch) -> Result:
    """A line of results; a damaged one is a failure of the request that it names.

    Raises:
        AskError: it names no request.
    """
    try:
        return msgspec.convert(json_value(line), Result)
    except ValueError as error:
        problem = _("a result of batch {}: {}", batch.id, error)
    if name := _CUSTOM_ID.search(line):
        return Result(custom_id=name[1].decode(), error={"message": str(problem)})
    raise AskError("bad-response", problem)

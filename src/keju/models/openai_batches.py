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
from typing import TYPE_CHECKING, Any, TypeVar

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

_T = TypeVar("_T")
_TAG = "keju"
_CUSTOM_ID = re.compile(rb'"custom_id"\s*:\s*"([\w-]+)"')
_PAGES = 20  # of 100 batches each
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
        return self.status in {"completed", "failed", "expired", "cancelled"}


class _File(Struct):
    id: str


class _Listed(Struct):
    data: list[Batch]
    has_more: bool = False


class _Reply(Struct):
    status_code: int = 200
    body: Any = None


class _Result(Struct):
    custom_id: str
    response: _Reply | None = None
    error: Any = None


class Batches:
    """The batches of one model at its server, which `read` reads a reply of.

    Its methods raise `AskError` where the server does not do what they ask, and `line` where an
    image cannot be read.
    """

    def __init__(
        self, model: OpenAICompatible, wire: Wire, read: Callable[[bytes, Parameters], Answer]
    ) -> None:
        self.model, self.wire, self.read = model, wire, read

    async def line(self, name: str, request: Request, images: Sequence[bytes]) -> bytes:
        """A request as a line of a batch's file, with the caller's name for it."""
        body = await self.model.body(request, images)
        about = {"custom_id": name, "method": "POST", "url": "/v1/chat/completions"}
        return b"".join((msgspec.json.encode(about)[:-1], b',"body":', *body, b"}\n"))

    async def submit(self, file: Path, tag: str) -> Batch:
        """Upload a file of requests and start a batch."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        with file.open("rb") as stream:
            name, kind = f"{tag}.jsonl", "application/jsonl"
            form.add_field("file", stream, filename=name, content_type=kind)
            stored = await self._ask("POST", "/files", _File, form)
        fields = {
            "input_file_id": stored.id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_TAG: tag},
        }
        return await self._ask("POST", "/batches", Batch, [msgspec.json.encode(fields)])

    async def poll(self, tag: str, name: str = "") -> Batch | None:
        """The batch of that name, or else with that tag of ours, among the last 2,000."""
        if name:
            return await self._ask("GET", f"/batches/{name}", Batch)
        after = ""
        for __ in range(_PAGES):
            page = await self._ask("GET", f"/batches?limit=100{after}", _Listed)
            for batch in page.data:
                if batch.metadata and batch.metadata.get(_TAG) == tag:
                    return batch
            if not page.has_more or not page.data:
                break
            after = f"&after={page.data[-1].id}"
        return None

    async def results(self, batch: Batch, parameters: Parameters, folder: Path) -> BatchResults:
        """The results of a batch that has ended and was submitted with those parameters.

        Args:
            batch: the batch.
            parameters: these parameters.
            folder: where they are stored in a temporary file, replies and errors.
        """
        results = BatchResults(self, batch, parameters, folder)
        for name in filter(None, (batch.output_file_id, batch.error_file_id)):
            await self.wire.send("GET", f"/files/{name}/content", store=results.file.write)
            results.file.write(b"\n")
        results.find_places()
        return results

    async def _ask(
        self,
        method: str,
        path: str,
        shape: type[_T],
        data: list[bytes] | aiohttp.FormData | None = None,
    ) -> _T:
        reply = await self.wire.send(method, path, data)
        try:
            return msgspec.convert(json_value(reply), shape)
        except ValueError as error:
            problem = _("the reply to {} {}: {}", method, path, error)
            raise AskError("bad-response", problem) from None


class BatchResults:
    """The results of a batch in a temporary file, by the names of their requests.

    Results have gigabytes, so only the place of each line is in memory. `close` removes the file.
    """

    def __init__(
        self, batches: Batches, batch: Batch, parameters: Parameters, folder: Path
    ) -> None:
        self.file = TemporaryFile(dir=folder)  # noqa: SIM115 - see `close`
        self._batches, self._batch, self._parameters = batches, batch, parameters
        self._places: dict[str, int] = {}

    def find_places(self) -> None:
        """Find the lines; the last of several of a request counts.

        Raises:
            AskError: a line names no request.
        """
        place = self.file.seek(0)
        while line := self.file.readline(MOST_BYTES):
            if line.strip():
                self._places[self._parsed(line).custom_id] = place
            place += len(line)

    def __iter__(self) -> Iterator[str]:
        """The names of the requests that have a result."""
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, name: str) -> Answer | AskError | None:
        """The answer to a request, or its failure; None if the batch ended before it."""
        self.file.seek(self._places[name])
        result = self._parsed(self.file.readline(MOST_BYTES))
        reply, error = result.response, result.error
        if reply is None and isinstance(error, dict) and str(error.get("code")) in _NOT_PROCESSED:
            return None
        if reply is None or reply.body is None:
            failure = error_of_object(error or "the batch gave no reply")
            if failure.kind == "bad-response":
                failure = AskError("server", excerpt(failure.server_message))
            return failure
        if not 200 <= reply.status_code < 300:
            return error_of_status(reply.status_code, reply.body, {})
        try:
            return self._batches.read(msgspec.json.encode(reply.body), self._parameters)
        except AskError as failure:
            return failure

    def _parsed(self, line: bytes) -> _Result:
        """A line, without keys; a damaged one is a failure of the request that it names."""
        line = self._batches.wire.secrets.hide_bytes(line)
        try:
            return msgspec.convert(json_value(line), _Result)
        except ValueError as error:
            problem = _("a result of batch {}: {}", self._batch.id, error)
        if name := _CUSTOM_ID.search(line):
            return _Result(custom_id=name[1].decode(), error={"message": str(problem)})
        raise AskError("bad-response", problem)

    def close(self) -> None:
        """Remove the file."""
        self.file.close()

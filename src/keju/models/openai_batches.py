"""The batch endpoints of the OpenAI API: upload a file of requests, download a file of replies.

Half the price and up to a day's wait: ``POST /files``, ``POST /batches``, ``GET /batches/ID``,
``GET /files/ID/content``. A line of the file names its request by `custom_id`; replies come in any
order. Each batch has a tag of ours in its metadata, by which a batch is found whose creation was
not confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeVar

import aiohttp
import msgspec
from msgspec import Struct

from keju.errors import DataError
from keju.models.base import AskError
from keju.models.batch_support import Batch, BatchSubmitter, Result
from keju.models.http_client import MOST_BYTES, Form, Wire
from keju.models.replies import as_utf8, body_of, json_value
from keju.models.secrets import Secrets
from keju.texts import _

TAG = "keju"
MOST_RESULTS = 4 << 30
"""The maximum size in bytes of a batch's results."""

_T = TypeVar("_T")
_CUSTOM_ID = re.compile(rb'"custom_id"\s*:\s*"([\w-]+)"')
_PAGE = 100
_PAGES = 20


class _File(Struct):
    id: str


class _Listed(Struct):
    data: list[Batch]
    has_more: bool = False


class Batches:
    """The batch endpoints of one server.

    Args:
        model: the model whose requests are submitted.
        endpoint: its base URL.
        headers: the headers of every request, including the key.
        timeout: seconds for one exchange; a file may take as long.
        secrets: removed from the server's messages.
    """

    def __init__(
        self,
        model: BatchSubmitter,
        endpoint: str,
        headers: Mapping[str, str],
        timeout: float,
        secrets: Secrets,
    ) -> None:
        self.model = model
        self._wire = Wire(endpoint, timeout)
        self._headers = {k: v for k, v in headers.items() if k.lower() != "content-type"}
        self._secrets = secrets

    async def submit(self, file: Path, tag: str) -> Batch:
        """Upload a file of requests and start a batch.

        Raises:
            AskError: the server rejects it.
        """
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
            "metadata": {TAG: tag},
        }
        return await self._ask("POST", "/batches", Batch, msgspec.json.encode(fields))

    async def look(self, name: str) -> Batch:
        """The state of a batch.

        Raises:
            AskError: the server does not report it.
        """
        return await self._ask("GET", f"/batches/{name}", Batch)

    async def tagged(self, tag: str) -> Batch | None:
        """The batch with a tag of ours, searched among the last 2,000.

        Raises:
            AskError: the server does not list them.
        """
        after = ""
        for __ in range(_PAGES):
            page = await self._ask("GET", f"/batches?limit={_PAGE}{after}", _Listed)
            for batch in page.data:
                if batch.metadata and batch.metadata.get(TAG) == tag:
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

        Raises:
            AskError: a file cannot be downloaded, or does not have that form.
            DataError: the lines cannot be stored.
        """
        results = BatchResults(batch, folder)
        for name in filter(None, (batch.output_file_id, batch.error_file_id)):
            await self._exchange("GET", f"/files/{name}/content", store=results.append)
            results.append(b"\n")
        results.find()
        return results

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    async def _ask(self, method: str, path: str, shape: type[_T], data: Form | None = None) -> _T:
        body = await self._exchange(method, path, data)
        try:
            return msgspec.convert(json_value(body), shape)
        except ValueError as error:
            raise AskError(
                "bad-response", _("the reply to {} {}: {}", method, path, error)
            ) from None

    async def _exchange(
        self,
        method: str,
        path: str,
        data: Form | None = None,
        store: Callable[[bytes], None] | None = None,
    ) -> bytes:
        headers = self._headers
        if isinstance(data, bytes):
            headers = {**headers, "Content-Type": "application/json"}
        try:
            reply = await self._wire.exchange(method, path, headers=headers, data=data, store=store)
        except AskError as error:
            raise self._failure(error) from None
        try:
            return body_of(reply.status, reply.body, reply.headers, self._secrets)
        except AskError as error:
            raise self._failure(error, f"{method} {path.partition('?')[0]}: ") from None

    def _failure(self, error: AskError, place: str = "") -> AskError:
        """The failure, which the run does not retry, with the place and without keys."""
        failure = self._wire.through_proxy(error)
        return AskError(failure.kind, self._secrets.hide(f"{place}{failure}"))


class BatchResults:
    """The lines of a batch's results in a temporary file, found by the name of their request.

    Results have gigabytes, so only the place of each line is in memory.

    Args:
        batch: the batch.
        folder: where the file is.
    """

    def __init__(self, batch: Batch, folder: Path) -> None:
        self._batch = batch
        self._file: IO[bytes] = TemporaryFile(dir=folder)  # noqa: SIM115 - see `close`
        self._size = 0
        self._places: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        """The names of the requests that have a line."""
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, name: str) -> Result:
        """The line of a request; the last of several."""
        self._file.seek(self._places[name])
        return result_in(self._file.readline(MOST_BYTES), self._batch)

    def append(self, part: bytes) -> None:
        """Store a part of the results as it comes.

        Raises:
            AskError: the results are longer than `MOST_RESULTS`.
            DataError: it cannot be stored.
        """
        self._size += len(part)
        if self._size > MOST_RESULTS:
            raise AskError(
                "bad-response", _("the results are longer than {} GB", MOST_RESULTS >> 30)
            )
        try:
            self._file.write(part)
        except OSError as error:
            raise DataError(
                "the results of batch {} cannot be stored: {}", self._batch.id, error.strerror
            ) from None

    def find(self) -> None:
        """Find the place of every line.

        Raises:
            AskError: a line names no request.
        """
        place = self._file.seek(0)
        while line := self._file.readline(MOST_BYTES):
            if line.strip():
                self._places[result_in(line, self._batch).custom_id] = place
            place += len(line)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


def result_in(line: bytes, batch: Batch) -> Result:
    """A line of results; a damaged one is a failure of the request that it names.

    Raises:
        AskError: it names no request.
    """
    try:
        return msgspec.json.decode(line, type=Result)
    except (ValueError, RecursionError):
        pass
    line = as_utf8(line)
    try:
        repaired = msgspec.json.encode(json_value(line))
        return msgspec.json.decode(repaired, type=Result)
    except (AskError, ValueError) as error:
        problem = _("a result of batch {}: {}", batch.id, error)
    if name := _CUSTOM_ID.search(line):
        return Result(custom_id=name[1].decode(), error={"message": str(problem)})
    raise AskError("bad-response", problem)
